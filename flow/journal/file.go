package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"time"

	"github.com/jonboulle/clockwork"
)

// ErrClosed is returned by every call on a closed journal.
var ErrClosed = errors.New("the journal is closed")

// Sync is the policy for forcing appended records to disk.
type Sync int

// The sync policies; SyncInterval is the default. Records survive the death of the process under all three; the policies differ
// in what a crash of the machine can lose.
const (
	// SyncInterval forces records to disk within FileConfig.SyncEvery of their append.
	SyncInterval Sync = iota
	// SyncAlways forces them to disk before Append returns and before any reader sees them. Appends that wait at the same time
	// share one write and one fsync.
	SyncAlways
	// SyncNever leaves this to the operating system, except at the end of a segment and in Close.
	SyncNever
)

// Defaults of FileConfig.
const (
	DefaultSyncEvery    = 100 * time.Millisecond
	DefaultSegmentBytes = 64 << 20
)

// FileConfig defines where and how a journal is stored. Only Dir is required.
type FileConfig struct {
	// Dir is the directory of the journal, which must not be used for anything else. It is created if it does not exist.
	Dir string
	// Sync is when records are forced to disk.
	Sync Sync
	// SyncEvery is the interval of SyncInterval. The default is 100 ms.
	SyncEvery time.Duration
	// SegmentBytes is the size at which a segment is full: the next batch begins a new one. The default is 64 MiB.
	SegmentBytes int64
	// KeepSegments is how many segments are kept, including the active one. Older ones are deleted, which trims their records.
	// Zero keeps all.
	KeepSegments int
	// Clock provides the timestamps of records and paces SyncInterval. The default is the real clock.
	Clock clockwork.Clock
	// Logger gets a warning when the end of the journal was cut off, or an old segment could not be deleted. The default
	// discards them.
	Logger *slog.Logger

	fsync func(*os.File) error // replaced by tests that count or fail it
}

func (c FileConfig) withDefaults() (FileConfig, error) {
	switch {
	case c.Dir == "":
		return c, errors.New("a journal in files needs a directory")
	case c.Sync < SyncInterval || c.Sync > SyncNever:
		return c, fmt.Errorf("unknown sync policy %d", c.Sync)
	case c.SyncEvery < 0 || c.SegmentBytes < 0 || c.KeepSegments < 0:
		return c, errors.New("the sync interval, the segment size and the number of kept segments must not be negative")
	}

	if c.SyncEvery == 0 {
		c.SyncEvery = DefaultSyncEvery
	}

	if c.SegmentBytes == 0 {
		c.SegmentBytes = DefaultSegmentBytes
	}

	if c.Clock == nil {
		c.Clock = clockwork.NewRealClock()
	}

	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}

	if c.fsync == nil {
		c.fsync = (*os.File).Sync
	}

	return c, nil
}

// Recovery describes what was cut off the end of a journal when it was opened: a batch that the previous process had not
// written completely, and so had not acknowledged.
type Recovery struct {
	Path  string // the file, empty if nothing was cut off
	Bytes int64
	Lines int // the last one may be incomplete
}

// File is a Journal in a directory of NDJSON files, one record per line. Only one process can have it open, and its readers are
// in that process; other programs can read the files, in which the last batch may be incomplete.
type File[E any] struct{ log *fileLog }

// OpenFile opens the journal in a directory, or creates it. It locks the directory, cuts off an incomplete batch at the end
// (see Recovery), and reports any other damage it finds as a *CorruptError.
func OpenFile[E any](config FileConfig) (*File[E], error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}

	log, err := openFileLog(config)
	if err != nil {
		return nil, fmt.Errorf("open the journal in %s: %w", config.Dir, err)
	}

	return &File[E]{log: log}, nil
}

// Append implements Journal. If it returns an error, nothing was appended; after a full disk it can be retried. After a failed
// fsync the state of the disk is unknown, and all later appends fail until the journal is reopened.
func (f *File[E]) Append(ctx context.Context, entries ...E) (Position, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}

	encoded := make([]json.RawMessage, len(entries))

	for i, entry := range entries {
		raw, err := json.Marshal(entry)
		if err != nil {
			return 0, fmt.Errorf("encode a journal entry: %w", err)
		}

		encoded[i] = raw
	}

	return f.log.append(ctx, encoded)
}

// Tail implements Reader. Close ends it with ErrClosed.
func (f *File[E]) Tail(ctx context.Context, after Position) iter.Seq2[Record[E], error] {
	return decoded[E](f.log.tail(ctx, after))
}

// Backward implements Reader.
func (f *File[E]) Backward(ctx context.Context, before Position) iter.Seq2[Record[E], error] {
	return decoded[E](f.log.backward(ctx, before))
}

// Head implements Reader.
func (f *File[E]) Head(ctx context.Context) (Position, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}

	view, err := f.log.view()

	return view.head, err
}

// Trim deletes the segments whose records are all at or before the position. Records that share a segment with later ones
// remain, so trimming through the head drops everything, and any other position drops only about as much as requested.
func (f *File[E]) Trim(ctx context.Context, through Position) error { return f.log.trim(ctx, through) }

// Recovery returns what was cut off when the journal was opened.
func (f *File[E]) Recovery() Recovery { return f.log.recovery }

// Close forces everything to disk, ends all tails and unlocks the directory. Further calls do nothing.
func (f *File[E]) Close() error { return f.log.close() }

// decoded converts lines to records.
func decoded[E any](lines iter.Seq2[line, error]) iter.Seq2[Record[E], error] {
	return func(yield func(Record[E], error) bool) {
		for l, err := range lines {
			record := Record[E]{Position: l.Seq, At: l.At}
			if err == nil {
				if err = json.Unmarshal(l.Entry, &record.Entry); err != nil {
					err = fmt.Errorf("decode journal record %d: %w", l.Seq, err)
				}
			}

			if err != nil {
				yield(Record[E]{}, err)

				return
			}

			if !yield(record, nil) {
				return
			}
		}
	}
}
