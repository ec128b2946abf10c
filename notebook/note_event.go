package notebook

import (
	"time"

	"tarsy.dev/tarsy"
)

// ChannelNotes is the channel of the journal of notes.
const ChannelNotes = "notes"

// The types of events in the journal of notes.
const (
	TypeNoteCaptured    = "note.captured"
	TypeNoteProcessed   = "note.processed"
	TypeNoteFailed      = "note.failed"
	TypeNoteRequeued    = "note.requeued"
	TypeEntityCreated   = "entity.created"
	TypeEntityUpdated   = "entity.updated"
	TypeEntityOrganized = "entity.organized"
	TypeEntityDeleted   = "entity.deleted"
	TypeReviewCreated   = "review.created"
	TypeReviewUpdated   = "review.updated"
	TypeReviewResolved  = "review.resolved"
	TypeReviewReopened  = "review.reopened"
	TypeProjectChanged  = "project.changed"
	TypeEpicChanged     = "epic.changed"
	TypeTagChanged      = "tag.changed"
)

// StatusDeleted is the status in the event of a project or an epic that was deleted. No row has it.
const StatusDeleted = "deleted"

// NoteEventTypes lists every type of event in the journal of notes.
func NoteEventTypes() []string {
	return []string{
		TypeNoteCaptured, TypeNoteProcessed, TypeNoteFailed, TypeNoteRequeued, TypeEntityCreated, TypeEntityUpdated, TypeEntityOrganized,
		TypeEntityDeleted, TypeReviewCreated, TypeReviewUpdated, TypeReviewResolved, TypeReviewReopened, TypeProjectChanged, TypeEpicChanged, TypeTagChanged,
	}
}

// NotePayload is the payload of every event in the journal of notes: which rows changed. Readers that need more load them.
type NotePayload struct {
	// One of NoteEventTypes.
	Type string `doc:"The type of the message." json:"type"`
	// What the event is about. Those that do not apply are empty.
	NoteID   string `doc:"The note." json:"note_id,omitempty" schema:"id"`
	EntityID string `doc:"The entity." json:"entity_id,omitempty" schema:"id"`
	ReviewID string `doc:"The review item." json:"review_id,omitempty" schema:"id"`
	// Where the entity is filed, or what was changed.
	ProjectID string `doc:"The project." json:"project_id,omitempty" schema:"id"`
	EpicID    string `doc:"The epic." json:"epic_id,omitempty" schema:"id"`
	Tag       string `doc:"The tag." json:"tag,omitempty"`
	// The session of the note; empty if there is none.
	SessionID string `doc:"The session that the note is about." json:"session_id,omitempty" schema:"id"`
	// The new status of the note, review item, project or epic, or the new state of the entity. Tags have none.
	Status string `doc:"The new status of the note, review item, project or epic (deleted if it was deleted), or the new state of the entity." json:"status,omitempty"`
	// Of note.processed: how many entities were extracted.
	EntityCount int `doc:"The number of extracted entities; absent if there are none." json:"entity_count,omitempty" minimum:"1"`
	// Of note.failed, note.captured and note.requeued: why it is not processed.
	Error string `doc:"The error message, for people." json:"error,omitempty"`
	// Who did it; empty if it was the pipeline.
	Author string `doc:"The author of the change; absent if it was the pipeline." json:"author,omitempty"`
	// Time of the change.
	Timestamp time.Time `doc:"When it happened." json:"timestamp"`
}

// NewNoteEvent returns an entry for the journal of notes.
func NewNoteEvent(payload NotePayload) tarsy.Event {
	return tarsy.NewEvent("", payload.Type, payload, payload.Timestamp)
}
