package eventschema

import (
	"reflect"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/schema"
)

// noteKinds are the events of the journal of notes. They share one payload; what differs is which row an event is about.
func noteKinds() []Kind {
	kind := func(name, about, when string) Kind {
		return Kind{
			Type: name, Delivery: Journal, Channel: tarsy.ChannelNotes, Over: both, When: when,
			payload: reflect.TypeFor[tarsy.NotePayload](), envelope: reflect.TypeFor[noteEnvelope](), always: []string{about}, statuses: noteStatuses(about),
		}
	}

	return []Kind{
		kind(tarsy.TypeNoteCaptured, "note_id", "A note was captured. If it could not be queued, `error` says why."),
		kind(tarsy.TypeNoteProcessed, "note_id", "The entities of a note were extracted, or there were none."),
		kind(tarsy.TypeNoteFailed, "note_id", "Processing a note failed for the reason in `error`, and is not tried again."),
		kind(tarsy.TypeNoteRequeued, "note_id", "A note is processed again: somebody asked for it, or an attempt failed for the reason in `error`."),
		kind(tarsy.TypeEntityCreated, "entity_id", "An entity was extracted, or created by a person."),
		kind(tarsy.TypeEntityUpdated, "entity_id", "An entity changed."),
		kind(tarsy.TypeEntityOrganized, "entity_id", "The pipeline has looked for a project, an epic and duplicates of an entity."),
		kind(tarsy.TypeEntityDeleted, "entity_id", "An entity was deleted."),
		kind(tarsy.TypeReviewCreated, "review_id", "A review item needs a decision."),
		kind(tarsy.TypeReviewUpdated, "review_id", "The proposal of an open review item changed."),
		kind(tarsy.TypeReviewResolved, "review_id", "A review item was decided, or needs no decision any more."),
		kind(tarsy.TypeReviewReopened, "review_id", "A decision was undone; the review item is open again."),
		kind(tarsy.TypeProjectChanged, "project_id", "A project was created, changed or deleted."),
		kind(tarsy.TypeEpicChanged, "epic_id", "An epic was created, changed or deleted."),
		kind(tarsy.TypeTagChanged, "tag", "A tag was renamed or deleted."),
	}
}

// noteStatuses are the statuses of what an event is about. Tags have none.
func noteStatuses(about string) []any {
	switch about {
	case "note_id":
		return schema.Values(tarsy.NoteStatuses())
	case "entity_id":
		return schema.Values(tarsy.EntityStates())
	case "review_id":
		return schema.Values(tarsy.ReviewStatuses())
	case "project_id":
		return append(schema.Values(tarsy.ProjectStatuses()), tarsy.StatusDeleted)
	case "epic_id":
		return append(schema.Values(tarsy.EpicStatuses()), tarsy.StatusDeleted)
	default:
		return nil
	}
}
