// Package journal is an ordered, append-only, gap-free log that readers can tail from any position.
// Its oldest records may be dropped in time; who needs them then is told so, and goes on with what is left.
// It knows nothing of what the entries mean, nor of who reads them.
package journal

import (
	"context"
	"fmt"
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
	// cause as its error, or with the error that kept it from reading: a *TrimmedError if the next record is gone.
	Tail(ctx context.Context, after Position) iter.Seq2[Record[E], error]
	// Backward yields the records before the position, newest first, and ends at the first record that is left. A
	// position of zero means from the end.
	Backward(ctx context.Context, before Position) iter.Seq2[Record[E], error]
	// Head is the position of the last record, whether it is left or gone, zero when there never was one.
	Head(ctx context.Context) (Position, error)
}

// TrimmedError says that records which a reader asked for are gone.
type TrimmedError struct {
	// First is the position of the first record that is left, or of the next one if none is. Tailing after the
	// position before it is possible.
	First Position
}

// Error implements error.
func (e *TrimmedError) Error() string {
	return fmt.Sprintf("the journal was trimmed: it begins at %d", e.First)
}

// Journal is a Reader that can be appended to.
type Journal[E any] interface {
	Reader[E]
	// Append adds entries as one: readers see all of them or none. It returns the position of the last one.
	Append(ctx context.Context, entries ...E) (Position, error)
}
