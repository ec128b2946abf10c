package api

import (
	"net/http"
	"reflect"

	"tarsy.dev/tarsy"
)

// noteOperations are the operations of notes and of the board that is made of them.
func (s *Server) noteOperations() []operation {
	return []operation{
		{
			method: http.MethodPost, path: "/api/v1/notes", id: "capture-note", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "note.create", target: "note"},
			errors:  []tarsy.Code{tarsy.CodeSessionNotFound, tarsy.CodeSessionNotOver},
			summary: "Capture a note",
			description: "Stores the note and queues its processing; both are durable when 201 is answered. A request with the Idempotency-Key of an " +
				"earlier one gets that note, with 200.",
			status: http.StatusCreated, body: required[noteRequest](), handler: run(s.captureNote),
		},
		{
			method: http.MethodGet, path: "/api/v1/notes", id: "list-notes", scope: tarsy.ScopeRead,
			summary: "List notes, newest first",
			handler: run(s.listNotes),
		},
		{
			method: http.MethodGet, path: "/api/v1/notes/{id}", id: "get-note", scope: tarsy.ScopeRead,
			summary: "Show a note with its entities and review items",
			handler: run(s.getNote),
		},
		{
			method: http.MethodPost, path: "/api/v1/notes/{id}/reprocess", id: "reprocess-note", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "note.reprocess", target: "note"},
			summary:     "Process a note again",
			description: "What people have accepted, edited or moved is kept and not extracted a second time.",
			status:      http.StatusAccepted, body: optional[nothing](), handler: run(s.reprocessNote),
		},
		{
			method: http.MethodPost, path: "/api/v1/notes/reprocess", id: "reprocess-notes", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "note.reprocess_all", target: "note"},
			summary:     "Process all notes since a date again",
			description: "Notes that are still being processed are left as they are.",
			status:      http.StatusAccepted, body: required[reprocessRequest](), handler: run(s.reprocessNotes),
		},
		{
			method: http.MethodGet, path: "/api/v1/notes/events", id: "note-events", scope: tarsy.ScopeRead,
			errors:      []tarsy.Code{tarsy.CodeTooManyStreams, tarsy.CodeNotAcceptable},
			summary:     "Watch notes as server-sent events",
			description: "Everything about notes, entities, projects and review items, without an end.",
			parameters:  positionParams(), answer: eventStream(), stream: true, handler: plain(later(&s.noteEvents)),
		},
		{
			method: http.MethodGet, path: "/api/v1/entities", id: "list-entities", scope: tarsy.ScopeRead,
			summary:     "List and search entities",
			description: "Accepted entities only, unless state says otherwise.",
			handler:     run(s.listEntities),
		},
		{
			method: http.MethodPost, path: "/api/v1/entities", id: "create-entity", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "entity.create", target: "entity"},
			errors:      []tarsy.Code{tarsy.CodeProjectNotFound, tarsy.CodeEpicNotFound, tarsy.CodeSessionNotFound},
			summary:     "Create an entity",
			description: "It is accepted, and last in its column of the board.",
			status:      http.StatusCreated, body: required[entityRequest](), handler: run(s.createEntity),
		},
		{
			method: http.MethodGet, path: "/api/v1/entities/{id}", id: "get-entity", scope: tarsy.ScopeRead,
			summary: "Show an entity",
			handler: run(s.getEntity),
		},
		{
			method: http.MethodPatch, path: "/api/v1/entities/{id}", id: "update-entity", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "entity.update", target: "entity"},
			errors:      []tarsy.Code{tarsy.CodeProjectNotFound, tarsy.CodeEpicNotFound},
			summary:     "Change an entity",
			description: "Changes the fields that are given. What a person changed is kept when the note is processed again.",
			body:        required[entityRequest](), handler: run(s.updateEntity),
		},
		{
			method: http.MethodDelete, path: "/api/v1/entities/{id}", id: "delete-entity", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "entity.delete", target: "entity"},
			summary:     "Delete an entity",
			description: "Its open review items are closed.",
			status:      http.StatusNoContent, handler: run(s.deleteEntity),
		},
		{
			method: http.MethodPost, path: "/api/v1/entities/{id}/move", id: "move-entity", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "entity.move", target: "entity"},
			summary:     "Move an entity on the board",
			description: "Needs no If-Match: the last of two who move it at once decides where it is.",
			body:        required[moveRequest](), handler: run(s.moveEntity),
		},
		{
			method: http.MethodGet, path: "/api/v1/entities/export", id: "export-entities", scope: tarsy.ScopeRead,
			summary:     "Export entities as a file",
			description: "The filters of the list, newest first, without a limit.",
			handler:     run(s.exportEntities),
			answer:      &answer{of: reflect.TypeFor[entityFile](), media: []string{"text/csv", jsonType, "text/markdown"}},
		},
		{
			method: http.MethodGet, path: "/api/v1/projects", id: "list-projects", scope: tarsy.ScopeRead,
			summary: "List and search projects with their epics",
			handler: run(s.listProjects),
		},
		{
			method: http.MethodPost, path: "/api/v1/projects", id: "create-project", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "project.create", target: "project"},
			errors:  []tarsy.Code{tarsy.CodeNameTaken},
			summary: "Create a project",
			status:  http.StatusCreated, body: required[projectRequest](), handler: run(s.createProject),
		},
		{
			method: http.MethodGet, path: "/api/v1/projects/{id}", id: "get-project", scope: tarsy.ScopeRead,
			summary: "Show a project with its epics",
			handler: run(s.getProject),
		},
		{
			method: http.MethodPatch, path: "/api/v1/projects/{id}", id: "update-project", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "project.update", target: "project"},
			errors:      []tarsy.Code{tarsy.CodeNameTaken},
			summary:     "Change a project",
			description: "Changes the fields that are given.",
			body:        required[projectRequest](), handler: run(s.updateProject),
		},
		{
			method: http.MethodDelete, path: "/api/v1/projects/{id}", id: "delete-project", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "project.delete", target: "project"},
			summary:     "Delete a project with its epics",
			description: "Its entities stay and have no project any more. Open review items that would file something under it are closed.",
			status:      http.StatusNoContent, handler: run(s.deleteProject),
		},
		{
			method: http.MethodPost, path: "/api/v1/projects/{id}/epics", id: "create-epic", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "epic.create", target: "epic"},
			errors:  []tarsy.Code{tarsy.CodeNameTaken},
			summary: "Create an epic of a project",
			status:  http.StatusCreated, body: required[epicRequest](), handler: run(s.createEpic),
		},
		{
			method: http.MethodGet, path: "/api/v1/epics/{id}", id: "get-epic", scope: tarsy.ScopeRead,
			summary: "Show an epic",
			handler: run(s.getEpic),
		},
		{
			method: http.MethodPatch, path: "/api/v1/epics/{id}", id: "update-epic", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "epic.update", target: "epic"},
			errors:      []tarsy.Code{tarsy.CodeNameTaken},
			summary:     "Change an epic",
			description: "Changes the fields that are given.",
			body:        required[epicRequest](), handler: run(s.updateEpic),
		},
		{
			method: http.MethodDelete, path: "/api/v1/epics/{id}", id: "delete-epic", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "epic.delete", target: "epic"},
			summary:     "Delete an epic",
			description: "Its entities stay in the project. Open review items that would file something under it are closed.",
			status:      http.StatusNoContent, handler: run(s.deleteEpic),
		},
		{
			method: http.MethodGet, path: "/api/v1/tags", id: "list-tags", scope: tarsy.ScopeRead,
			summary:     "List and search tags",
			description: "In alphabetical order, with how many accepted entities have them.",
			handler:     run(s.listTags),
		},
		{
			method: http.MethodPost, path: "/api/v1/tags", id: "create-tag", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "tag.create", target: "tag"},
			errors:      []tarsy.Code{tarsy.CodeNameTaken},
			summary:     "Create a tag",
			description: "Tags of entities are created with the entity; this one has none yet.",
			status:      http.StatusCreated, body: required[tagRequest](), handler: run(s.createTag),
		},
		{
			method: http.MethodPatch, path: "/api/v1/tags/{name}", id: "rename-tag", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "tag.rename", target: "tag"},
			errors:  []tarsy.Code{tarsy.CodeNameTaken},
			summary: "Rename a tag on all entities",
			body:    required[tagRequest](), handler: run(s.renameTag),
		},
		{
			method: http.MethodDelete, path: "/api/v1/tags/{name}", id: "delete-tag", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "tag.delete", target: "tag"},
			summary: "Remove a tag from all entities",
			status:  http.StatusNoContent, handler: run(s.deleteTag),
		},
		{
			method: http.MethodGet, path: "/api/v1/review", id: "list-review-items", scope: tarsy.ScopeRead,
			summary:     "List review items",
			description: "Newest first; if only open items are selected, oldest first.",
			handler:     run(s.listReviewItems),
		},
		{
			method: http.MethodGet, path: "/api/v1/review/{id}", id: "get-review-item", scope: tarsy.ScopeRead,
			summary: "Show a review item",
			handler: run(s.getReviewItem),
		},
		{
			method: http.MethodPost, path: "/api/v1/review/{id}/resolve", id: "resolve-review-item", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "review.resolve", target: "review_item"},
			errors:      []tarsy.Code{tarsy.CodeReviewResolved, tarsy.CodeConflict, tarsy.CodeNameTaken},
			summary:     "Decide a review item",
			description: "Of several people who decide at once one wins; the others get 409 review_resolved. The decision can be undone for an hour.",
			body:        required[resolveRequest](), handler: run(s.resolveReviewItem),
		},
		{
			method: http.MethodPost, path: "/api/v1/review/{id}/undo", id: "undo-review-item", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "review.undo", target: "review_item"},
			errors:      []tarsy.Code{tarsy.CodeUndoExpired, tarsy.CodeUndoConflict, tarsy.CodeConflict},
			summary:     "Undo the decision about a review item",
			description: "Opens the item again and restores what the decision changed, unless it was changed since. Possible for an hour.",
			body:        optional[nothing](), handler: run(s.undoReviewItem),
		},
		{
			method: http.MethodPost, path: "/api/v1/review/bulk", id: "resolve-review-items", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "review.resolve_many", target: "review_item"},
			summary:     "Decide many review items",
			description: "Each item is decided by itself, and each decision is undone by itself.",
			body:        required[bulkRequest](), handler: run(s.resolveReviewItems),
		},
	}
}
