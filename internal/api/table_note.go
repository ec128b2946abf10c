package api

import (
	"log/slog"
	"net/http"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note"
	"tarsy.dev/tarsy/internal/note/review"
)

// notes captures notes, and decides the review items that they produce.
type notes struct {
	notes    *note.Service
	reviews  *review.Service
	teams    *teamCheck
	captures captures
	events   http.Handler
	clock    clockwork.Clock
	logger   *slog.Logger
}

// operations returns the operations of notes and review items.
func (n *notes) operations() []operation {
	return []operation{
		{
			method: http.MethodPost, path: "/api/v1/notes", id: "capture-note", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "note.create", target: "note"},
			errors:  []tarsy.Code{tarsy.CodeSessionNotFound, tarsy.CodeSessionNotOver},
			summary: "Capture a note",
			description: "Stores the note and queues its processing; both are durable once 201 is returned. A request with the Idempotency-Key of an " +
				"earlier one returns that note with 200.",
			status: http.StatusCreated, body: required[noteRequest](), handler: run(n.captureNote),
		},
		{
			method: http.MethodGet, path: "/api/v1/notes", id: "list-notes", scope: tarsy.ScopeRead,
			summary: "List notes, newest first",
			handler: run(n.listNotes),
		},
		{
			method: http.MethodGet, path: "/api/v1/notes/{id}", id: "get-note", scope: tarsy.ScopeRead,
			summary: "Show a note with its entities and review items",
			handler: run(n.getNote),
		},
		{
			method: http.MethodPost, path: "/api/v1/notes/{id}/reprocess", id: "reprocess-note", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "note.reprocess", target: "note"},
			summary:     "Process a note again",
			description: "What users have accepted, edited or moved is kept and not extracted again.",
			status:      http.StatusAccepted, body: optional[nothing](), handler: run(n.reprocessNote),
		},
		{
			method: http.MethodPost, path: "/api/v1/notes/reprocess", id: "reprocess-notes", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "note.reprocess_all", target: "note"},
			summary:     "Process all notes since a date again",
			description: "Notes that are still being processed are skipped.",
			status:      http.StatusAccepted, body: required[reprocessRequest](), handler: run(n.reprocessNotes),
		},
		{
			method: http.MethodGet, path: "/api/v1/notes/events", id: "note-events", scope: tarsy.ScopeRead,
			errors:      []tarsy.Code{tarsy.CodeTooManyStreams, tarsy.CodeNotAcceptable},
			summary:     "Watch notes as server-sent events",
			description: "All events about notes, entities, projects and review items. The stream does not end.",
			parameters:  positionParams(), answer: eventStream(), stream: true, handler: plain(later(&n.events)),
		},
		{
			method: http.MethodGet, path: "/api/v1/review", id: "list-review-items", scope: tarsy.ScopeRead,
			summary:     "List review items",
			description: "Newest first; if only open items are selected, oldest first.",
			handler:     run(n.listReviewItems),
		},
		{
			method: http.MethodGet, path: "/api/v1/review/{id}", id: "get-review-item", scope: tarsy.ScopeRead,
			summary: "Show a review item",
			handler: run(n.getReviewItem),
		},
		{
			method: http.MethodPost, path: "/api/v1/review/{id}/resolve", id: "resolve-review-item", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "review.resolve", target: "review_item"},
			errors:      []tarsy.Code{tarsy.CodeReviewResolved, tarsy.CodeConflict, tarsy.CodeNameTaken},
			summary:     "Decide a review item",
			description: "Of concurrent decisions the first one wins; the others get 409 review_resolved. The decision can be undone for an hour.",
			body:        required[resolveRequest](), handler: run(n.resolveReviewItem),
		},
		{
			method: http.MethodPost, path: "/api/v1/review/{id}/undo", id: "undo-review-item", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "review.undo", target: "review_item"},
			errors:      []tarsy.Code{tarsy.CodeUndoExpired, tarsy.CodeUndoConflict, tarsy.CodeConflict},
			summary:     "Undo the decision about a review item",
			description: "Reopens the item and restores what the decision changed, unless it was changed since. Possible for an hour.",
			body:        optional[nothing](), handler: run(n.undoReviewItem),
		},
		{
			method: http.MethodPost, path: "/api/v1/review/bulk", id: "resolve-review-items", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "review.resolve_many", target: "review_item"},
			summary:     "Decide many review items",
			description: "Items are decided and undone independently.",
			body:        required[bulkRequest](), handler: run(n.resolveReviewItems),
		},
	}
}
