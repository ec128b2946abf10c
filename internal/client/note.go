package client

import (
	"tarsy.dev/tarsy/notebook"
)

// NewNote is the body that captures a note.
type NewNote struct {
	// Content may be empty with source session: then the session's final analysis is kept.
	Content   string              `json:"content,omitempty"`
	Source    notebook.NoteSource `json:"source"`
	SessionID string              `json:"session_id,omitempty"`
}

// CapturedNote is the answer to a note.
type CapturedNote struct {
	Note notebook.Note `json:"note"`
}

// NewProject is the body that creates a project, or an epic of one.
type NewProject struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// NotePage is the address at which people see a note in the dashboard.
func (c *Client) NotePage(id string) string { return c.base.JoinPath("notes", id).String() }

// NoteFilter chooses notes.
type NoteFilter struct {
	Statuses  []string `query:"status"`
	Source    string   `query:"source"`
	SessionID string   `query:"session_id"`
	Search    string   `query:"q"`
}

// EntityFilter chooses accepted entities.
type EntityFilter struct {
	Types     []string `query:"type"`
	Statuses  []string `query:"status"`
	Owner     string   `query:"owner"`
	SessionID string   `query:"session_id"`
	Search    string   `query:"q"`
}
