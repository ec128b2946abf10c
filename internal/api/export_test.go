package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/problem"
)

// declared has the operations, without a running server.
var declared = sync.OnceValue(func() *Server { return Declare("test") })

// AuditActionNames returns the names of audit log actions by the pattern of their route.
func AuditActionNames() map[string]string {
	names := map[string]string{}
	for pattern, found := range declared().routes {
		if found.audit.name != "" {
			names[pattern] = found.audit.name
		}
	}

	return names
}

// CheckAnswer validates a body against the documented schema of the operation and status.
func (s *Server) CheckAnswer(method, path string, status int, body []byte) []error {
	response := s.documented(method, path).Responses[strconv.Itoa(status)]
	if response == nil {
		return []error{fmt.Errorf("the document has no %d for %s %s", status, method, path)}
	}

	return s.checkSchema(response.Content[jsonType].Schema, body)
}

// CheckProblem validates a body against the documented problem schema.
func (s *Server) CheckProblem(body []byte) []error {
	return s.checkSchema(s.documented("GET", "/health").Responses["default"].Content[problem.MediaType].Schema, body)
}

func (s *Server) checkSchema(schema *huma.Schema, body []byte) []error {
	var value any

	err := json.Unmarshal(body, &value)
	if err != nil {
		return []error{err}
	}

	result := &huma.ValidateResult{}
	huma.Validate(s.huma.OpenAPI().Components.Schemas, schema, huma.NewPathBuffer([]byte{}, 0), huma.ModeReadFromServer, value, result)

	return result.Errors
}

// CodeRow is a row of the table of codes.
type CodeRow struct {
	Code   tarsy.Code
	Status int
	Title  string
}

// CodeRows returns the table of codes, for the document that shows it.
func CodeRows() []CodeRow {
	var rows []CodeRow
	for _, k := range problem.Kinds() {
		rows = append(rows, CodeRow{Code: k.Code, Status: k.Status, Title: k.Title})
	}

	return rows
}

// WriteExport writes an export as in a response.
func WriteExport(w io.Writer, export *tarsy.Export) error { return writeExport(w, export) }

// ErrorsOf returns the pattern and the documented codes of a request's operation; empty if there is none.
func (s *Server) ErrorsOf(r *http.Request) (pattern string, codes []tarsy.Code) {
	found, err := s.find(r)
	if err != nil {
		return "", nil
	}

	codes, _ = s.documented(r.Method, found.path).Extensions[errorsExtension].([]tarsy.Code)

	return found.path, codes
}

// OwnErrors returns the codes that are listed per operation.
func OwnErrors() map[string][]tarsy.Code {
	codes := map[string][]tarsy.Code{}

	for pattern, found := range declared().routes {
		if len(found.errors) > 0 {
			codes[pattern] = found.errors
		}
	}

	return codes
}

// ExportWith replaces the export of sessions.
func (s *Server) ExportWith(export func(ctx context.Context, id string) (*tarsy.Export, error)) {
	s.sessions.export = export
}
