package api

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/note"
	"tarsy.dev/tarsy/internal/people"
	"tarsy.dev/tarsy/internal/postgres"
	accountstore "tarsy.dev/tarsy/internal/postgres/account"
)

// system shows and changes the server itself.
type system struct {
	store          *postgres.DB
	accounts       *accountstore.Store
	people         *people.Desk
	jobs           *jobs.Queue
	notes          *note.Service
	info           Info
	system         System
	ready          func() error
	warnings       func() []Warning
	mcpServers     func() []MCPServerStatus
	reload         func(ctx context.Context, dryRun bool, author string) (ConfigReload, error)
	dailyBudgetUSD func() float64
	document       func() []byte
	logLevel       *slog.LevelVar
	clock          clockwork.Clock
	logger         *slog.Logger

	webSocket, mcp, metrics http.Handler
}

// operations returns the operations of the server itself.
func (s *system) operations() []operation {
	return []operation{
		{
			method: http.MethodGet, path: "/livez", id: "livez",
			summary: "Check whether the process responds",
			handler: run(getAlive),
		},
		{
			method: http.MethodGet, path: "/readyz", id: "readyz",
			summary: "Check whether the server accepts work",
			handler: run(s.getReady),
		},
		{
			method: http.MethodGet, path: "/health", id: "health", scope: tarsy.ScopeRead,
			summary: "Show the health of the server, with warnings",
			handler: run(s.getHealth),
		},
		{
			method: http.MethodGet, path: "/metrics", id: "metrics", scope: tarsy.ScopeRead,
			summary:     "Get metrics for Prometheus",
			description: "Metrics of this server and of the queue; docs/metrics.md lists the names.",
			answer:      &answer{description: "The text format of Prometheus", media: []string{"text/plain"}}, handler: plain(later(&s.metrics)),
		},
		{
			method: http.MethodGet, path: "/api/v1/system/warnings", id: "list-warnings", scope: tarsy.ScopeRead,
			summary: "List warnings",
			handler: run(s.listWarnings),
		},
		{
			method: http.MethodGet, path: "/api/v1/system/mcp-servers", id: "list-mcp-servers", scope: tarsy.ScopeRead,
			summary: "List the MCP servers that chains use, with their tools",
			handler: run(s.listMCPServers),
		},
		{
			method: http.MethodGet, path: "/api/v1/system/default-tools", id: "get-default-tools", scope: tarsy.ScopeRead,
			errors:  []tarsy.Code{tarsy.CodeUnknownAlertType, tarsy.CodeUnknownChain},
			summary: "List the tools that a chain, or the chain of an alert type, allows",
			handler: run(s.getDefaultTools),
		},
		{
			method: http.MethodGet, path: "/api/v1/system/providers", id: "list-providers", scope: tarsy.ScopeRead,
			summary: "List the LLM providers that chains use, the default one first",
			handler: run(s.listProviders),
		},
		{
			method: http.MethodGet, path: "/api/v1/system/config", id: "get-config", scope: tarsy.ScopeRead,
			summary: "List the values of the configuration and their origins",
			handler: run(s.getConfig),
		},
		{
			method: http.MethodGet, path: "/api/v1/system/log-level", id: "get-log-level", scope: tarsy.ScopeAdmin,
			summary: "Get the lowest level that this server logs",
			handler: run(s.getLogLevel),
		},
		{
			method: http.MethodPut, path: "/api/v1/system/log-level", id: "set-log-level", scope: tarsy.ScopeAdmin,
			audit:       auditAction{name: "log_level.set", target: "server"},
			summary:     "Set the lowest level that this server logs",
			description: "Applies to the server that responds, until it stops.",
			body:        required[LogLevel](), handler: run(s.setLogLevel),
		},
		{
			method: http.MethodPost, path: "/api/v1/system/config/reload", id: "reload-config", scope: tarsy.ScopeAdmin,
			audit:       auditAction{name: "config.reload", target: "server"},
			errors:      []tarsy.Code{tarsy.CodeConflict, tarsy.CodeInvalidConfiguration},
			summary:     "Reload the configuration files",
			description: "Applies to the server that responds. Invalid files change nothing. Running sessions keep the recipe that they started with.",
			handler:     run(s.reloadConfig),
		},
		{
			method: http.MethodGet, path: "/api/v1/system/diagnostics", id: "get-diagnostics", scope: tarsy.ScopeAdmin,
			summary:     "Get diagnostics for troubleshooting",
			description: "About the server that responds, except for the queue and the list of servers. `tarsy support-bundle` collects them.",
			handler:     run(s.getDiagnostics),
		},
		{
			method: http.MethodGet, path: "/api/v1/system/pauses", id: "list-pauses", scope: tarsy.ScopeRead,
			summary: "List pauses",
			handler: run(s.listPauses),
		},
		{
			method: http.MethodPut, path: "/api/v1/system/pauses/{kind}", id: "pause", scope: tarsy.ScopeAdmin,
			audit:   auditAction{name: "pause.set", target: "pause"},
			errors:  []tarsy.Code{tarsy.CodeNotFound},
			summary: "Pause intake or claiming on all servers",
			description: "intake refuses alerts, re-runs and webhooks with 503 intake_paused. claiming accepts and queues them: running sessions continue, " +
				"and cancellations work. The pause applies to all servers once 200 is returned. An existing pause is changed.",
			body: optional[pauseRequest](), handler: run(s.putPause),
		},
		{
			method: http.MethodDelete, path: "/api/v1/system/pauses/{kind}", id: "resume", scope: tarsy.ScopeAdmin,
			audit:       auditAction{name: "pause.end", target: "pause"},
			errors:      []tarsy.Code{tarsy.CodeNotFound},
			summary:     "Resume intake or claiming",
			description: "Resuming what is not paused has no effect.",
			status:      http.StatusNoContent, handler: run(s.deletePause),
		},
		{
			method: http.MethodGet, path: "/api/v1/usage/summary", id: "get-usage-summary", scope: tarsy.ScopeRead,
			summary:     "Summarize the usage of a period",
			description: "Tokens, their cost and tool calls: in total, by day (UTC), by kind (sessions and notes), by alert type of sessions, by model and by provider. Includes the daily budget.",
			handler:     run(s.getUsage),
		},
		{
			method: http.MethodGet, path: "/api/v1/quality", id: "get-quality", scope: tarsy.ScopeRead,
			summary:     "Summarize conclusions and their feedback",
			description: "Outcomes, ratings, time to the verdict and cost of the sessions that completed in a period of at most 366 days: in total, by day (UTC), and by chain, agent, model or alert type. Deleted sessions do not count.",
			handler:     run(s.getQuality),
		},
		{
			method: http.MethodGet, path: "/api/v1/audit", id: "list-audit", scope: tarsy.ScopeAdmin,
			summary: "List the audit log, newest first",
			description: "Each row contains the hash of the previous one, so changed or removed rows are detected: `tarsy audit verify` " +
				"reads the whole log with order=oldest and checks it.",
			handler: run(s.listAudit),
		},
		{
			method: http.MethodGet, path: "/api/v1/jobs", id: "list-jobs", scope: tarsy.ScopeRead,
			errors:      []tarsy.Code{tarsy.CodeQueueNotFound},
			summary:     "List background jobs and their queues",
			description: "Completed jobs are listed for a day, failed ones for a week.",
			handler:     run(s.listJobs),
		},
		{
			method: http.MethodPost, path: "/api/v1/jobs/{id}/retry", id: "retry-job", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "job.retry", target: "job"},
			errors:  []tarsy.Code{tarsy.CodeConflict},
			summary: "Retry a failed job, or one that waits for a retry, now",
			status:  http.StatusAccepted, body: optional[nothing](), handler: run(s.retryJob),
		},
		{
			method: http.MethodPost, path: "/api/v1/queues/{name}/pause", id: "pause-queue", scope: tarsy.ScopeAdmin,
			audit:       auditAction{name: "queue.pause", target: "queue"},
			summary:     "Pause a queue",
			description: "No more of its jobs start on any server until the queue is resumed. Jobs are still accepted, and running jobs continue.",
			body:        optional[nothing](), handler: run(s.pauseQueue),
		},
		{
			method: http.MethodPost, path: "/api/v1/queues/{name}/resume", id: "resume-queue", scope: tarsy.ScopeAdmin,
			audit:   auditAction{name: "queue.resume", target: "queue"},
			summary: "Resume a queue",
			body:    optional[nothing](), handler: run(s.resumeQueue),
		},
		{
			method: http.MethodPost, path: "/mcp", id: "mcp", scope: tarsy.ScopeRead,
			audit:   auditAction{name: "mcp.call", onlyDenied: true},
			summary: "Call tools over the Model Context Protocol",
			description: "Streamable HTTP without sessions: each message is answered independently, so there is nothing to GET or DELETE. " +
				"The tools have the permissions of the caller's key. A message that needs no response gets 202.",
			body: foreignBody("A JSON-RPC 2.0 message."), bodyLimit: mcpLimit,
			answer: &answer{description: "The response, after notifications of its progress", media: []string{"text/event-stream"}}, handler: plain(http.HandlerFunc(s.serveMCP)),
		},
		{
			method: http.MethodGet, path: "/api/v1/ws", id: "websocket", scope: tarsy.ScopeRead,
			errors:      []tarsy.Code{tarsy.CodeUpgradeRequired, tarsy.CodeTooManyStreams},
			summary:     "Watch sessions and notes over a WebSocket",
			description: "Subscribe to session:<id> for the journal of a session, to sessions for the feed of all sessions, and to notes for the journal of notes.",
			status:      http.StatusSwitchingProtocols, answer: &answer{description: "A WebSocket"}, stream: true, handler: plain(later(&s.webSocket)),
		},
		{
			method: http.MethodGet, path: "/api/v1/events/schema", id: "events-schema", scope: tarsy.ScopeRead,
			summary: "Get the JSON Schema of live events",
			answer:  &answer{description: "JSON Schema 2020-12", media: []string{jsonType}}, handler: plain(http.HandlerFunc(s.showEventSchema)),
		},
		{
			method: http.MethodGet, path: "/openapi.json", id: "openapi", scope: tarsy.ScopeRead,
			summary: "Get this document",
			answer:  &answer{description: "OpenAPI 3.1", media: []string{jsonType}}, handler: plain(http.HandlerFunc(s.showDocument)),
		},
	}
}
