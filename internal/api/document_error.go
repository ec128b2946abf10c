package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/problem"
)

// errorsExtension lists the problem codes that an operation can return.
const errorsExtension = "x-tarsy-errors"

// submitErrors are the codes of operations that create a session.
func submitErrors() []tarsy.Code {
	return []tarsy.Code{
		tarsy.CodeUnknownAlertType, tarsy.CodeUnknownChain, tarsy.CodeUnknownLLMProvider, tarsy.CodeUnknownMCPServer, tarsy.CodeMCPServerNotAllowed,
		tarsy.CodeUnknownTool, tarsy.CodeToolNotAllowed, tarsy.CodeIntakePaused, tarsy.CodeOverloaded,
	}
}

// notFound maps the path segments before a name to the code that is returned if what it names does not exist.
var notFound = []struct {
	before string
	code   tarsy.Code
}{
	{"/api/v1/sessions/{", tarsy.CodeSessionNotFound}, {"/api/v1/approvals/{", tarsy.CodeApprovalNotFound}, {"/api/v1/keys/{", tarsy.CodeKeyNotFound},
	{"/api/v1/notes/{", tarsy.CodeNoteNotFound}, {"/api/v1/review/{", tarsy.CodeReviewNotFound}, {"/api/v1/entities/{", tarsy.CodeEntityNotFound},
	{"/api/v1/projects/{", tarsy.CodeProjectNotFound}, {"/api/v1/epics/{", tarsy.CodeEpicNotFound}, {"/api/v1/tags/{", tarsy.CodeTagNotFound},
	{"/api/v1/jobs/{", tarsy.CodeJobNotFound}, {"/api/v1/queues/{", tarsy.CodeQueueNotFound}, {"/trace/llm/{", tarsy.CodeInteractionNotFound},
	{"/trace/mcp/{", tarsy.CodeInteractionNotFound}, {"/shares/{", tarsy.CodeShareNotFound},
}

// errorsOf returns the codes of an operation, in the order of problem.Kinds.
func errorsOf(o operation, op *huma.Operation) []tarsy.Code {
	codes := []tarsy.Code{
		tarsy.CodeInvalidParameter, tarsy.CodeForbiddenOrigin, tarsy.CodeTooManyRequests, tarsy.CodeInternal, tarsy.CodeUnavailable, tarsy.CodeShuttingDown, tarsy.CodeQueryTimeout,
	}

	if o.scope != "" {
		codes = append(codes, tarsy.CodeUnauthenticated, tarsy.CodeForbidden)
	}

	if op.Method != http.MethodGet {
		codes = append(codes, tarsy.CodeCSRFFailed)
	}

	if op.RequestBody != nil {
		codes = append(codes, tarsy.CodeInvalidJSON, tarsy.CodeUnknownField, tarsy.CodeMissingField, tarsy.CodeInvalidField, tarsy.CodeTooLarge, tarsy.CodeUnsupportedMedia)
	}

	for _, parameter := range op.Parameters {
		switch parameter.Name {
		case "cursor":
			codes = append(codes, tarsy.CodeInvalidCursor)
		case "If-Match":
			codes = append(codes, tarsy.CodeInvalidField, tarsy.CodeMissingIfMatch, tarsy.CodeChangedMeanwhile)
		case "Idempotency-Key":
			codes = append(codes, tarsy.CodeInvalidField, tarsy.CodeIdempotencyConflict)
		}
	}

	for _, named := range notFound {
		if strings.Contains(op.Path, named.before) {
			codes = append(codes, named.code)
		}
	}

	codes = append(codes, o.errors...)

	var sorted []tarsy.Code

	for _, kind := range problem.Kinds() {
		if slices.Contains(codes, kind.Code) {
			sorted = append(sorted, kind.Code)
		}
	}

	return sorted
}

// describeErrors lists the codes of an operation and their statuses in the document.
func (s *Server) describeErrors(o operation, op *huma.Operation) {
	codes := errorsOf(o, op)
	op.Extensions[errorsExtension] = codes

	responses := s.huma.OpenAPI().Components.Responses

	for _, kind := range problem.Kinds() {
		if !slices.Contains(codes, kind.Code) {
			continue
		}

		name := "Problem" + strconv.Itoa(kind.Status)
		if responses[name] == nil {
			responses[name] = &huma.Response{Description: http.StatusText(kind.Status) + ". " + op.Responses["default"].Description, Content: op.Responses["default"].Content}
		}

		op.Responses[strconv.Itoa(kind.Status)] = &huma.Response{Ref: "#/components/responses/" + name}
	}
}
