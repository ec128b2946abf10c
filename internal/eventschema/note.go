package eventschema

import (
	"reflect"

	"tarsy.dev/tarsy/internal/schema"
	"tarsy.dev/tarsy/notebook"
)

// noteKinds returns the events of the journal of notes. They share one payload; they differ in the row that they are about.
func noteKinds() []Kind {
	kind := func(name, about, when string) Kind {
		return Kind{
			Type: name, Delivery: Journal, Channel: notebook.ChannelNotes, Over: both, When: when,
			payload: reflect.TypeFor[notebook.NotePayload](), envelope: reflect.TypeFor[noteEnvelope](), always: []string{about}, statuses: noteStatuses(about),
		}
	}

	return []Kind{
		kind(notebook.TypeNoteCaptured, "note_id", "A note was captured. If it could not be queued, `error` says why."),
		kind(notebook.TypeNoteProcessed, "note_id", "The entities of a note were extracted, or there were none."),
		kind(notebook.TypeNoteFailed, "note_id", "Processing a note failed for the reason in `error`, and is not tried again."),
		kind(notebook.TypeNoteRequeued, "note_id", "A note is processed again: a person requested it, or an attempt failed for the reason in `error`."),
		kind(notebook.TypeEntityCreated, "entity_id", "An entity was extracted, or created by a person."),
		kind(notebook.TypeEntityUpdated, "entity_id", "An entity changed."),
		kind(notebook.TypeEntityOrganized, "entity_id", "The pipeline has looked for a project, an epic and duplicates of an entity."),
		kind(notebook.TypeEntityDeleted, "entity_id", "An entity was deleted."),
		kind(notebook.TypeReviewCreated, "review_id", "A review item needs a decision."),
		kind(notebook.TypeReviewUpdated, "review_id", "The proposal of an open review item changed."),
		kind(notebook.TypeReviewResolved, "review_id", "A review item was decided, or needs no decision any more."),
		kind(notebook.TypeReviewReopened, "review_id", "A decision was undone; the review item is open again."),
		kind(notebook.TypeProjectChanged, "project_id", "A project was created, changed or deleted."),
		kind(notebook.TypeEpicChanged, "epic_id", "An epic was created, changed or deleted."),
		kind(notebook.TypeTagChanged, "tag", "A tag was renamed or deleted."),
	}
}

// noteStatuses returns the statuses of an event's subject. Tags have none.
func noteStatuses(about string) []any {
	switch about {
	case "note_id":
		return schema.Values(notebook.NoteStatuses())
	case "entity_id":
		return schema.Values(notebook.EntityStates())
	case "review_id":
		return schema.Values(notebook.ReviewStatuses())
	case "project_id":
		return append(schema.Values(notebook.ProjectStatuses()), notebook.StatusDeleted)
	case "epic_id":
		return append(schema.Values(notebook.EpicStatuses()), notebook.StatusDeleted)
	default:
		return nil
	}
}
