package journal

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/jonboulle/clockwork"
)

// Memory is a Journal that lives as long as the process. It never drops a record, so it suits what is small: flows
// of one program, and tests.
type Memory[E any] struct {
	clock clockwork.Clock

	mu      sync.Mutex
	records []Record[E]   // only ever appended to, so a slice of it may be read without the lock
	grown   chan struct{} // closed by the next append
}

// NewMemory returns an empty journal whose records carry the clock's time.
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
		return Position(len(m.records)), nil
	}

	now := m.clock.Now()
	for _, entry := range entries {
		m.records = append(m.records, Record[E]{Position: Position(len(m.records) + 1), At: now, Entry: entry})
	}

	close(m.grown)
	m.grown = make(chan struct{})

	return Position(len(m.records)), nil
}

// Tail implements Reader.
func (m *Memory[E]) Tail(ctx context.Context, after Position) iter.Seq2[Record[E], error] {
	return func(yield func(Record[E], error) bool) {
		next := max(after, 0)

		for {
			batch, grown := m.since(next)
			for _, record := range batch {
				if ctx.Err() != nil {
					break
				}

				if !yield(record, nil) {
					return
				}

				next = record.Position
			}

			if len(batch) == 0 {
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
		records, _ := m.since(0)
		if before > 0 && before <= Position(len(records)) {
			records = records[:before-1]
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

	return Position(len(m.records)), nil
}

// since returns the records after the position, and what will be closed when there are more.
func (m *Memory[E]) since(after Position) ([]Record[E], <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()

	if after >= Position(len(m.records)) {
		return nil, m.grown
	}

	return m.records[after:len(m.records):len(m.records)], m.grown
}
