package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// fileLog is a File without its entry type. The holder of the token in writer writes; readers access only what was published
// under the mutex, and bytes that no longer change.
type fileLog struct {
	config   FileConfig
	lock     *fileLock
	recovery Recovery

	writer chan struct{} // holds the token during writes, rotations, trims and Close
	size   int64         // of the active segment; owned by the writer

	mu       sync.Mutex
	queue    []*pending    // appends waiting for a writer
	active   *os.File      // replaced by the writer
	segments []segment     // replaced, never changed in place; the last one is active
	head     Position      // the last published record
	end      int64         // of the published part of the active segment
	failed   error         // why appending is no longer possible
	closed   bool          // every call returns ErrClosed
	grown    chan struct{} // closed on the next publication, trim or Close

	dirty  chan struct{} // signals that there is something to sync, for SyncInterval
	quit   chan struct{}
	syncer sync.WaitGroup
}

// fileView is a snapshot of what can be read.
type fileView struct {
	segments []segment
	head     Position
	end      int64
	grown    <-chan struct{}
}

func openFileLog(config FileConfig) (*fileLog, error) {
	if err := makeDir(config); err != nil {
		return nil, err
	}

	lock, err := lockDir(config.Dir)
	if err != nil {
		return nil, err
	}

	log := &fileLog{
		config: config, lock: lock, writer: make(chan struct{}, 1), grown: make(chan struct{}),
		dirty: make(chan struct{}, 1), quit: make(chan struct{}),
	}

	if err := log.load(); err != nil {
		if log.active != nil {
			_ = log.active.Close()
		}

		return nil, errors.Join(err, lock.release())
	}

	if config.Sync == SyncInterval {
		log.syncer.Go(log.syncDirty)
	}

	return log, nil
}

// makeDir creates the directory durably.
func makeDir(config FileConfig) error {
	if _, err := os.Stat(config.Dir); err == nil {
		return nil
	}

	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return err
	}

	return syncDir(filepath.Dir(filepath.Clean(config.Dir)), config.fsync)
}

// load reads the state of the journal from the directory.
func (l *fileLog) load() error {
	segments, err := listSegments(l.config.Dir)
	if err != nil {
		return err
	}

	if len(segments) == 0 {
		first := newSegment(l.config.Dir, 1)
		l.active, err = l.create(first)
		l.segments = []segment{first}

		return err
	}

	for i, s := range segments[:len(segments)-1] {
		if err := s.checkFull(segments[i+1].first); err != nil {
			return err
		}
	}

	l.segments = segments

	if err := l.recover(segments[len(segments)-1]); err != nil {
		return err
	}

	l.prune()

	return nil
}

// recover opens the last segment for writing and cuts off an incomplete end.
func (l *fileLog) recover(last segment) error {
	var err error
	if l.active, err = os.OpenFile(last.path, os.O_RDWR, 0); err != nil {
		return err
	}

	found, err := last.scan(l.active)
	if err != nil {
		return err
	}

	l.head, l.size, l.end = found.last, found.size, found.size

	if found.total == found.size {
		return nil
	}

	if err := l.active.Truncate(found.size); err != nil {
		return fmt.Errorf("cut off the incomplete end of %s: %w", last.path, err)
	}

	if err := l.config.fsync(l.active); err != nil {
		return err
	}

	l.recovery = Recovery{Path: last.path, Bytes: found.total - found.size, Lines: found.lines}
	l.config.Logger.Warn("cut off the incomplete end of a journal", "path", last.path,
		"bytes", l.recovery.Bytes, "lines", l.recovery.Lines, "last_record", int64(found.last))

	return nil
}

// create creates a new segment durably.
func (l *fileLog) create(s segment) (*os.File, error) {
	file, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}

	if err := syncDir(l.config.Dir, l.config.fsync); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(s.path))
	}

	return file, nil
}

// prune deletes the segments beyond the limit. Only the writer calls it.
func (l *fileLog) prune() {
	if excess := len(l.segments) - l.config.KeepSegments; l.config.KeepSegments > 0 && excess > 0 {
		l.drop(excess)
	}
}

// drop hides the n oldest segments from readers and deletes them, oldest first, so that the remaining ones have no gap whatever
// happens. A segment that cannot be deleted reappears when the journal is opened again.
func (l *fileLog) drop(n int) {
	l.mu.Lock()
	gone := l.segments[:n]
	l.segments = slices.Clone(l.segments[n:])
	l.wake()
	l.mu.Unlock()

	for _, s := range gone {
		if err := os.Remove(s.path); err != nil {
			l.config.Logger.Warn("could not delete an old segment of a journal", "path", s.path, "error", err)

			return
		}
	}
}

// view returns what can be read now.
func (l *fileLog) view() (fileView, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.closed {
		return fileView{}, ErrClosed
	}

	return fileView{segments: l.segments, head: l.head, end: l.end, grown: l.grown}, nil
}

// wake wakes waiting tails. The caller holds the mutex.
func (l *fileLog) wake() {
	close(l.grown)
	l.grown = make(chan struct{})
}

func (l *fileLog) close() error {
	l.writer <- struct{}{}
	defer func() { <-l.writer }()

	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()

		return nil
	}

	l.closed = true
	waiting := l.queue
	l.queue = nil
	failed := l.failed
	l.wake()
	l.mu.Unlock()

	for _, p := range waiting {
		p.finish(0, ErrClosed)
	}

	close(l.quit)
	l.syncer.Wait()

	var err error
	if failed == nil {
		err = l.config.fsync(l.active)
	}

	if err = errors.Join(err, l.active.Close(), l.lock.release()); err != nil {
		return fmt.Errorf("close the journal in %s: %w", l.config.Dir, err)
	}

	return nil
}
