package api

import (
	"cmp"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/eventschema"
	"tarsy.dev/tarsy/internal/problem"
)

const (
	jsonType  = "application/json"
	keyScheme = "api_key"
	// cookieScheme is what a browser has after its login.
	cookieScheme = "browser_session"
	// roleExtension names the role that an operation needs; none where anybody may call it.
	roleExtension = "x-tarsy-role"
)

// newDocument begins an OpenAPI document. Of huma's own routes there are none: its page of documentation loads from
// outside, and its links to schemas would change the answers.
func newDocument(mux *http.ServeMux, version string) huma.API {
	registry := huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer)
	registerTypes(registry)

	return humago.New(mux, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "TARSy", Version: version,
				Description: "Submit alerts, watch their investigation, and read the results.",
				License:     &huma.License{Name: "Apache 2.0", Identifier: "Apache-2.0"},
			},
			Servers: []*huma.Server{{URL: "/", Description: "The server that this document comes from."}},
			Components: &huma.Components{
				Schemas:   registry,
				Responses: map[string]*huma.Response{},
				SecuritySchemes: map[string]*huma.SecurityScheme{
					keyScheme: {Type: "http", Scheme: "bearer", Description: "An API key."},
					cookieScheme: {
						Type: "apiKey", In: "cookie", Name: cookieName,
						Description: "A browser that is logged in; what changes something also sends its token as " + csrfHeader + ".",
					},
				},
			},
		},
		Formats:       map[string]huma.Format{jsonType: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: jsonType,
	})
}

// describe adds what all operations share: the problem that any of them may answer with, and the key that they need.
func (s *Server) describe(scope tarsy.Scope, op *huma.Operation) {
	registry := s.huma.OpenAPI().Components.Schemas

	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}

	op.Responses["default"] = &huma.Response{
		Description: "A problem; its code says which.",
		Content:     map[string]*huma.MediaType{problem.MediaType: {Schema: registry.Schema(reflect.TypeFor[problem.Problem](), true, "")}},
	}

	op.Security = []map[string][]string{}
	op.Extensions = map[string]any{roleExtension: cmp.Or(string(scope.Role()), "none")}

	if scope != "" {
		op.Security = append(op.Security, map[string][]string{keyScheme: {string(scope)}}, map[string][]string{cookieScheme: {string(scope)}})
	}
}

// bodyOf documents a body of a type.
func (s *Server) bodyOf(t reflect.Type, required bool) *huma.RequestBody {
	schema := s.huma.OpenAPI().Components.Schemas.Schema(t, true, "")

	return &huma.RequestBody{Required: required, Content: map[string]*huma.MediaType{jsonType: {Schema: schema}}}
}

// documented finds an operation in the document.
func (s *Server) documented(method, path string) *huma.Operation {
	item := s.huma.OpenAPI().Paths[path]

	switch method {
	case http.MethodPost:
		return item.Post
	case http.MethodPatch:
		return item.Patch
	case http.MethodPut:
		return item.Put
	case http.MethodDelete:
		return item.Delete
	default:
		return item.Get
	}
}

