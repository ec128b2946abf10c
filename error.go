package tarsy

import (
	"errors"
	"fmt"
	"time"
)

// Code is a stable name for an error; clients can rely on it.
type Code string

// The codes of errors that users see. internal/problem maps each to one HTTP status.
const (
	CodeInvalidRequest       Code = "invalid_request"
	CodeInvalidJSON          Code = "invalid_json"
	CodeUnknownField         Code = "unknown_field"
	CodeMissingField         Code = "missing_field"
	CodeInvalidField         Code = "invalid_field"
	CodeEmptyAlert           Code = "empty_alert"
	CodeUnknownAlertType     Code = "unknown_alert_type"
	CodeUnknownChain         Code = "unknown_chain"
	CodeUnknownLLMProvider   Code = "unknown_llm_provider"
	CodeUnknownMCPServer     Code = "unknown_mcp_server"
	CodeMCPServerNotAllowed  Code = "mcp_server_not_allowed"
	CodeUnknownTool          Code = "unknown_tool"
	CodeToolNotAllowed       Code = "tool_not_allowed"
	CodeInvalidCursor        Code = "invalid_cursor"
	CodeInvalidParameter     Code = "invalid_parameter"
	CodeUnauthenticated      Code = "unauthenticated"
	CodeForbidden            Code = "forbidden"
	CodeForbiddenOrigin      Code = "forbidden_origin"
	CodeCSRFFailed           Code = "csrf_failed"
	CodeLoginFailed          Code = "login_failed"
	CodeLoginExpired         Code = "login_expired"
	CodeLoginDenied          Code = "login_denied"
	CodeNoRole               Code = "no_role"
	CodeOIDCUnavailable      Code = "oidc_unavailable"
	CodeNotFound             Code = "not_found"
	CodeSessionNotFound      Code = "session_not_found"
	CodeEventNotFound        Code = "event_not_found"
	CodeKeyNotFound          Code = "key_not_found"
	CodeNoteNotFound         Code = "note_not_found"
	CodeEntityNotFound       Code = "entity_not_found"
	CodeProjectNotFound      Code = "project_not_found"
	CodeEpicNotFound         Code = "epic_not_found"
	CodeTagNotFound          Code = "tag_not_found"
	CodeReviewNotFound       Code = "review_not_found"
	CodeFeedbackNotFound     Code = "feedback_not_found"
	CodeApprovalNotFound     Code = "approval_not_found"
	CodeShareNotFound        Code = "share_not_found"
	CodeJobNotFound          Code = "job_not_found"
	CodeQueueNotFound        Code = "queue_not_found"
	CodeMethodNotAllowed     Code = "method_not_allowed"
	CodeNotAcceptable        Code = "not_acceptable"
	CodeConflict             Code = "conflict"
	CodeSessionNotRunning    Code = "session_not_cancellable"
	CodeSessionNotOver       Code = "session_not_finished"
	CodeInvalidConfiguration Code = "invalid_configuration"
	CodeApprovalNotOpen      Code = "approval_not_open"
	CodeIdempotencyConflict  Code = "idempotency_conflict"
	CodeNameTaken            Code = "name_taken"
	CodeReviewResolved       Code = "review_resolved"
	CodeUndoExpired          Code = "undo_expired"
	CodeUndoConflict         Code = "undo_conflict"
	CodeChangedMeanwhile     Code = "changed_meanwhile"
	CodeMissingIfMatch       Code = "missing_if_match"
	CodeChatBusy             Code = "chat_busy"
	CodeChatDisabled         Code = "chat_disabled"
	CodeInteractionNotFound  Code = "interaction_not_found"
	CodeTooLarge             Code = "payload_too_large"
	CodeUnsupportedMedia     Code = "unsupported_media_type"
	CodeTooManyRequests      Code = "too_many_requests"
	CodeTooManyStreams       Code = "too_many_streams"
	CodeUpgradeRequired      Code = "upgrade_required"
	CodeOverloaded           Code = "overloaded"
	CodeIntakePaused         Code = "intake_paused"
	CodeShuttingDown         Code = "shutting_down"
	CodeUnavailable          Code = "unavailable"
	CodeQueryTimeout         Code = "query_timeout"
	CodeInternal             Code = "internal"
)

// Error is an error whose message is written for the user who sees it.
type Error struct {
	// Decides the HTTP status; see internal/problem.
	Code Code
	// Shown to the user: what happened, then what to do about it.
	Message string
	// Path of the request field, parameter or header that was wrong; empty if none was.
	Field string
	// How long the client should wait before retrying; zero means the default. Used for codes that map to 429 and 503.
	RetryAfter time.Duration
	// Underlying cause for logs, never shown to users. Nil if there is none.
	Err error
}

// Error implements error.
func (e *Error) Error() string {
	if e.Err != nil {
		return e.Message + ": " + e.Err.Error()
	}

	return e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an Error with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// FieldErrorf returns an Error about one field of a request.
func FieldErrorf(code Code, field, format string, args ...any) *Error {
	return &Error{Code: code, Field: field, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of the first Error in err's chain, or CodeInternal.
func CodeOf(err error) Code {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}

	return CodeInternal
}
