// Package notebook is the vocabulary of notes: what people write down, what the pipeline finds in it, and what happens to that. It declares
// types, statuses and events, and does no I/O.
package notebook

import (
	"time"

	"tarsy.dev/tarsy"
)

// NoteSource is where a note was captured.
type NoteSource string

// The sources of notes.
const (
	NoteFromCLI     NoteSource = "cli"
	NoteFromWeb     NoteSource = "web"
	NoteFromDiscord NoteSource = "discord"
	// NoteFromSession is the analysis of a finished session.
	NoteFromSession NoteSource = "session"
)

// NoteSources lists every source.
func NoteSources() []NoteSource {
	return []NoteSource{NoteFromCLI, NoteFromWeb, NoteFromDiscord, NoteFromSession}
}

// NoteStatus is the processing state of a note.
type NoteStatus string

// The statuses of a note; docs/states.md has the state machine.
const (
	// NoteQueued means that the note waits for extraction or is being extracted.
	NoteQueued NoteStatus = "queued"
	// NoteExtracted means that the note has entities that wait to be organized.
	NoteExtracted NoteStatus = "extracted"
	// NoteDone means that the note is fully processed. A note without entities is done after its extraction.
	NoteDone NoteStatus = "done"
	// NoteFailed means that the note is not retried unless someone requests it.
	NoteFailed NoteStatus = "failed"
)

// NoteStatuses lists every status.
func NoteStatuses() []NoteStatus {
	return []NoteStatus{NoteQueued, NoteExtracted, NoteDone, NoteFailed}
}

// MaxNoteBytes is the maximum size of a note.
const MaxNoteBytes = 64 << 10

// Note is captured text.
type Note struct {
	// UUIDv7, chosen when the note is captured.
	ID string `json:"id"`
	// The text, masked.
	Content string `json:"content"`
	// Where it was captured.
	Source NoteSource `json:"source"`
	// The session that the note is about; nil if there is none. The session may be purged later.
	SessionID *string `json:"session_id"`
	// Who captured it.
	Author string `json:"author"`
	// Its processing state.
	Status NoteStatus `json:"status"`
	// Whether its entities were extracted, even if there were none.
	Processed bool `json:"processed"`
	// Why the last attempt failed; empty if it did not. Also set while the note waits for another attempt.
	ProcessingError string `json:"processing_error"`
	// How many entities the last extraction stored.
	EntityCount int `json:"entity_count"`
	// Starts at one and grows when the note is processed again.
	Version int64 `json:"version"`
	// UTC.
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	// Nil unless Processed.
	ProcessedAt *time.Time `json:"processed_at"`
}

// NoteDetail is a note with its entities and review items.
type NoteDetail struct {
	Note

	// Entities that have the note as a source, oldest first.
	Entities []EntityDetail `json:"entities"`
	// Review items of the note, oldest first.
	ReviewItems []ReviewItem `json:"review_items"`
}

// NoteInput is a note to capture.
type NoteInput struct {
	// The text. It may be empty with NoteFromSession: the session's final analysis is used then.
	Content string
	// Required.
	Source NoteSource
	// Optional, but required with NoteFromSession.
	SessionID string
	// Who captures it.
	Author string
	// Nil if the caller sent none.
	Idempotency *tarsy.IdempotencyKey
}

// NoteQuery selects notes, newest first.
type NoteQuery struct {
	// Empty fields match every note.
	Statuses  []NoteStatus
	Source    NoteSource
	SessionID string
	// Words that the content must contain.
	Search string
	// The last note of the previous page; nil starts with the newest.
	After *TimeCursor
	// Maximum number of notes.
	Limit int
	// Sessions that the reader may see; notes about other sessions are not found.
	Visible tarsy.Visibility
}

// TimeCursor is a position in a list that is ordered by time of creation.
type TimeCursor struct {
	// Identify the last row before the position. The ID breaks ties.
	CreatedAt time.Time `json:"t"`
	ID        string    `json:"i"`
}

// NotePage is a page of notes.
type NotePage struct {
	// Newest first.
	Notes []Note
	// Start of the next page; nil on the last one.
	Next *TimeCursor
	// How many notes match in all pages.
	Total int
}