// addStreams mounts what is not REST, and the document itself.
func (s *Server) addStreams() {
	s.addPlain(huma.Operation{
		OperationID: "websocket", Method: http.MethodGet, Path: "/api/v1/ws", Summary: "Watch over a WebSocket",
		Description: "Subscribe to session:<id> for the journal of a session, to sessions for the feed of all of them, and to notes for the journal of notes.",
		Responses:   map[string]*huma.Response{strconv.Itoa(http.StatusSwitchingProtocols): {Description: "A WebSocket"}},
	}, later(&s.webSocket))
	s.endsWithLogin("/api/v1/ws")

	s.addPlain(huma.Operation{
		OperationID: "session-events", Method: http.MethodGet, Path: "/api/v1/sessions/{id}/events",
		Summary: "Watch a session as server-sent events",
		Parameters: append(
			[]*huma.Param{
				{Name: "id", In: "path", Required: true, Description: "The id of a session.", Schema: &huma.Schema{Type: huma.TypeString}},
				{
					Name: "follow", In: "query", Description: "Stay when the session is over, for the chat that may follow.",
					Schema: &huma.Schema{Type: huma.TypeBoolean},
				},
			}, positionParams()...),
		Responses: eventStreamResponses(),
	}, later(&s.events))
	s.endsWithLogin("/api/v1/sessions/{id}/events")

	s.addPlain(huma.Operation{
		OperationID: "note-events", Method: http.MethodGet, Path: "/api/v1/notes/events", Summary: "Watch notes as server-sent events",
		Description: "Everything about notes, entities, projects and review items, without an end.",
		Parameters:  positionParams(), Responses: eventStreamResponses(),
	}, later(&s.noteEvents))
	s.endsWithLogin("/api/v1/notes/events")

	// Both documents are for few readers, and writing them down would be a third of a server's start.
	schema := sync.OnceValue(eventschema.Document)

	s.addPlain(huma.Operation{
		OperationID: "events-schema", Method: http.MethodGet, Path: "/api/v1/events/schema", Summary: "The JSON Schema of live events",
		Responses: map[string]*huma.Response{strconv.Itoa(http.StatusOK): {
			Description: "JSON Schema 2020-12",
			Content:     map[string]*huma.MediaType{jsonType: {Schema: &huma.Schema{Type: huma.TypeObject}}},
		}},
	}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.writeJSON(w, r, http.StatusOK, jsonType, json.RawMessage(schema()))
	}))

	s.addPlain(huma.Operation{
		OperationID: "openapi", Method: http.MethodGet, Path: "/openapi.json", Summary: "This document",
		Responses: map[string]*huma.Response{strconv.Itoa(http.StatusOK): {
			Description: "OpenAPI 3.1",
			Content:     map[string]*huma.MediaType{jsonType: {Schema: &huma.Schema{Type: huma.TypeObject}}},
		}},
	}, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.writeJSON(w, r, http.StatusOK, jsonType, json.RawMessage(s.document()))
	}))
}

// positionParams say where the reader of an event stream begins.
func positionParams() []*huma.Param {
	return []*huma.Param{
		{
			Name: "Last-Event-ID", In: "header", Description: "The number of the last event that the reader has.",
			Schema: &huma.Schema{Type: huma.TypeInteger},
		},
		{Name: "last_event_id", In: "query", Description: "The same, for a first request.", Schema: &huma.Schema{Type: huma.TypeInteger}},
		{
			Name: "replay", In: "query", Description: "The value all replays more than 1,000 events instead of sending catchup.overflow.",
			Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"all"}},
		},
	}
}

func eventStreamResponses() map[string]*huma.Response {
	return map[string]*huma.Response{strconv.Itoa(http.StatusOK): {
		Description: "The journal from there on",
		Content:     map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
}

// finishDocument corrects what huma cannot know; the document is written down when somebody wants it.
func (s *Server) finishDocument() {
	document := s.huma.OpenAPI()
	schemas := document.Components.Schemas.Map()

	// The errors are ours, huma's own are never answered.
	delete(schemas, "ErrorModel")
	delete(schemas, "ErrorDetail")

	for _, schema := range schemas {
		for _, property := range schema.Properties {
			if property.Type == huma.TypeArray {
				property.Nullable = false // an empty list is []
			}
		}
	}

	for _, name := range []string{"TimelineEvent", "TimelineItem"} {
		schemas[name].Properties["metadata"].Nullable = true
	}

	for _, name := range []string{"EntityDetail", "EntityExport"} {
		schemas[name].Properties["due_on"].Nullable = true
	}

	for _, name := range []string{"mcp_selection", "chat", "alert", "handling"} {
		orNull(schemas["SessionDetail"], name)
	}

	orNull(schemas["SessionItem"], "alert")
	orNull(schemas["SessionItem"], "handling")
	orNull(schemas["SharedSession"], "verdict")
	orNull(schemas["MCPInteraction"], "approval")
	finishVerdict(schemas)

	s.document = sync.OnceValue(func() []byte {
		text, err := json.Marshal(document)
		if err != nil {
			panic("api: the OpenAPI document does not marshal: " + err.Error())
		}

		return text
	})
}

// finishVerdict corrects what is not the same in verdicts and sessions: a verdict always has an outcome, and a session without a verdict
// no confidence.
func finishVerdict(schemas map[string]*huma.Schema) {
	schemas["Verdict"].Properties["outcome"] = oneOf(tarsy.Outcomes())
	schemas["SimilarSession"].Properties["confidence"] = oneOf(append(tarsy.Confidences(), ""))
	orNull(schemas["SessionDetail"], "verdict")
}
