package store

import (
	"time"

	"tarsy.dev/tarsy"
)

// Call is one LLM call about a note. It is kept for the usage summary even if the note is deleted.
type Call struct {
	ID     string
	NoteID string
	// As in llm.Request.
	Purpose, Provider, ModelName string
	// Including the cost.
	Usage     tarsy.Usage
	CreatedAt time.Time
}

// InsertCall stores a call. It is idempotent. The statement is queued.
func InsertCall(tx *Tx, c Call) {
	tx.queue(`
		INSERT INTO note_calls (id, note_id, purpose, provider, model_name, usage, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (id) DO NOTHING`, c.ID, c.NoteID, c.Purpose, c.Provider, c.ModelName, c.Usage, c.CreatedAt)
}
