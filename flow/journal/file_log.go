package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
)

// fileLog is a File without its type of entries. Whoever holds the token in writer writes; readers only look at what was
// published under the mutex, and at bytes that do not change any more.
type fileLog struct {
	config   FileConfig
	lock     *fileLock
	recovery Recovery

	writer chan struct{} // holds the token while somebody writes, rotates, trims or closes
	size   int64         // of the active segment; belongs to the writer

	mu       sync.Mutex
	queue    []*pending    // appends that wait for a writer
	active   *os.File      // replaced by the writer
	segments []segment     // replaced, never changed in place; the last one is active
	head     Position      // the last record that is published
	end      int64         // of what is published in the active segment
	failed   error         // why nothing can be appended any more
	closed   bool          // ErrClosed for everybody
	grown    chan struct{} // closed by the next publication, trim or Close

	dirty  chan struct{} // there is something to sync, for SyncInterval
	quit   chan struct{}
	syncer sync.WaitGroup
}

// fileView is what a reader may read.
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

// makeDir creates the directory and makes that durable.
func makeDir(config FileConfig) error {
	if _, err := os.Stat(config.Dir); err == nil {
		return nil
	}

	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return err
	}

	return syncDir(filepath.Dir(filepath.Clean(config.Dir)), config.fsync)
}

// load finds out what the directory holds.
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

// recover opens the last segment for writing and cuts off what was not finished.
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

// create makes a new segment, durably.
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

// prune deletes the segments beyond the limit. The writer calls it.
func (l *fileLog) prune() {
	if excess := len(l.segments) - l.config.KeepSegments; l.config.KeepSegments > 0 && excess > 0 {
		l.drop(excess)
	}
}

// drop takes the n oldest segments out of the readers' sight and deletes them, the oldest first: whatever happens, those
// that are left have no gap. One that cannot be deleted comes back with the next open.
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

// wake rouses the tails that wait. The caller holds the mutex.
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
