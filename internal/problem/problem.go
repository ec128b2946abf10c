// Package problem converts errors to responses of the server: RFC 9457 bodies with a stable code. It is the only place that
// maps codes to HTTP. Internal details are logged under an ID, and only the ID is sent.
package problem

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"strconv"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/requestid"
)

// MediaType is the Content-Type of a problem.
const MediaType = "application/problem+json"

const (
	urn = "urn:tarsy:problem:"
	// retryAfter is the default number of seconds after which a client should retry after a 429 or 503.
	retryAfter = 5
)

// Problem is the body of every error: RFC 9457 with the code, and the invalid part of the request.
type Problem struct { //nolint:errname // RFC 9457 calls it a problem
	Type     string     `doc:"A URN made of the code."                                                 json:"type"`
	Title    string     `doc:"The kind of problem in a few words, the same for every problem of a code." json:"title"`
	Status   int        `doc:"The HTTP status."                                                        json:"status"`
	Detail   string     `doc:"What was wrong, and what would be right."                                json:"detail"`
	Instance string     `doc:"Names this one error in the server's log."                               json:"instance,omitempty"`
	Code     tarsy.Code `doc:"A stable name of the problem for programs."                              json:"code"`
	Field    string     `doc:"The field, parameter or header that was wrong."                          json:"field,omitempty"`
	// RequestID is empty outside of HTTP requests.
	RequestID string `doc:"The X-Request-ID of the answer, which is in the server's log." json:"request_id,omitempty"`

	// Allow lists the allowed methods for a 405.
	Allow string `json:"-"`
	// RetryAfter is the number of seconds after which to retry after a 429 or 503; 0 means the default.
	RetryAfter int `json:"-"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// GetStatus returns the HTTP status; it implements an interface of huma.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType returns the media type; it implements an interface of huma.
func (p *Problem) ContentType(string) string { return MediaType }

// GetHeaders returns the headers that HTTP requires for the status.
func (p *Problem) GetHeaders() http.Header {
	header := http.Header{}

	switch p.Status {
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", `Bearer realm="tarsy"`)
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		header.Set("Retry-After", strconv.Itoa(cmp.Or(p.RetryAfter, retryAfter)))
	case http.StatusMethodNotAllowed:
		header.Set("Allow", p.Allow)
	}

	return header
}

// Kind has the properties of all problems with one code.
type Kind struct {
	Code   tarsy.Code
	Status int
	Title  string
}

// Kinds maps codes to HTTP.
func Kinds() []Kind {
	return []Kind{
		{tarsy.CodeInvalidRequest, http.StatusBadRequest, "The request is not valid"},
		{tarsy.CodeInvalidJSON, http.StatusBadRequest, "The body is not valid JSON"},
		{tarsy.CodeUnknownField, http.StatusBadRequest, "A field is not known"},
		{tarsy.CodeMissingField, http.StatusBadRequest, "A field is missing"},
		{tarsy.CodeInvalidField, http.StatusBadRequest, "A field has a wrong value"},
		{tarsy.CodeEmptyAlert, http.StatusBadRequest, "The alert has no content"},
		{tarsy.CodeUnknownAlertType, http.StatusBadRequest, "The alert type is not known"},
		{tarsy.CodeUnknownChain, http.StatusBadRequest, "The chain is not known"},
		{tarsy.CodeUnknownLLMProvider, http.StatusBadRequest, "The LLM provider is not known"},
		{tarsy.CodeUnknownMCPServer, http.StatusBadRequest, "The MCP server is not known"},
		{tarsy.CodeMCPServerNotAllowed, http.StatusBadRequest, "The chain does not allow the MCP server"},
		{tarsy.CodeUnknownTool, http.StatusBadRequest, "The MCP server does not offer the tool"},
		{tarsy.CodeToolNotAllowed, http.StatusBadRequest, "The chain does not allow the tool"},
		{tarsy.CodeInvalidCursor, http.StatusBadRequest, "The cursor is not valid"},
		{tarsy.CodeInvalidParameter, http.StatusBadRequest, "A parameter is not valid"},
		{tarsy.CodeUnauthenticated, http.StatusUnauthorized, "An API key is needed"},
		{tarsy.CodeForbidden, http.StatusForbidden, "The API key is not allowed to do this"},
		{tarsy.CodeForbiddenOrigin, http.StatusForbidden, "This origin is not allowed"},
		{tarsy.CodeCSRFFailed, http.StatusForbidden, "The request does not carry the page's token"},
		{tarsy.CodeLoginFailed, http.StatusUnauthorized, "The login failed"},
		{tarsy.CodeLoginExpired, http.StatusUnauthorized, "The login took too long"},
		{tarsy.CodeLoginDenied, http.StatusForbidden, "The login was denied"},
		{tarsy.CodeNoRole, http.StatusForbidden, "The user has no role"},
		{tarsy.CodeNotFound, http.StatusNotFound, "There is nothing at this address"},
		{tarsy.CodeSessionNotFound, http.StatusNotFound, "There is no such session"},
		{tarsy.CodeEventNotFound, http.StatusNotFound, "There is no such timeline event"},
		{tarsy.CodeInteractionNotFound, http.StatusNotFound, "There is no such interaction"},
		{tarsy.CodeKeyNotFound, http.StatusNotFound, "There is no such key"},
		{tarsy.CodeNoteNotFound, http.StatusNotFound, "There is no such note"},
		{tarsy.CodeEntityNotFound, http.StatusNotFound, "There is no such entity"},
		{tarsy.CodeProjectNotFound, http.StatusNotFound, "There is no such project"},
		{tarsy.CodeEpicNotFound, http.StatusNotFound, "There is no such epic"},
		{tarsy.CodeTagNotFound, http.StatusNotFound, "There is no such tag"},
		{tarsy.CodeReviewNotFound, http.StatusNotFound, "There is no such review item"},
		{tarsy.CodeFeedbackNotFound, http.StatusNotFound, "There is no such feedback"},
		{tarsy.CodeApprovalNotFound, http.StatusNotFound, "There is no such approval"},
		{tarsy.CodeShareNotFound, http.StatusNotFound, "There is no such share"},
		{tarsy.CodeJobNotFound, http.StatusNotFound, "There is no such job"},
		{tarsy.CodeQueueNotFound, http.StatusNotFound, "There is no such queue"},
		{tarsy.CodeMethodNotAllowed, http.StatusMethodNotAllowed, "The method is not allowed here"},
		{tarsy.CodeNotAcceptable, http.StatusNotAcceptable, "The answer cannot be given in this form"},
		{tarsy.CodeConflict, http.StatusConflict, "The request conflicts with the present state"},
		{tarsy.CodeSessionNotRunning, http.StatusConflict, "The session cannot be cancelled"},
		{tarsy.CodeSessionNotOver, http.StatusConflict, "The session is not over yet"},
		{tarsy.CodeApprovalNotOpen, http.StatusConflict, "The approval is no longer open"},
		{tarsy.CodeIdempotencyConflict, http.StatusConflict, "The idempotency key was used for another request"},
		{tarsy.CodeNameTaken, http.StatusConflict, "The name is taken"},
		{tarsy.CodeReviewResolved, http.StatusConflict, "The review item was decided already"},
		{tarsy.CodeUndoExpired, http.StatusConflict, "It is too late to undo the decision"},
		{tarsy.CodeUndoConflict, http.StatusConflict, "The decision cannot be undone any more"},
		{tarsy.CodeChangedMeanwhile, http.StatusPreconditionFailed, "It has been changed in the meantime"},
		{tarsy.CodeMissingIfMatch, http.StatusPreconditionRequired, "The If-Match header is missing"},
		{tarsy.CodeChatBusy, http.StatusConflict, "Another question is being answered"},
		{tarsy.CodeChatDisabled, http.StatusConflict, "The chain accepts no questions"},
		{tarsy.CodeInvalidConfiguration, http.StatusConflict, "The configuration files are not valid"},
		{tarsy.CodeTooLarge, http.StatusRequestEntityTooLarge, "The request is too large"},
		{tarsy.CodeUnsupportedMedia, http.StatusUnsupportedMediaType, "The body is not JSON"},
		{tarsy.CodeUpgradeRequired, http.StatusUpgradeRequired, "The endpoint accepts WebSocket connections only"},
		{tarsy.CodeTooManyRequests, http.StatusTooManyRequests, "Too many requests"},
		{tarsy.CodeTooManyStreams, http.StatusTooManyRequests, "The API key has too many streams open"},
		{tarsy.CodeOverloaded, http.StatusServiceUnavailable, "The server has too much to do"},
		{tarsy.CodeIntakePaused, http.StatusServiceUnavailable, "Intake is paused"},
		{tarsy.CodeShuttingDown, http.StatusServiceUnavailable, "The server is shutting down"},
		{tarsy.CodeUnavailable, http.StatusServiceUnavailable, "The server cannot answer now"},
		{tarsy.CodeOIDCUnavailable, http.StatusServiceUnavailable, "The login service cannot be reached"},
		{tarsy.CodeQueryTimeout, http.StatusGatewayTimeout, "The query took too long"},
		{tarsy.CodeInternal, http.StatusInternalServerError, "Something went wrong in the server"},
	}
}

// New returns the problem for an error that people may see.
func New(e *tarsy.Error) *Problem {
	for _, k := range Kinds() {
		if k.Code == e.Code {
			return &Problem{
				Type: urn + string(k.Code), Title: k.Title, Status: k.Status, Detail: e.Message, Code: k.Code, Field: e.Field,
				RetryAfter: int(math.Ceil(e.RetryAfter.Seconds())),
			}
		}
	}

	return New(tarsy.Errorf(tarsy.CodeInternal, "%s", e.Message))
}

// Explain converts any error to a problem.
func Explain(ctx context.Context, logger *slog.Logger, err error) *Problem {
	p := explain(ctx, logger, err)
	p.RequestID = requestid.From(ctx)

	return p
}

func explain(ctx context.Context, logger *slog.Logger, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}

	e, ok := errors.AsType[*tarsy.Error](err)
	if ok && e.Code != tarsy.CodeInternal {
		return New(e)
	}

	if e := databaseError(err); e != nil && ctx.Err() == nil {
		logger.WarnContext(ctx, "request failed because of the database", "code", e.Code, "error", err)

		return New(e)
	}

	id := ident.New()
	if ctx.Err() != nil {
		// The client went away; that is the likely cause, and not an error of the server.
		logger.DebugContext(ctx, "request abandoned", "error_id", id, "error", err)
	} else {
		logger.ErrorContext(ctx, "request failed", "error_id", id, "error", err)
	}

	p := New(tarsy.Errorf(tarsy.CodeInternal, "The server's log has the cause under %s.", id))
	p.Instance = "urn:uuid:" + id

	return p
}

// databaseError returns the error for a client if err is a database error that is not the fault of this program, or nil. err
// itself may name hosts and users.
func databaseError(err error) *tarsy.Error {
	switch {
	case postgres.IsReadTimeout(err):
		return tarsy.Errorf(tarsy.CodeQueryTimeout,
			"The query was stopped because it took longer than system.query_timeout. Narrow it, for example to a shorter period, and try again.")
	case postgres.IsUnavailable(err):
		return tarsy.Errorf(tarsy.CodeUnavailable, "The database is not available. Try again later.")
	default:
		return nil
	}
}

// Write responds with the problem for err.
func Write(w http.ResponseWriter, r *http.Request, logger *slog.Logger, err error) {
	p := Explain(r.Context(), logger, err)

	header := w.Header()
	maps.Copy(header, p.GetHeaders())

	if p.Status == http.StatusUnauthorized && r.Header.Get("X-Amz-Sns-Message-Type") != "" {
		// Amazon SNS sends the password of its endpoint only after this challenge. Browsers do not send the header, so none of
		// them shows a dialog.
		header.Add("WWW-Authenticate", `Basic realm="tarsy"`)
	}

	header.Set("Content-Type", MediaType)
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)

	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)

	if err := encoder.Encode(p); err != nil {
		logger.DebugContext(r.Context(), "answer not delivered", "error", err)
	}
}
