package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// sessions shows, cancels, re-runs and deletes sessions.
type sessions struct {
	store  *postgres.DB
	intake Intake
	teams  *teamCheck
	public public
	events http.Handler
	// export is the store's; a test replaces it by one that fails midway.
	export func(ctx context.Context, id string) (*tarsy.Export, error)
	logger *slog.Logger
}

// operations returns the operations of sessions.
func (s *sessions) operations() []operation {
	return []operation{
		{
			method: http.MethodGet, path: "/api/v1/sessions", id: "list-sessions", scope: tarsy.ScopeRead,
			summary: "List sessions",
			handler: run(s.listSessions),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}", id: "get-session", scope: tarsy.ScopeRead,
			summary: "Show a session with its stages",
			handler: run(s.getSession),
		},
		{
			method: http.MethodPost, path: "/api/v1/sessions/{id}/cancel", id: "cancel-session", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "session.cancel", target: "session"},
			errors:      []tarsy.Code{tarsy.CodeSessionNotRunning},
			summary:     "Cancel a session",
			description: "Cancels the investigation or, if the session has ended, the answer to a question. The request is durable once 202 is returned. Cancelling twice has no further effect.",
			status:      http.StatusAccepted, body: optional[nothing](), handler: run(s.cancelSession),
		},
		{
			method: http.MethodPost, path: "/api/v1/sessions/cancel", id: "cancel-sessions", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "session.cancel_many", target: "session"},
			summary: "Cancel several sessions",
			description: "Requests the cancellation of sessions by id or by filter. A filter considers only active sessions, at most 10,000 at a time. " +
				"The requests are durable once 202 is returned. With dry_run nothing is changed.",
			status: http.StatusAccepted, body: required[cancelManyRequest](), handler: run(s.cancelSessions),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/active", id: "list-active-sessions", scope: tarsy.ScopeRead,
			summary:     "List active sessions",
			description: fmt.Sprintf("Up to %d running sessions, newest first, and as many waiting ones, next one first, with the number of each.", maxLimit),
			handler:     run(s.listActive),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/filter-options", id: "list-filter-options", scope: tarsy.ScopeRead,
			summary: "List values to filter sessions by",
			handler: run(s.listFilterOptions),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/status", id: "get-session-status", scope: tarsy.ScopeRead,
			summary: "Show the progress of a session",
			handler: run(s.getProgress),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/summary", id: "get-session-summary", scope: tarsy.ScopeRead,
			summary: "Show the result of a session",
			handler: run(s.getSummary),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/timeline", id: "get-timeline", scope: tarsy.ScopeRead,
			summary: "Show a session's timeline",
			handler: run(s.getTimeline),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/timeline/{event_id}", id: "get-timeline-event", scope: tarsy.ScopeRead,
			errors:  []tarsy.Code{tarsy.CodeEventNotFound},
			summary: "Show a timeline event in full",
			handler: run(s.getTimelineEvent),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/events", id: "session-events", scope: tarsy.ScopeRead,
			errors:     []tarsy.Code{tarsy.CodeTooManyStreams, tarsy.CodeNotAcceptable},
			summary:    "Watch a session as server-sent events",
			parameters: eventsParams(), answer: eventStream(), stream: true, handler: plain(later(&s.events)),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/trace", id: "get-trace", scope: tarsy.ScopeRead,
			summary: "List a session's LLM and MCP calls",
			description: "By stage and execution, with token usage. The operations for single calls return the texts. " +
				"Stages, executions and usage are complete on every page.",
			handler: run(s.getTrace),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/trace/llm/{interaction_id}", id: "get-llm-interaction", scope: tarsy.ScopeRead,
			summary:     "Show an LLM call in full",
			description: "With the conversation as the model saw it, and its response.",
			handler:     run(s.getLLMInteraction),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/trace/mcp/{interaction_id}", id: "get-mcp-interaction", scope: tarsy.ScopeRead,
			summary: "Show an MCP call in full",
			handler: run(s.getMCPInteraction),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/export", id: "export-session", scope: tarsy.ScopeRead,
			summary: "Export a session as a file",
			handler: run(s.exportSession),
			answer:  &answer{of: reflect.TypeFor[tarsy.Export](), media: []string{jsonType, "text/markdown"}},
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/similar", id: "list-similar-sessions", scope: tarsy.ScopeRead,
			summary:     "List similar past sessions",
			description: "Finished sessions: those of the same alert, then those with similar labels, then those with similar text, each newest first.",
			handler:     run(s.listSimilar),
		},
		{
			method: http.MethodPost, path: "/api/v1/sessions/{id}/rerun", id: "rerun-session", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "session.rerun", target: "session"},
			errors:  submitErrors(),
			summary: "Investigate a session's alert again",
			description: "Stores a new pending session with the same alert, as it was stored, and the caller as its author. " +
				"An optional body selects another chain, LLM provider or selection of tools. " +
				"It is durable once 202 is returned; the old session does not change. " +
				"GET /api/v1/alert-types lists the chains, /api/v1/system/providers?for=reruns the providers, and /api/v1/system/default-tools?chain_id= the tools of a chain.",
			status: http.StatusAccepted, body: optional[rerunRequest](), handler: run(s.rerunSession),
		},
		{
			method: http.MethodDelete, path: "/api/v1/sessions/{id}", id: "delete-session", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "session.delete", target: "session"},
			errors:      []tarsy.Code{tarsy.CodeConflict},
			summary:     "Delete a finished session",
			description: "The session disappears everywhere immediately, like one whose retention period has ended.",
			status:      http.StatusNoContent, handler: run(s.deleteSession),
		},
	}
}
