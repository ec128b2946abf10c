package api

import (
	"log/slog"
	"net/http"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/people"
	"tarsy.dev/tarsy/internal/postgres"
)

// desk handles what users do with sessions: questions, approvals, handling, feedback and shares.
type desk struct {
	store    *postgres.DB
	intake   Intake
	people   *people.Desk
	teams    *teamCheck
	public   public
	attempts *attempts
	clock    clockwork.Clock
	logger   *slog.Logger
}

// operations returns the operations that users perform on sessions.
func (d *desk) operations() []operation {
	return []operation{
		{
			method: http.MethodPost, path: "/api/v1/sessions/{id}/chat/messages", id: "ask", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "session.ask", target: "session"},
			errors:  []tarsy.Code{tarsy.CodeChatBusy, tarsy.CodeChatDisabled, tarsy.CodeConflict, tarsy.CodeSessionNotOver},
			summary: "Ask a question about a finished session",
			description: "The question is durable once 202 is returned; its answer appears in the session's journal and timeline. " +
				"A session answers one question at a time, and only if its chain has a chat. Cancelling the session cancels the answer.",
			status: http.StatusAccepted, body: required[questionRequest](), handler: run(d.ask),
		},
		{
			method: http.MethodGet, path: "/api/v1/approvals", id: "list-approvals", scope: tarsy.ScopeRead,
			summary: "List approvals of tool calls",
			description: "By default calls that wait: open requests, the next to expire first, at most 500. With status=decided, pages of requests that no " +
				"longer wait, the last one first. What the agent wrote and the arguments are untrusted text.",
			handler: run(d.listApprovals),
		},
		{
			method: http.MethodGet, path: "/api/v1/approvals/{id}", id: "get-approval", scope: tarsy.ScopeRead,
			summary:     "Show an approval, decided or not",
			description: "With what people decided about earlier calls of the same tool in sessions that the caller can see.",
			handler:     run(d.getApproval),
		},
		{
			method: http.MethodPost, path: "/api/v1/approvals/{id}/approve", id: "approve", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "approval.approve", target: "approval"},
			errors:  []tarsy.Code{tarsy.CodeApprovalNotOpen},
			summary: "Approve a tool call",
			description: "The call is made once, with exactly the arguments that are shown or that the body sets. The decision is durable once 202 is returned, and the first " +
				"one counts: later ones get 409 approval_not_open. Arguments that contain a secret are refused.",
			status: http.StatusAccepted, body: optional[approveRequest](), handler: run(d.approve),
		},
		{
			method: http.MethodPost, path: "/api/v1/approvals/{id}/reject", id: "reject", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "approval.reject", target: "approval"},
			errors:      []tarsy.Code{tarsy.CodeApprovalNotOpen},
			summary:     "Reject a tool call",
			description: "The agent gets the reason and continues without the call. The decision is durable once 202 is returned, and the first one counts.",
			status:      http.StatusAccepted, body: required[rejectRequest](), handler: run(d.reject),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/handling", id: "get-handling", scope: tarsy.ScopeRead,
			summary:     "Show the handling of a session",
			description: "A session that nobody has handled is open and has version 0.",
			handler:     run(d.getHandling),
		},
		{
			method: http.MethodPatch, path: "/api/v1/sessions/{id}/handling", id: "handle-session", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "session.handle", target: "session"},
			errors:  []tarsy.Code{tarsy.CodeConflict},
			summary: "Acknowledge, resolve, reopen, assign or tag a session",
			description: "The investigation is not affected: a running session can be resolved and continues to run. Repeating a change has no effect. " +
				"Without If-Match, the last change of each field wins, and concurrent changes of tags are merged.",
			body: required[handlingRequest](), handler: run(d.handleSession),
		},
		{
			method: http.MethodPost, path: "/api/v1/sessions/handling", id: "handle-sessions", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "session.handle_many", target: "session"},
			summary:     "Acknowledge, resolve, reopen, assign or tag many sessions",
			description: "Applies the same change to up to 500 sessions. Each session is changed independently.",
			body:        required[handlingBulkRequest](), handler: run(d.handleSessions),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/feedback", id: "list-feedback", scope: tarsy.ScopeRead,
			summary: "List the feedback on a session",
			handler: run(d.listFeedback),
		},
		{
			method: http.MethodPut, path: "/api/v1/sessions/{id}/feedback", id: "give-feedback", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "feedback.give", target: "session"},
			errors:      []tarsy.Code{tarsy.CodeSessionNotOver},
			summary:     "Give feedback on a finished session",
			description: "The author is the caller. Each author has one rating per session: giving feedback again replaces it.",
			body:        required[feedbackRequest](), handler: run(d.giveFeedback),
		},
		{
			method: http.MethodDelete, path: "/api/v1/sessions/{id}/feedback", id: "withdraw-feedback", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "feedback.withdraw", target: "session"},
			errors:  []tarsy.Code{tarsy.CodeFeedbackNotFound},
			summary: "Withdraw your feedback on a session",
			status:  http.StatusNoContent, handler: run(d.withdrawFeedback),
		},
		{
			method: http.MethodPost, path: "/api/v1/sessions/{id}/shares", id: "share-session", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "share.create", target: "session"},
			errors:      []tarsy.Code{tarsy.CodeConflict},
			summary:     "Create a read-only link to a session",
			description: "Anyone with the link can read the conclusion and the timeline of this session without a login, until the link expires. The secret is returned only here.",
			status:      http.StatusCreated, body: optional[shareRequest](), handler: run(d.createShare),
		},
		{
			method: http.MethodGet, path: "/api/v1/sessions/{id}/shares", id: "list-shares", scope: tarsy.ScopeRead,
			summary: "List the shares of a session, without their secrets",
			handler: run(d.listShares),
		},
		{
			method: http.MethodDelete, path: "/api/v1/sessions/{id}/shares/{share_id}", id: "revoke-share", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "share.revoke", target: "session"},
			summary:     "Revoke a share",
			description: "Its link stops working immediately.",
			handler:     run(d.revokeShare),
		},
		{
			method: http.MethodGet, path: "/api/v1/shared", id: "get-shared",
			errors:  []tarsy.Code{tarsy.CodeShareNotFound},
			summary: "Read a shared session",
			description: "Send the secret of a share as \"Authorization: Bearer tarsyshare_…\". Expired, revoked and unknown shares and those of a deleted " +
				"session get the same response. Attempts are limited like logins.",
			handler: run(d.getShared),
		},
	}
}
