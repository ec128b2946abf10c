package app

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/postgres"
)

// openNotes opens the store of notes with its journal.
func (a *App) openNotes(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, postgres.AnswerTime)
	defer cancel()

	notes, err := store.Open(ctx, store.Config{Write: a.db.Notes(), Read: a.db.Readers(), Clock: a.clock, Logger: a.logger})
	if err != nil {
		return fmt.Errorf("open notes: %w", err)
	}

	a.notes = notes
	a.onStop("notes", func(context.Context) error { return a.notes.Close() })

	return nil
}
