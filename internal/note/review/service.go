// Package review lets people decide on proposals of the pipeline: it lists review items, applies decisions and undoes them.
//
// A decision is one transaction: the changed rows, the record of who decided and of the previous state, and the events. Rows are always
// locked in the same order, entities before review items and each by ID, so that of two people who decide concurrently one waits and then
// finds the item decided. The package knows nothing about HTTP or about how proposals are made.
package review

import (
	"context"
	"errors"
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/notebook"
)

// Config holds the dependencies of a Service.
type Config struct {
	// Store contains the rows.
	Store *store.DB
	// Mask hides secrets in what people write.
	Mask func(string) string
}

// Service lists and decides review items. It is stateless.
type Service struct {
	store *store.DB
	mask  func(string) string
}

// New returns a Service.
func New(cfg Config) *Service { return &Service{store: cfg.Store, mask: cfg.Mask} }

// attempts is how often a change is tried if concurrent changes interfere.
const attempts = 5

// errStale means that rows changed between looking for them and locking them.
var errStale = errors.New("rows changed while they were locked")

// change runs a change, and retries it if it lost against a concurrent one.
func (s *Service) change(ctx context.Context, change func(*store.Tx) error) error {
	var err error

	for range attempts {
		err = s.store.Change(ctx, change)
		if !errors.Is(err, errStale) && !store.IsTaken(err) {
			return err
		}
	}

	return tarsy.Errorf(tarsy.CodeUnavailable, "the same entities are being changed concurrently; try again")
}

// readItem reads a review item without locking it.
func readItem(ctx context.Context, q store.Querier, id string) (notebook.ReviewItem, error) {
	if !ident.Valid(id) {
		return notebook.ReviewItem{}, noItem(id)
	}

	found, err := store.ReviewItems(ctx, q, `WHERE r.id = $1`, id)
	if err != nil {
		return notebook.ReviewItem{}, fmt.Errorf("read review item: %w", err)
	}

	if len(found) == 0 {
		return notebook.ReviewItem{}, store.NoReviewItem(id)
	}

	return found[0], nil
}

// noItem is the error for an id that no review item can have.
func noItem(id string) error {
	const longest = 100

	return tarsy.Errorf(tarsy.CodeReviewNotFound, "there is no review item %q", plaintext.Cut(plaintext.Clean(id), longest))
}
