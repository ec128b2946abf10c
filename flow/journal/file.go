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

// ErrClosed is the error of every call on a journal that was closed.
var ErrClosed = errors.New("the journal is closed")

// Sync says when appended records are forced to disk.
type Sync int

// SyncInterval is the default. All three survive the death of the process; they differ in what a crash of the machine costs.
const (
	// SyncInterval forces records to disk within FileConfig.SyncEvery of their append.
	SyncInterval Sync = iota
	// SyncAlways forces them to disk before Append returns and before any reader sees them. Appends that wait at the same
	// time share one write and one fsync.
	SyncAlways
	// SyncNever leaves it to the operating system, except at the end of a segment and in Close.
	SyncNever
)

// Defaults of FileConfig.
const (
	DefaultSyncEvery    = 100 * time.Millisecond
	DefaultSegmentBytes = 64 << 20
)

// FileConfig says where a journal's files are and how they are kept. Only Dir must be set.
type FileConfig struct {
	// Dir is the directory of the journal, which nothing else may use. It is created if it does not exist.
	Dir string
	// Sync says when records are forced to disk.
	Sync Sync
	// SyncEvery is the interval of SyncInterval. The default is 100 ms.
	SyncEvery time.Duration
	// SegmentBytes is the size from which a segment is not appended to any more: the next batch begins a new one. The
	// default is 64 MiB.
	SegmentBytes int64
	// KeepSegments is how many segments are kept, the one that is written included. Older ones are deleted, and their
	// records are trimmed. Zero keeps all.
	KeepSegments int
	// Clock stamps the records and paces SyncInterval. The default is the real one.
	Clock clockwork.Clock
	// Logger gets a warning when the end of the journal was cut off, or an old segment could not be deleted. The
	// default discards them.
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

// Recovery is what was cut off the end of a journal when it was opened: a batch that the previous process had not
// written completely, and so had not acknowledged.
type Recovery struct {
	Path  string // the file, empty if nothing was cut off
	Bytes int64
	Lines int // the last one may be incomplete
}

// File is a Journal in a directory of NDJSON files, one record a line. One process has it open at a time, and its readers
// are in that process; other programs may read the files, in which the last batch can be incomplete.
type File[E any] struct{ log *fileLog }

// OpenFile opens the journal in a directory, or begins one. It takes the directory's lock, cuts off an incomplete batch at
// the end (see Recovery), and reports any other damage it finds as a *CorruptError.
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

// Append implements Journal. If it returns an error, nothing was appended; after a full disk it can be tried again. After
// a failed fsync the state of the disk is unknown, and all later appends fail until the journal is opened again.
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
// stay, so trimming through the head drops everything and any other position drops about as much as was asked for.
func (f *File[E]) Trim(ctx context.Context, through Position) error { return f.log.trim(ctx, through) }

// Recovery returns what was cut off when the journal was opened.
func (f *File[E]) Recovery() Recovery { return f.log.recovery }

// Close forces everything to disk, ends all tails and gives the directory free. Further calls do nothing.
func (f *File[E]) Close() error { return f.log.close() }

// decoded turns lines into records.
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
