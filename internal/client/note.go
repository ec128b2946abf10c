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

// CreateProject creates a project.
func (c *Client) CreateProject(ctx context.Context, name, description string) (tarsy.Project, error) {
	var created tarsy.Project

	err := c.call(ctx, http.MethodPost, "/api/v1/projects", nil, map[string]string{"name": name, "description": description}, &created)

	return created, err
}

// CreateEpic creates an epic of a project.
func (c *Client) CreateEpic(ctx context.Context, projectID, name, description string) (tarsy.Epic, error) {
	var created tarsy.Epic

	err := c.call(ctx, http.MethodPost, "/api/v1/projects/"+url.PathEscape(projectID)+"/epics", nil,
		map[string]string{"name": name, "description": description}, &created)

	return created, err
}
