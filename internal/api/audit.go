package api

import (
	"context"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/requestid"
)

const (
	// denialsPerCaller is how many denied requests of one caller are recorded per minute. Rows stay forever, and a program may repeat
	// what it may not do all day.
	denialsPerCaller = 30
	// auditTimeout is how long an answer waits for its row in the audit log.
	auditTimeout = 10 * time.Second
)

// AuditLog is where it is kept who did what.
type AuditLog interface {
	AppendAudit(ctx context.Context, entry tarsy.AuditEntry) error
	Audit(ctx context.Context, filter tarsy.AuditFilter) ([]tarsy.AuditEntry, error)
}

// auditNotes is what handlers add to the row of their request.
type auditNotes struct {
	// action is the operation's.
	action auditAction
	// target is the id of what was changed, where neither path nor Location has it.
	target  string
	details map[string]string
	// actor is who acted, if it is not the caller: a login makes one.
	actor *caller
	// recorded tells that there is a row already, or that nothing was changed.
	recorded bool
}

// add adds a detail. Values are chosen by the server or masked.
func (n *auditNotes) add(name, value string) {
	if n.details == nil {
		n.details = map[string]string{}
	}

	n.details[name] = value
}

// auditRecord writes the row of one request before its answer begins: whoever reads that something was done finds the row. The change is
// committed by then, but for keys, whose rows are part of the same transaction.
type auditRecord struct {
	http.ResponseWriter

	server *Server
	r      *http.Request
	who    *caller
	begun  bool
	// whole tells that the handler has returned.
	whole bool
}

// audited returns where the answer to a request is to be written. The record is nil for operations that change nothing.
func (s *Server) audited(w http.ResponseWriter, r *http.Request, found route, who *caller) (http.ResponseWriter, *auditRecord) {
	if found.action == nil {
		return w, nil
	}

	who.audit.action, who.audit.target = *found.action, pathParameter(found.path, r.URL.EscapedPath())
	record := &auditRecord{ResponseWriter: w, server: s, r: r, who: who}

	return record, record
}

// pathParameter is the value of the last parameter of a pattern in a path; empty if the pattern has none.
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

// Unwrap gives http.ResponseController what is below: the reading of a body has its time limits there.
func (a *auditRecord) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// answered tells that the handler has returned.
func (a *auditRecord) answered() {
	if a != nil {
		a.whole = true
	}
}

// finish records a request whose handler wrote nothing, or panicked before it did.
func (a *auditRecord) finish() {
	switch {
	case a == nil:
	case a.whole:
		a.begin(http.StatusOK)
	default:
		a.begin(http.StatusInternalServerError)
	}
}

// begin writes the row, once. Requests that were refused before they could change anything have none, unless they were denied: those are
// bounded per caller, and strangers have none, since anybody could fill the log with them.
func (a *auditRecord) begin(status int) {
	notes := &a.who.audit
	if a.begun || notes.recorded {
		return
	}

	a.begun = true
	denied := status == http.StatusForbidden
	outcome := tarsy.AuditOK

	switch {
	case denied && a.who.known():
		_, ok := a.server.denials.Allow(a.who.denialName(), a.server.clock.Now())
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

	a.note(status)
	a.server.record(a.r.Context(), a.server.auditEntry(a.r.Context(), a.who, outcome))
}

// note takes from the answer what it says about the target.
func (a *auditRecord) note(status int) {
	location := a.Header().Get("Location")
	if location == "" || status >= http.StatusBadRequest {
		return
	}

	created, err := url.PathUnescape(path.Base(location))
	if err != nil {
		return
	}

	if a.who.audit.action.creates {
		a.who.audit.target = created
	} else {
		a.who.audit.add("created", created)
	}
}

// denialName is what the denials of a caller are counted by.
func (c *caller) denialName() string {
	if c.hasLogin() {
		return c.identity()
	}

	return c.author
}

// record appends a row. If that fails the change has been made all the same, so the answer stands, and the log has the row.
func (s *Server) record(ctx context.Context, entry tarsy.AuditEntry) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()

	err := s.store.AppendAudit(ctx, entry)
	if err != nil {
		s.logger.ErrorContext(ctx, "could not append to the audit log", "error", err, "action", entry.Action, "actor", entry.Actor,
			"actor_kind", entry.ActorKind, "key_id", entry.KeyID, "target_type", entry.TargetType, "target_id", entry.TargetID,
			"remote", entry.Remote, "outcome", entry.Outcome)
	}
}

// auditEntry is the row of a request, without its place in the log.
func (s *Server) auditEntry(ctx context.Context, who *caller, outcome string) tarsy.AuditEntry {
	notes := who.audit

	actor := who
	if notes.actor != nil {
		actor = notes.actor
	}

	entry := tarsy.AuditEntry{
		At: s.clock.Now(), Actor: actor.author, ActorKind: actor.kind(), Role: s.guard.role(actor), Action: notes.action.name,
		TargetType: notes.action.target, TargetID: s.mask(notes.target), RequestID: requestid.From(ctx), Remote: who.remote.address, Outcome: outcome,
		Details: map[string]string{},
	}

	if actor.key != nil {
		entry.KeyID, entry.KeyPrefix = actor.key.ID, actor.key.Prefix
	}

	if entry.TargetType == "key" && entry.TargetID == "" {
		entry.TargetID = entry.KeyID
	}

	if user := actor.user(); user != nil && (entry.TargetType == userTarget || entry.TargetType == "key" && entry.TargetID == "") {
		entry.TargetType, entry.TargetID = userTarget, s.mask(user.Subject)
	}

	if entry.TargetType == "server" {
		entry.TargetID = s.info.ServerID
	}

	for name, value := range notes.details {
		entry.Details[name] = s.mask(value)
	}

	return entry
}

// kind is how the caller proved who it is.
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

// role is what a caller may do at most.
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
