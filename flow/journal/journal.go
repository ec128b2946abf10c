// Package journal is an ordered, append-only, gap-free log that readers can tail from any position.
// It knows nothing of what the entries mean, nor of who reads them.
package journal

import (
	"context"
	"iter"
	"time"
)

// Position is the number of a record. Records count from one without gaps; zero is before the first.
type Position int64

// Record is an entry in its place.
type Record[E any] struct {
	Position Position
	At       time.Time
	Entry    E
}

// Reader reads a journal. Implementations are safe for concurrent use, and so are sequences taken from one reader.
type Reader[E any] interface {
	// Tail yields every record after the position, in order, and waits for more at the end. It ends with ctx's
	// cause as its error, or with the error that kept it from reading.
	Tail(ctx context.Context, after Position) iter.Seq2[Record[E], error]
	// Backward yields the records before the position, newest first, and ends at the first record. A position of
	// zero means from the end.
	Backward(ctx context.Context, before Position) iter.Seq2[Record[E], error]
	// Head is the position of the last record, zero when there is none.
	Head(ctx context.Context) (Position, error)
}

// Journal is a Reader that can be appended to.
type Journal[E any] interface {
	Reader[E]
	// Append adds entries as one: readers see all of them or none. It returns the position of the last one.
	Append(ctx context.Context, entries ...E) (Position, error)
}
