package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"tarsy.dev/tarsy"
)

const (
	problemType = "application/problem+json"
	problemURN  = "urn:tarsy:problem:"
	// retryAfter is how many seconds a client should wait after a 503.
	retryAfter = 5
)

// Problem is the body of every error: RFC 9457 with the code, and the part of the request that was wrong.
type Problem struct {
	Type     string     `doc:"A URN made of the code."                                                 json:"type"`
	Title    string     `doc:"The kind of problem in a few words, the same for every problem of a code." json:"title"`
	Status   int        `doc:"The HTTP status."                                                        json:"status"`
	Detail   string     `doc:"What was wrong, and what would be right."                                json:"detail"`
	Instance string     `doc:"Names this one error in the server's log."                               json:"instance,omitempty"`
	Code     tarsy.Code `doc:"A stable name of the problem for programs."                              json:"code"`
	Field    string     `doc:"The field, parameter or header that was wrong."                          json:"field,omitempty"`

	allow string
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// GetStatus tells huma the status.
func (p *Problem) GetStatus() int { return p.Status }

// ContentType tells huma the media type.
func (p *Problem) ContentType(string) string { return problemType }

// GetHeaders returns the headers that HTTP asks for with a status.
func (p *Problem) GetHeaders() http.Header {
	header := http.Header{}

	switch p.Status {
	case http.StatusUnauthorized:
		header.Set("WWW-Authenticate", `Bearer realm="tarsy"`)
	case http.StatusServiceUnavailable:
		header.Set("Retry-After", strconv.Itoa(retryAfter))
	case http.StatusMethodNotAllowed:
		header.Set("Allow", p.allow)
	}

	return header
}

// kind is what all problems of one code share.
type kind struct {
	code   tarsy.Code
	status int
	title  string
}

// kinds is the one place that maps codes to HTTP.
func kinds() []kind {
	return []kind{
		{tarsy.CodeInvalidRequest, http.StatusBadRequest, "The request is not valid"},
		{tarsy.CodeInvalidJSON, http.StatusBadRequest, "The body is not valid JSON"},
		{tarsy.CodeUnknownField, http.StatusBadRequest, "A field is not known"},
		{tarsy.CodeMissingField, http.StatusBadRequest, "A field is missing"},
		{tarsy.CodeInvalidField, http.StatusBadRequest, "A field has a wrong value"},
		{tarsy.CodeUnknownAlertType, http.StatusBadRequest, "The alert type is not known"},
		{tarsy.CodeUnknownMCPServer, http.StatusBadRequest, "The MCP server is not known"},
		{tarsy.CodeInvalidCursor, http.StatusBadRequest, "The cursor is not valid"},
		{tarsy.CodeInvalidParameter, http.StatusBadRequest, "A parameter is not valid"},
		{tarsy.CodeUnauthenticated, http.StatusUnauthorized, "An API key is needed"},
		{tarsy.CodeForbidden, http.StatusForbidden, "The API key may not do this"},
		{tarsy.CodeForbiddenOrigin, http.StatusForbidden, "The web page may not do this"},
		{tarsy.CodeNotFound, http.StatusNotFound, "There is nothing at this address"},
		{tarsy.CodeSessionNotFound, http.StatusNotFound, "There is no such session"},
		{tarsy.CodeKeyNotFound, http.StatusNotFound, "There is no such key"},
		{tarsy.CodeMethodNotAllowed, http.StatusMethodNotAllowed, "The method is not allowed here"},
		{tarsy.CodeNotAcceptable, http.StatusNotAcceptable, "The answer cannot be given in this form"},
		{tarsy.CodeConflict, http.StatusConflict, "The request conflicts with the present state"},
		{tarsy.CodeSessionNotRunning, http.StatusConflict, "The session cannot be cancelled"},
		{tarsy.CodeTooLarge, http.StatusRequestEntityTooLarge, "The request is too large"},
		{tarsy.CodeUnsupportedMedia, http.StatusUnsupportedMediaType, "The body is not JSON"},
		{tarsy.CodeOverloaded, http.StatusServiceUnavailable, "The server has too much to do"},
		{tarsy.CodeShuttingDown, http.StatusServiceUnavailable, "The server is shutting down"},
		{tarsy.CodeUnavailable, http.StatusServiceUnavailable, "The server cannot answer now"},
		{tarsy.CodeInternal, http.StatusInternalServerError, "Something went wrong in the server"},
	}
}

// newProblem makes the body for an error that a person may see.
func newProblem(e *tarsy.Error) *Problem {
	for _, k := range kinds() {
		if k.code == e.Code {
			return &Problem{
				Type: problemURN + string(k.code), Title: k.title, Status: k.status, Detail: e.Message, Code: k.code, Field: e.Field,
			}
		}
	}

	return newProblem(tarsy.Errorf(tarsy.CodeInternal, "%s", e.Message))
}

// explain turns any error into a problem. What is not meant for people goes to the log under an id, and only the id
// goes out.
func (s *Server) explain(ctx context.Context, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}

	e, ok := errors.AsType[*tarsy.Error](err)
	if ok && e.Code != tarsy.CodeInternal {
		return newProblem(e)
	}

	id := tarsy.NewID()
	if ctx.Err() != nil {
		// The client went away, which is the likely cause and nobody's fault.
		s.logger.DebugContext(ctx, "request abandoned", "error_id", id, "error", err)
	} else {
		s.logger.ErrorContext(ctx, "request failed", "error_id", id, "error", err)
	}

	p := newProblem(tarsy.Errorf(tarsy.CodeInternal, "The server's log has the cause under %s.", id))
	p.Instance = "urn:uuid:" + id

	return p
}

// refuse answers with a problem, outside of huma.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	p := s.explain(r.Context(), err)

	header := w.Header()
	for name, values := range p.GetHeaders() {
		header[name] = values
	}

	s.writeJSON(w, r, p.Status, problemType, p)
}

func (s *Server) writeJSON(w http.ResponseWriter, r *http.Request, status int, mediaType string, body any) {
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(status)

	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)

	err := encoder.Encode(body)
	if err != nil {
		s.logger.DebugContext(r.Context(), "answer not delivered", "error", err)
	}
}
