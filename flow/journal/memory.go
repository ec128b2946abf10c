package journal

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/jonboulle/clockwork"
)

// Memory is a Journal in the memory of the process. It drops records only in Trim, so it suits small journals: flows of one
// program, and tests.
type Memory[E any] struct {
	clock clockwork.Clock

	mu      sync.Mutex
	trimmed Position      // the last record that was dropped
	records []Record[E]   // those after trimmed; only appended to or replaced, so a slice of it can be read without the lock
	grown   chan struct{} // closed on the next append or trim
}

// NewMemory returns an empty journal whose records carry the time of the clock.
func NewMemory[E any](clock clockwork.Clock) *Memory[E] {
	return &Memory[E]{clock: clock, grown: make(chan struct{})}
}

// Append implements Journal.
func (m *Memory[E]) Append(ctx context.Context, entries ...E) (Position, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	if len(entries) == 0 {
		return m.head(), nil
	}

	now := m.clock.Now()
	for _, entry := range entries {
		m.records = append(m.records, Record[E]{Position: m.head() + 1, At: now, Entry: entry})
	}

	m.wake()

	return m.head(), nil
}

// Trim drops the records up to a position. It does not affect tails from there or later.
func (m *Memory[E]) Trim(through Position) {
	m.mu.Lock()
	defer m.mu.Unlock()

	through = min(through, m.head())
	if through <= m.trimmed {
		return
	}

	m.records = slices.Clone(m.records[through-m.trimmed:])
	m.trimmed = through
	m.wake()
}

// head returns the last position ever assigned. The caller holds the lock, as for wake.
func (m *Memory[E]) head() Position { return m.trimmed + Position(len(m.records)) }

// wake wakes waiting readers.
func (m *Memory[E]) wake() {
	close(m.grown)
	m.grown = make(chan struct{})
}

// Tail implements Reader.
func (m *Memory[E]) Tail(ctx context.Context, after Position) iter.Seq2[Record[E], error] {
	return func(yield func(Record[E], error) bool) {
		next := max(after, 0)

		for {
			batch, grown, err := m.since(next)
			if err != nil && ctx.Err() == nil {
				yield(Record[E]{}, err)

				return
			}

			for _, record := range batch {
				if ctx.Err() != nil {
					break
				}

				if !yield(record, nil) {
					return
				}

				next = record.Position
			}

			if len(batch) == 0 && err == nil {
				select {
				case <-grown:
				case <-ctx.Done():
				}
			}

			if ctx.Err() != nil {
				yield(Record[E]{}, context.Cause(ctx))

				return
			}
		}
	}
}

// Backward implements Reader.
func (m *Memory[E]) Backward(ctx context.Context, before Position) iter.Seq2[Record[E], error] {
	return func(yield func(Record[E], error) bool) {
		records := m.left()

		for before > 0 && len(records) > 0 && records[len(records)-1].Position >= before {
			records = records[:len(records)-1]
		}

		for _, record := range slices.Backward(records) {
			if ctx.Err() != nil {
				yield(Record[E]{}, context.Cause(ctx))

				return
			}

			if !yield(record, nil) {
				return
			}
		}
	}
}

// Head implements Reader.
func (m *Memory[E]) Head(ctx context.Context) (Position, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}

	m.mu.Lock()
	defer m.mu.Unlock()

	return m.head(), nil
}

// since returns the records after the position and a channel that is closed when there are more, or an error if the records are
// gone.
func (m *Memory[E]) since(after Position) ([]Record[E], <-chan struct{}, error) {
	m.mu.Lock()
	defer m.mu.Unlock()

	switch {
	case after < m.trimmed:
		return nil, nil, &TrimmedError{First: m.trimmed + 1}
	case after >= m.head():
		return nil, m.grown, nil
	}

	return slices.Clip(m.records[after-m.trimmed:]), m.grown, nil
}

// left returns the remaining records.
func (m *Memory[E]) left() []Record[E] {
	m.mu.Lock()
	defer m.mu.Unlock()

	return slices.Clip(m.records)
}
