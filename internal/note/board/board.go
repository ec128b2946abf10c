// Package board is what people do with entities, projects, epics and tags: create, read, change, delete, search, order and export them.
//
// It knows nothing of models and queues. A change is one transaction with its events; see store. Locks are taken in one order: review
// items, then entities in order of their ids, then projects and epics.
package board

import (
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maxDescription is how many characters a description of a project or an epic has.
const maxDescription = store.MaxContent

// Config is what the board stands on. Everything is required.
type Config struct {
	Store *store.DB
	// Mask hides secrets in what people write.
	Mask func(string) string
}

// Service reads and changes the board. It has no state of its own.
type Service struct {
	db   *store.DB
	mask func(string) string
}

// New makes the service.
func New(cfg Config) *Service { return &Service{db: cfg.Store, mask: cfg.Mask} }

// checkID answers for ids that no row can have.
func checkID(id string, missing func(string) error) error {
	if ident.Valid(id) {
		return nil
	}

	const shown = 100

	return missing(plaintext.Cut(plaintext.Clean(id), shown))
}
