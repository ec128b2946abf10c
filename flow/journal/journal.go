// Package journal provides an ordered, append-only, gap-free log that readers can tail from any position. Its oldest records
// can be dropped; a reader that needs them then gets a *TrimmedError and can continue with the remaining ones. The package
// knows neither what the entries mean nor who reads them.
package journal

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Position is the number of a record. Records count from one without gaps; zero is before the first.
type Position int64

// Record is an entry with its position and time.
type Record[E any] struct {
	Position Position
	At       time.Time
	Entry    E
}

// Reader reads a journal. Implementations are safe for concurrent use, and so are sequences taken from one reader.
type Reader[E any] interface {
	// Tail yields every record after the position, in order, and waits for more at the end. It ends with ctx's cause as its
	// error, or with the error that prevented reading: a *TrimmedError if the next record is gone.
	Tail(ctx context.Context, after Position) iter.Seq2[Record[E], error]
	// Backward yields the records before the position, newest first, and ends at the first remaining record. A position of zero
	// means from the end.
	Backward(ctx context.Context, before Position) iter.Seq2[Record[E], error]
	// Head returns the position of the last record, even if the record is gone, or zero if there never was one.
	Head(ctx context.Context) (Position, error)
}

// TrimmedError reports that the records requested by a reader are gone.
type TrimmedError struct {
	// First is the position of the first remaining record, or of the next one if none remains. Tailing after the position
	// before it is possible.
	First Position
}

// Error implements error.
func (e *TrimmedError) Error() string {
	return fmt.Sprintf("the journal was trimmed: it begins at %d", e.First)
}

// Journal is a Reader that can be appended to.
type Journal[E any] interface {
	Reader[E]
	// Append appends entries atomically: readers see all of them or none. It returns the position of the last one.
	Append(ctx context.Context, entries ...E) (Position, error)
}
