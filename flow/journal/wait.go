package journal

import (
	"context"
	"errors"
)

// WaitFor returns the first record after the position whose entry matches, waiting for it if necessary. It ends with ctx's
// cause, or with the error that prevented reading.
func WaitFor[E any](ctx context.Context, reader Reader[E], after Position, match func(E) bool) (Record[E], error) {
	for record, err := range reader.Tail(ctx, after) {
		if err != nil {
			return Record[E]{}, err
		}

		if match(record.Entry) {
			return record, nil
		}
	}

	return Record[E]{}, errors.New("the journal's tail ended without an error")
}
