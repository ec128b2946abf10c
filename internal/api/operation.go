package api

import (
	"cmp"
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/problem"
)

// operation is a row of the tables: its name, who can call it, what is recorded and what it responds. The types of its handler describe
// its parameters and its response body.
type operation struct {
	method, path, id string
	// scope is what a key needs; empty where no key is required.
	scope tarsy.Scope
	// audit is what the audit log records; empty for operations that change nothing. A test checks this.
	audit auditAction
	// errors are the codes that do not follow from parameters, body and scope. Tests fail when an operation returns a code that it does
	// not list.
	errors               []tarsy.Code
	summary, description string
	// status is the status of a successful response; 200 if zero.
	status int
	// body describes the request body; nil for none.
	body *body
	// answer is set for operations that write their own response.
	answer     *answer
	parameters []*huma.Param
	handler    handler

	// bodyLimit is the maximum body size; zero means tarsy.MaxAlertBytes, or anonymousLimit where no key is required.
	bodyLimit int64
	// stream means that the response ends with the login of its reader.
	stream bool
	// webhook means that a receiver's sender needs no key.
	webhook bool
	// foreign means that an external party chooses the parameters: unknown ones are ignored.
	foreign bool
}

// auditAction is what the audit log records of an operation.
type auditAction struct {
	// name is stable: users search for it.
	name string
	// target is the type of what the operation changes. Its id is the path parameter, unless the code that makes the change sets
	// another.
	target string
	// onlyDenied means that successful requests are not recorded. It is set for alerts: there are many, and each becomes a session or a
	// suppressed alert with its author; and for /mcp, whose tools make their own requests, which are recorded.
	onlyDenied bool
}

// body is a request body: a type, or a description of a format defined elsewhere.
type body struct {
	of          reflect.Type
	optional    bool
	description string
}

func required[T any]() *body { return &body{of: reflect.TypeFor[T]()} }

func optional[T any]() *body { return &body{of: reflect.TypeFor[T](), optional: true} }

func foreignBody(description string) *body { return &body{description: description} }

func (b *body) document(registry huma.Registry) *huma.RequestBody {
	if b == nil {
		return nil
	}

	schema := &huma.Schema{Description: b.description}
	if b.of != nil {
		schema = registry.Schema(b.of, true, "")
	}

	return &huma.RequestBody{Required: !b.optional, Content: map[string]*huma.MediaType{jsonType: {Schema: schema}}}
}

// answer is a response that an operation writes itself. Of is the type of its JSON; nil for any object. Other media types are text.
type answer struct {
	description string
	of          reflect.Type
	media       []string
}

func (a *answer) document(registry huma.Registry) *huma.Response {
	response := &huma.Response{Description: a.description}

	for _, media := range a.media {
		schema := &huma.Schema{Type: huma.TypeString}

		switch {
		case media == jsonType && a.of != nil:
			schema = registry.Schema(a.of, true, "")
		case media == jsonType:
			schema = &huma.Schema{Type: huma.TypeObject}
		}

		if response.Content == nil {
			response.Content = map[string]*huma.MediaType{}
		}

		response.Content[media] = &huma.MediaType{Schema: schema}
	}

	return response
}

// handler mounts an operation.
type handler func(s *Server, op huma.Operation)

// run mounts a handler that returns a body or an error. Validation is ours, not huma's, because the errors are: huma sees parameters as
// text and no body at all, and the document gets the body's schema afterwards.
func run[I, O any](handle func(context.Context, *I) (*O, error)) handler {
	return func(s *Server, op huma.Operation) {
		op.SkipValidateParams = true

		huma.Register(s.huma, op, func(ctx context.Context, input *I) (*O, error) {
			output, err := handle(ctx, input)
			if err != nil {
				noteRefusal(ctx, err)

				return nil, problem.Explain(ctx, s.logger, err)
			}

			return output, nil
		})
	}
}

// plain mounts a handler that only reads and writes its own response.
func plain(h http.Handler) handler {
	return func(s *Server, op huma.Operation) {
		s.huma.OpenAPI().AddOperation(&op)
		s.mux.Handle(op.Method+" "+op.Path, h)
	}
}

// later returns a handler that New sets after Declare has mounted it.
func later(handler *http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*handler).ServeHTTP(w, r) })
}

// register mounts an operation and adds it to the document and to the routes.
func (s *Server) register(o operation) {
	registry := s.huma.OpenAPI().Components.Schemas

	op := huma.Operation{
		OperationID: o.id, Method: o.method, Path: o.path, Summary: o.summary, Description: o.description, DefaultStatus: o.status,
		Parameters: o.parameters, Security: []map[string][]string{},
		Extensions: map[string]any{roleExtension: cmp.Or(string(o.scope.Role()), "none")},
		Responses: map[string]*huma.Response{"default": {
			Description: "A problem; its code identifies it.",
			Content:     map[string]*huma.MediaType{problem.MediaType: {Schema: registry.Schema(reflect.TypeFor[problem.Problem](), true, "")}},
		}},
	}

	if o.answer != nil {
		op.Responses[strconv.Itoa(cmp.Or(o.status, http.StatusOK))] = o.answer.document(registry)
	}

	if o.scope != "" {
		op.Security = append(op.Security, map[string][]string{keyScheme: {string(o.scope)}}, map[string][]string{cookieScheme: {string(o.scope)}})
	}

	o.handler(s, op)

	documented := s.documented(o.method, o.path)
	documented.RequestBody = o.body.document(registry)
	s.describeErrors(o, documented)
	s.routes[o.pattern()] = newRoute(o, documented)
}

// pattern returns the operation's pattern in the mux.
func (o *operation) pattern() string { return o.method + " " + o.path }
