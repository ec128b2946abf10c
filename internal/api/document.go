package api

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/eventschema"
)

const (
	jsonType  = "application/json"
	keyScheme = "api_key"
	// cookieScheme authenticates a browser after its login.
	cookieScheme = "browser_session"
	// roleExtension names the role that an operation requires; absent where no role is required.
	roleExtension = "x-tarsy-role"
)

// newDocument creates an empty OpenAPI document. Huma's own routes are left out: its documentation page loads external resources, and
// its links to schemas would change the responses.
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
						Description: "A browser that is logged in. Requests that change something also send its token as " + csrfHeader + ".",
					},
				},
			},
		},
		Formats:       map[string]huma.Format{jsonType: huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat},
		DefaultFormat: jsonType,
	})
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

// eventSchema and the document are rarely read, and encoding them would take a third of a server's start.
var eventSchema = sync.OnceValue(eventschema.Document)

func (s *system) showEventSchema(w http.ResponseWriter, r *http.Request) {
	writeJSON(s.logger, w, r, http.StatusOK, jsonType, json.RawMessage(eventSchema()))
}

func (s *system) showDocument(w http.ResponseWriter, r *http.Request) {
	writeJSON(s.logger, w, r, http.StatusOK, jsonType, json.RawMessage(s.document()))
}

// eventsParams returns the parameters of a session's event stream.
func eventsParams() []*huma.Param {
	return append([]*huma.Param{
		{Name: "id", In: "path", Required: true, Description: "The id of a session.", Schema: &huma.Schema{Type: huma.TypeString}},
		{
			Name: "follow", In: "query", Description: "Keep the stream open after the session has ended, for its chat.",
			Schema: &huma.Schema{Type: huma.TypeBoolean},
		},
	}, positionParams()...)
}

// positionParams returns the parameters that set where an event stream starts.
func positionParams() []*huma.Param {
	return []*huma.Param{
		{
			Name: "Last-Event-ID", In: "header", Description: "The number of the last event that the reader received.",
			Schema: &huma.Schema{Type: huma.TypeInteger},
		},
		{Name: "last_event_id", In: "query", Description: "The same, for a first request.", Schema: &huma.Schema{Type: huma.TypeInteger}},
		{
			Name: "replay", In: "query", Description: "The value all replays more than 1,000 events instead of sending catchup.overflow.",
			Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"all"}},
		},
	}
}

func eventStream() *answer {
	return &answer{description: "The journal from that position on", media: []string{"text/event-stream"}}
}

// finishDocument corrects what huma cannot know. The document is encoded on first use.
func (s *Server) finishDocument() {
	document := s.huma.OpenAPI()
	schemas := document.Components.Schemas.Map()

	// Errors are problems; huma's own are never returned.
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

	for _, name := range []string{"entity", "other", "note"} {
		orNull(schemas["ReviewDetail"], name)
	}

	orNull(schemas["ReviewResult"], "item")
	orNull(schemas["LLMInteractionDetail"], "response")
	orNull(schemas["HandlingResult"], "handling")
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

// finishVerdict corrects the differences between verdicts and sessions: a verdict always has an outcome, and a session without a
// verdict has no confidence.
func finishVerdict(schemas map[string]*huma.Schema) {
	schemas["Verdict"].Properties["outcome"] = oneOf(tarsy.Outcomes())
	schemas["SimilarSession"].Properties["confidence"] = oneOf(append(tarsy.Confidences(), ""))
	orNull(schemas["SessionDetail"], "verdict")
}

// orNull documents that an object property can be null.
func orNull(schema *huma.Schema, name string) {
	schema.Properties[name] = &huma.Schema{AnyOf: []*huma.Schema{schema.Properties[name], {Type: "null"}}}
}
