package api

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/limit"
	accountstore "tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/requestid"
)

const (
	// denialsPerCaller is how many denied requests of one caller are recorded per minute. Rows are never deleted, and a program can
	// repeat a forbidden request all day.
	denialsPerCaller = 30
	// auditTimeout is how long a response waits for its row in the audit log.
	auditTimeout = 10 * time.Second
)

// auditor records requests in the audit log.
type auditor struct {
	store    *accountstore.Store
	guard    *guard
	mask     func(string) string
	serverID string
	denials  *limit.Rate
	clock    clockwork.Clock
	logger   *slog.Logger
}

// auditNotes collects what the audit log records about a request.
type auditNotes struct {
	// action is the operation's action, and target the id in its path.
	action auditAction
	target string
	// actor is set if it differs from the caller: a login creates one.
	actor *caller
	// decision is the decision of a permitted request; nil if its operation is only recorded when denied.
	decision *audit.Decision
	// recorded reports that the handler records the request itself.
	recorded bool
}

// auditRecord writes the row of a request that changed nothing in the database or was denied, before its response begins. All other
// rows are written in the transactions of their changes.
type auditRecord struct {
	http.ResponseWriter

	log   *auditor
	r     *http.Request
	who   *caller
	begun bool
	// whole reports that the handler has returned.
	whole bool
}

// audited returns the writer for the response to a request. The record is nil for operations that change nothing.
func (l *auditor) audited(w http.ResponseWriter, r *http.Request, found route, who *caller) (http.ResponseWriter, *auditRecord) {
	if found.audit.name == "" {
		return w, nil
	}

	who.audit.action, who.audit.target = found.audit, pathParameter(found.path, r.URL.EscapedPath())
	record := &auditRecord{ResponseWriter: w, log: l, r: r, who: who}

	return record, record
}

// decide returns a context that carries the request's decision.
func (l *auditor) decide(ctx context.Context, who *caller) context.Context {
	if who.audit.action.name == "" || who.audit.action.onlyDenied {
		return ctx
	}

	ctx, who.audit.decision = audit.Decide(ctx, func(target string, details map[string]string) tarsy.AuditEntry {
		return l.entry(ctx, who, tarsy.AuditOK, target, details)
	})

	return ctx
}

// pathParameter returns the value of a pattern's last parameter in a path; empty if the pattern has none.
func pathParameter(pattern, escaped string) string {
	value := ""
	parts := strings.Split(escaped, "/")

	for i, part := range strings.Split(pattern, "/") {
		if strings.HasPrefix(part, "{") && i < len(parts) {
			value = parts[i]
		}
	}

	if plain, err := url.PathUnescape(value); err == nil {
		return plain
	}

	return value
}

// WriteHeader implements http.ResponseWriter.
func (a *auditRecord) WriteHeader(status int) {
	a.begin(status)
	a.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (a *auditRecord) Write(text []byte) (int, error) {
	a.begin(http.StatusOK)

	return a.ResponseWriter.Write(text)
}

// Unwrap gives http.ResponseController the underlying writer, which carries the time limits for reading the body.
func (a *auditRecord) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// answered records that the handler has returned.
func (a *auditRecord) answered() {
	if a != nil {
		a.whole = true
	}
}

// finish records a request whose handler wrote nothing, or panicked before writing.
func (a *auditRecord) finish() {
	switch {
	case a == nil:
	case a.whole:
		a.begin(http.StatusOK)
	default:
		a.begin(http.StatusInternalServerError)
	}
}

// begin writes the row, once. Requests that were refused before they could change anything get no row unless they were denied. Denials
// are limited per caller, and unauthenticated callers get no rows, since anyone could fill the log with them.
func (a *auditRecord) begin(status int) {
	notes := &a.who.audit
	if a.begun || notes.recorded {
		return
	}

	a.begun = true
	denied := status == http.StatusForbidden
	decision := notes.decision
	outcome := tarsy.AuditOK

	switch {
	case decision.Stored(), decision.Settled() && status < http.StatusBadRequest:
		return
	case denied && a.who.known():
		_, ok := a.log.denials.Allow(a.who.denialName(), a.log.clock.Now())
		if !ok {
			return
		}

		outcome = string(a.who.refused)
	case denied, notes.action.onlyDenied, status >= http.StatusBadRequest && status < http.StatusInternalServerError:
		return
	case status >= http.StatusInternalServerError:
		outcome = string(tarsy.CodeInternal)
		if a.who.refused != "" {
			outcome = string(a.who.refused)
		}
	}

	entry := a.log.entry(a.r.Context(), a.who, outcome, "", nil)
	if decision != nil {
		entry = decision.Row()
		entry.Outcome = outcome
	}

	a.log.record(a.r.Context(), entry)
}

// denialName returns the name under which a caller's denials are counted.
func (c *caller) denialName() string {
	if c.hasLogin() {
		return c.identity()
	}

	return c.author
}

// record appends the row of a request that changed nothing in the database. If that fails, the server log has the row.
func (l *auditor) record(ctx context.Context, entry tarsy.AuditEntry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()

	err := l.store.AppendAudit(ctx, entry)
	if err != nil {
		l.logger.ErrorContext(ctx, "could not append to the audit log", "error", err, "action", entry.Action, "actor", entry.Actor,
			"actor_kind", entry.ActorKind, "key_id", entry.KeyID, "target_type", entry.TargetType, "target_id", entry.TargetID,
			"remote", entry.Remote, "outcome", entry.Outcome)
	}
}

// entry builds the row of a request, without its place in the log. The target defaults to the one in the path.
func (l *auditor) entry(ctx context.Context, who *caller, outcome, target string, details map[string]string) tarsy.AuditEntry {
	notes := who.audit

	actor := who
	if notes.actor != nil {
		actor = notes.actor
	}

	entry := tarsy.AuditEntry{
		At: l.clock.Now(), Actor: actor.author, ActorKind: actor.kind(), Role: l.guard.role(actor), Action: notes.action.name,
		TargetType: notes.action.target, TargetID: l.mask(cmp.Or(target, notes.target)), RequestID: requestid.From(ctx), Remote: who.remote.address, Outcome: outcome,
		Details: map[string]string{},
	}

	if actor.key != nil {
		entry.KeyID, entry.KeyPrefix = actor.key.ID, actor.key.Prefix
	}

	if entry.TargetType == "key" && entry.TargetID == "" {
		entry.TargetID = entry.KeyID
	}

	if user := actor.user(); user != nil && (entry.TargetType == userTarget || entry.TargetType == "key" && entry.TargetID == "") {
		entry.TargetType, entry.TargetID = userTarget, l.mask(user.Subject)
	}

	if entry.TargetType == "server" {
		entry.TargetID = l.serverID
	}

	for name, value := range details {
		entry.Details[name] = l.mask(value)
	}

	return entry
}

// kind returns how the caller authenticated.
func (c *caller) kind() tarsy.ActorKind {
	switch {
	case c.user() != nil:
		return tarsy.ActorOIDC
	case c.browser != nil:
		return tarsy.ActorBrowser
	case c.key != nil:
		return tarsy.ActorKey
	case c.named:
		return tarsy.ActorProxy
	default:
		return tarsy.ActorAnonymous
	}
}

// role returns the highest role of a caller.
func (g *guard) role(who *caller) tarsy.AccessRole {
	switch {
	case !g.required:
		return tarsy.RoleAdmin
	case who.key == nil:
		return who.role
	}

	for _, scope := range slices.Backward(auth.Scopes()) {
		if auth.Allows(who.key.Scopes, scope) {
			return scope.Role()
		}
	}

	return ""
}
