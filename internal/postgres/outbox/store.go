// Package outbox stores what is to be announced outside of TARSy: announcements and the jobs that send them, the threads in Slack
// that they belong to, which server uses a channel, and what messages show of a session. It knows neither the texts nor the
// services: those are up to internal/notify and its channels, and to internal/writeback.
package outbox

import "tarsy.dev/tarsy/internal/postgres"

// Store provides access to announcements.
type Store struct{ db *postgres.DB }

// New returns a Store on a database.
func New(db *postgres.DB) *Store { return &Store{db: db} }
