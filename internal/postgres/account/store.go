// Package account stores who may use TARSy and what they did: API keys, browser sessions, shares of sessions, and the audit log.
// It knows neither roles nor HTTP: internal/auth and internal/api decide what a key or a session permits.
package account

import "tarsy.dev/tarsy/internal/postgres"

// Store provides access to accounts. A server has one.
type Store struct {
	db *postgres.DB
	// auditing is a semaphore: one append to the audit log of this server at a time.
	auditing chan struct{}
}

// New returns a Store on a database.
func New(db *postgres.DB) *Store { return &Store{db: db, auditing: make(chan struct{}, 1)} }
