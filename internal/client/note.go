package client

import (
	"context"
	"net/http"
	"net/url"

	"tarsy.dev/tarsy"
)

// Capture is the body that captures a note.
type Capture struct {
	// Content may be empty with source session: then the session's final analysis is kept.
	Content   string           `json:"content,omitempty"`
	Source    tarsy.NoteSource `json:"source"`
	SessionID string           `json:"session_id,omitempty"`
	// IdempotencyKey is made up if it is empty.
	IdempotencyKey string `json:"-"`
}

// Capture captures a note, and tries again as long as it may not have arrived.
func (c *Client) Capture(ctx context.Context, note Capture) (tarsy.Note, error) {
	captured, err := create[struct {
		Note tarsy.Note `json:"note"`
	}](ctx, c, "/api/v1/notes", note.IdempotencyKey, note)

	return captured.Note, err
}

// Note returns a note with its entities and review items.
func (c *Client) Note(ctx context.Context, id string) (tarsy.NoteDetail, error) {
	var note tarsy.NoteDetail

	err := c.call(ctx, http.MethodGet, "/api/v1/notes/"+url.PathEscape(id), nil, nil, &note)

	return note, err
}
