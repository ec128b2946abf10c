package client

import (
	"tarsy.dev/tarsy/notebook"
)

// NewNote is the body that captures a note.
type NewNote struct {
	// Content can be empty if Source is session: the note is then the session's final analysis.
	Content   string              `json:"content,omitempty"`
	Source    notebook.NoteSource `json:"source"`
	SessionID string              `json:"session_id,omitempty"`
}

// CapturedNote is the response to a new note.
type CapturedNote struct {
	Note notebook.Note `json:"note"`
}

// NewProject is the body that creates a project, or an epic of a project.
type NewProject struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// NotePage returns the address of a note in the dashboard.
func (c *Client) NotePage(id string) string { return c.base.JoinPath("notes", id).String() }

// NoteFilter selects notes.
type NoteFilter struct {
	Statuses  []string `query:"status"`
	Source    string   `query:"source"`
	SessionID string   `query:"session_id"`
	Search    string   `query:"q"`
}

// EntityFilter selects accepted entities.
type EntityFilter struct {
	Types     []string `query:"type"`
	Statuses  []string `query:"status"`
	Owner     string   `query:"owner"`
	SessionID string   `query:"session_id"`
	Search    string   `query:"q"`
}
