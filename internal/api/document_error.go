package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/problem"
)

// errorsExtension lists the codes of the problems that an operation answers.
const errorsExtension = "x-tarsy-errors"

// ownErrors are the codes of operations that do not follow from their parameters, body and scope. Tests fail when an operation answers a code that
// it does not list.
var ownErrors = sync.OnceValue(func() map[string][]tarsy.Code {
	submits := []tarsy.Code{
		tarsy.CodeUnknownAlertType, tarsy.CodeUnknownChain, tarsy.CodeUnknownLLMProvider, tarsy.CodeUnknownMCPServer, tarsy.CodeMCPServerNotAllowed,
		tarsy.CodeUnknownTool, tarsy.CodeToolNotAllowed, tarsy.CodeIntakePaused, tarsy.CodeOverloaded,
	}

	return map[string][]tarsy.Code{
		"POST /api/v1/alerts":                           append([]tarsy.Code{tarsy.CodeEmptyAlert, tarsy.CodeConflict}, submits...),
		"POST " + webhookPath:                           append([]tarsy.Code{tarsy.CodeEmptyAlert, tarsy.CodeNotFound, tarsy.CodeConflict}, submits...),
		"POST /api/v1/sessions/{id}/rerun":              submits,
		"POST /api/v1/suppressed/{id}/investigate":      append([]tarsy.Code{tarsy.CodeNotFound, tarsy.CodeConflict}, submits...),
		"POST /api/v1/silences":                         {tarsy.CodeConflict},
		"DELETE /api/v1/silences/{id}":                  {tarsy.CodeNotFound},
		"POST /api/v1/sessions/{id}/cancel":             {tarsy.CodeSessionNotRunning},
		"DELETE /api/v1/sessions/{id}":                  {tarsy.CodeConflict},
		"POST /api/v1/sessions/{id}/chat/messages":      {tarsy.CodeChatBusy, tarsy.CodeChatDisabled, tarsy.CodeConflict, tarsy.CodeSessionNotOver},
		"POST /api/v1/approvals/{id}/approve":           {tarsy.CodeApprovalNotOpen},
		"POST /api/v1/approvals/{id}/reject":            {tarsy.CodeApprovalNotOpen},
		"PATCH /api/v1/sessions/{id}/handling":          {tarsy.CodeConflict},
		"PUT /api/v1/sessions/{id}/feedback":            {tarsy.CodeSessionNotOver},
		"DELETE /api/v1/sessions/{id}/feedback":         {tarsy.CodeFeedbackNotFound},
		"POST /api/v1/sessions/{id}/shares":             {tarsy.CodeConflict},
		"GET /api/v1/shared":                            {tarsy.CodeShareNotFound},
		"PUT /api/v1/system/pauses/{kind}":              {tarsy.CodeNotFound},
		"DELETE /api/v1/system/pauses/{kind}":           {tarsy.CodeNotFound},
		"POST /api/v1/notes":                            {tarsy.CodeSessionNotFound, tarsy.CodeSessionNotOver},
		"POST /api/v1/review/{id}/resolve":              {tarsy.CodeReviewResolved, tarsy.CodeConflict, tarsy.CodeNameTaken},
		"POST /api/v1/review/{id}/undo":                 {tarsy.CodeUndoExpired, tarsy.CodeUndoConflict, tarsy.CodeConflict},
		"POST /api/v1/entities":                         {tarsy.CodeProjectNotFound, tarsy.CodeEpicNotFound, tarsy.CodeSessionNotFound},
		"PATCH /api/v1/entities/{id}":                   {tarsy.CodeProjectNotFound, tarsy.CodeEpicNotFound},
		"POST /api/v1/projects":                         {tarsy.CodeNameTaken},
		"PATCH /api/v1/projects/{id}":                   {tarsy.CodeNameTaken},
		"POST /api/v1/projects/{id}/epics":              {tarsy.CodeNameTaken},
		"PATCH /api/v1/epics/{id}":                      {tarsy.CodeNameTaken},
		"POST /api/v1/tags":                             {tarsy.CodeNameTaken},
		"PATCH /api/v1/tags/{name}":                     {tarsy.CodeNameTaken},
		"GET /api/v1/jobs":                              {tarsy.CodeQueueNotFound},
		"POST /api/v1/jobs/{id}/retry":                  {tarsy.CodeConflict},
		"POST /api/v1/system/config/reload":             {tarsy.CodeConflict, tarsy.CodeInvalidConfiguration},
		"GET /api/v1/system/default-tools":              {tarsy.CodeUnknownAlertType, tarsy.CodeUnknownChain},
		"POST " + loginPath:                             {tarsy.CodeUnauthenticated},
		"GET /api/v1/login/oidc":                        {tarsy.CodeNotFound, tarsy.CodeLoginFailed, tarsy.CodeOIDCUnavailable},
		"GET " + oidcCallbackPath:                       {tarsy.CodeNotFound, tarsy.CodeLoginFailed, tarsy.CodeLoginExpired, tarsy.CodeLoginDenied, tarsy.CodeNoRole, tarsy.CodeOIDCUnavailable},
		"GET /api/v1/ws":                                {tarsy.CodeUpgradeRequired, tarsy.CodeTooManyStreams},
		"GET /api/v1/notes/events":                      {tarsy.CodeTooManyStreams, tarsy.CodeNotAcceptable},
		"GET /api/v1/sessions/{id}/events":              {tarsy.CodeTooManyStreams, tarsy.CodeNotAcceptable},
		"GET /api/v1/sessions/{id}/timeline/{event_id}": {tarsy.CodeEventNotFound},
	}
})

// notFound is what an operation answers whose path names something that does not exist, by the segments before the name.
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

// errorsOf are the codes of an operation, in the order of problem.Kinds.
func errorsOf(scope tarsy.Scope, op *huma.Operation) []tarsy.Code {
	codes := []tarsy.Code{
		tarsy.CodeInvalidParameter, tarsy.CodeForbiddenOrigin, tarsy.CodeTooManyRequests, tarsy.CodeInternal, tarsy.CodeUnavailable, tarsy.CodeShuttingDown, tarsy.CodeQueryTimeout,
	}

	if scope != "" {
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

	codes = append(codes, ownErrors()[op.Method+" "+op.Path]...)

	var sorted []tarsy.Code

	for _, kind := range problem.Kinds() {
		if slices.Contains(codes, kind.Code) {
			sorted = append(sorted, kind.Code)
		}
	}

	return sorted
}

// describeErrors lists the codes of an operation and their statuses in the document.
func (s *Server) describeErrors(scope tarsy.Scope, op *huma.Operation) {
	codes := errorsOf(scope, op)
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
