package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
)

// pending is a queued append and, once done is closed, its result.
type pending struct {
	entries  []json.RawMessage
	position Position
	err      error
	done     chan struct{}
}

func (p *pending) finish(position Position, err error) {
	p.position, p.err = position, err
	close(p.done)
}

// append queues the entries. The first waiting caller that gets the writer's token writes for all of them, so that under load
// many batches share one write and one fsync.
func (l *fileLog) append(ctx context.Context, entries []json.RawMessage) (Position, error) {
	p := &pending{entries: entries, done: make(chan struct{})}

	if head, err := l.enqueue(p); err != nil || len(entries) == 0 {
		return head, err
	}

	select {
	case <-p.done:
	case l.writer <- struct{}{}:
		l.flush()
		<-l.writer
	case <-ctx.Done():
		if l.withdraw(p) {
			return 0, context.Cause(ctx)
		}
	}

	<-p.done // a writer has taken it, so wait for the result

	return p.position, p.err
}

func (l *fileLog) enqueue(p *pending) (Position, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	switch {
	case l.closed:
		return 0, ErrClosed
	case l.failed != nil:
		return 0, l.failed
	case len(p.entries) > 0:
		l.queue = append(l.queue, p)
	}

	return l.head, nil
}

// withdraw removes an append from the queue and reports false if a writer has already taken it.
func (l *fileLog) withdraw(p *pending) bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	i := slices.Index(l.queue, p)
	if i >= 0 {
		l.queue = slices.Delete(l.queue, i, i+1)
	}

	return i >= 0
}

// flush writes everything in the queue. The caller holds the token.
func (l *fileLog) flush() {
	l.mu.Lock()
	group, head, err := l.queue, l.head, l.failed
	l.queue = nil
	l.mu.Unlock()

	if len(group) == 0 {
		return
	}

	last := head
	if err == nil {
		last, err = l.write(group, head)
	}

	if err == nil {
		l.mu.Lock()
		l.head, l.end = last, l.size
		l.wake()
		l.mu.Unlock()
	}

	for _, p := range group {
		if err != nil {
			p.finish(0, err)

			continue
		}

		head += Position(len(p.entries))
		p.finish(head, nil)
	}
}

// write writes the batches to the active segment, numbered from after head. If it fails, the segment is unchanged.
func (l *fileLog) write(group []*pending, head Position) (Position, error) {
	if l.size >= l.config.SegmentBytes {
		if err := l.rotate(head + 1); err != nil {
			return 0, err
		}

		l.prune()
	}

	var (
		buf []byte
		err error
	)

	for _, p := range group {
		if buf, err = encodeLines(buf, head+1, l.config.Clock.Now(), p.entries); err != nil {
			return 0, err
		}

		head += Position(len(p.entries))
	}

	if _, err := l.active.WriteAt(buf, l.size); err != nil {
		return 0, l.undo(fmt.Errorf("write to the journal: %w", err))
	}

	switch l.config.Sync {
	case SyncAlways:
		if err := l.config.fsync(l.active); err != nil {
			return 0, l.fail(l.undo(fmt.Errorf("sync the journal to disk: %w", err)))
		}
	case SyncInterval:
		select {
		case l.dirty <- struct{}{}:
		default:
		}
	case SyncNever:
	}

	l.size += int64(len(buf))

	return head, nil
}

// undo removes what a failed write left behind, so that later records do not follow a partial line.
func (l *fileLog) undo(cause error) error {
	if err := l.active.Truncate(l.size); err != nil {
		return l.fail(errors.Join(cause, fmt.Errorf("remove what was written: %w", err)))
	}

	return cause
}

// fail ends all appending: after a failed fsync the kernel may have dropped what it could not write.
func (l *fileLog) fail(cause error) error {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.failed == nil {
		l.failed = fmt.Errorf("the journal must be opened again after an error: %w", cause)
	}

	return cause
}

// rotate closes the active segment and begins a new one at the given record. The old one is forced to disk first under every
// policy: only the last segment may be incomplete.
func (l *fileLog) rotate(first Position) error {
	if err := l.config.fsync(l.active); err != nil {
		return l.fail(fmt.Errorf("force a full segment to disk: %w", err))
	}

	next := newSegment(l.config.Dir, first)

	file, err := l.create(next)
	if err != nil {
		return fmt.Errorf("begin a new segment: %w", err)
	}

	old := l.active
	l.size = 0

	l.mu.Lock()
	l.active, l.end = file, 0
	l.segments = append(slices.Clone(l.segments), next)
	l.mu.Unlock()

	if err := old.Close(); err != nil {
		l.config.Logger.Warn("could not close a full segment of a journal", "path", old.Name(), "error", err)
	}

	return nil
}

func (l *fileLog) trim(ctx context.Context, through Position) error {
	select {
	case l.writer <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { <-l.writer }()

	view, err := l.view()
	if err != nil {
		return err
	}

	if through >= view.head && l.size > 0 {
		if err := l.rotate(view.head + 1); err != nil {
			return err
		}
	}

	view, err = l.view()
	if err != nil {
		return err
	}

	n := 0
	for n+1 < len(view.segments) && view.segments[n+1].first <= through+1 {
		n++
	}

	if n > 0 {
		l.drop(n)
	}

	return nil
}

// syncDirty forces appended records to disk, one interval after the first of them.
func (l *fileLog) syncDirty() {
	for {
		select {
		case <-l.quit:
			return
		case <-l.dirty:
		}

		timer := l.config.Clock.NewTimer(l.config.SyncEvery)

		select {
		case <-l.quit:
			timer.Stop()

			return
		case <-timer.Chan():
		}

		select {
		case <-l.dirty: // later records are synced with the first
		default:
		}

		l.mu.Lock()
		file := l.active
		l.mu.Unlock()

		// Writers continue during the sync. A file that has been closed was already synced.
		if err := l.config.fsync(file); err != nil && !errors.Is(err, os.ErrClosed) {
			err = l.fail(fmt.Errorf("sync the journal to disk: %w", err))
			l.config.Logger.Error("could not sync a journal to disk; no further records are accepted", "dir", l.config.Dir, "error", err)
		}
	}
}
