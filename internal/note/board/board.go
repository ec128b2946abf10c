// Package board lets people create, read, change, delete, search, order and export entities, projects, epics and tags.
//
// It knows nothing about models and queues. A change is one transaction with its events; see store. Locks are taken in one order: review
// items, then entities ordered by ID, then projects and epics.
package board

import (
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maxDescription is the maximum length of the description of a project or an epic, in characters.
const maxDescription = store.MaxContent

// Config holds the dependencies of a Service. Everything is required.
type Config struct {
	Store *store.DB
	// Mask hides secrets in what people write.
	Mask func(string) string
}

// Service reads and changes the board. It is stateless.
type Service struct {
	db   *store.DB
	mask func(string) string
}

// New returns a Service.
func New(cfg Config) *Service { return &Service{db: cfg.Store, mask: cfg.Mask} }

// checkID returns the error of missing if id is not a valid ID, so that no row can have it.
func checkID(id string, missing func(string) error) error {
	if ident.Valid(id) {
		return nil
	}

	const shown = 100

	return missing(plaintext.Cut(plaintext.Clean(id), shown))
}
