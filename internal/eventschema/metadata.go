package eventschema

import (
	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy"
)

// Shown is one type of timeline event: what a person sees, and what else is known about it.
type Shown struct {
	Type tarsy.EventType
	What string
	// Content says what its text is.
	Content  string
	metadata []key
}

// key is an entry of a timeline event's metadata.
type key struct {
	name     string
	schema   *jsonschema.Schema
	doc      string
	required bool
}

func eventTypes() []tarsy.EventType {
	var types []tarsy.EventType
	for _, s := range Timeline() {
		types = append(types, s.Type)
	}

	return types
}

// Timeline lists every type of timeline event.
func Timeline() []Shown {
	shown := []Shown{
		{Type: tarsy.EventThinking, What: "what a model thought before it answered", Content: "the thoughts"},
		{Type: tarsy.EventResponse, What: "what a model answered in the middle of an investigation", Content: "the answer"},
		toolCall(), toolSummary(),
		{
			Type: tarsy.EventError, What: "what went wrong: mostly what ended an execution", Content: "the same, for people",
			metadata: []key{{"code", ref(defCode), "a stable name for what went wrong", true}},
		},
		{
			Type: tarsy.EventUserQuestion, What: "a question in the chat", Content: "the question",
			metadata: []key{
				{"author", text(), "who asked", true},
				{"chat_id", ref(defID), "the session's chat", true},
				{"message_id", ref(defID), "the question", true},
			},
		},
		{Type: tarsy.EventExecutiveSummary, What: "the short summary of the final analysis", Content: "the summary"},
		{
			Type: tarsy.EventFinalAnalysis, What: "what an agent concluded", Content: "the analysis",
			metadata: []key{
				{"forced_conclusion", constant(true), "the agent was told to conclude before it was done", true},
				{"reason", enum([]tarsy.ForcedConclusion{tarsy.ForcedIterations, tarsy.ForcedDeadline, tarsy.ForcedBudget}), "why it was told", true},
				{"max_iterations", atLeast(1), "how many iterations it may have", true},
			},
		},
		{
			Type: tarsy.EventCodeExecution, What: "code that the provider ran for the model", Content: "what the code printed",
			metadata: []key{{"code", text(), "the code", true}},
		},
	}

	return append(shown, grounding(tarsy.EventGoogleSearch, "what the provider searched for the model"),
		grounding(tarsy.EventURLContext, "pages that the provider read for the model"))
}

func toolCall() Shown {
	return Shown{
		Type: tarsy.EventToolCall, What: "a tool call, from its start to its result", Content: "empty, then the result",
		metadata: []key{
			{"server_name", text(), "the MCP server", true},
			{"tool_name", text(), "the tool", true},
			{"arguments", &jsonschema.Schema{}, "what the model gave it, whatever that is", true},
			{"is_error", &jsonschema.Schema{Type: "boolean"}, "the tool failed; when completed", false},
			{"attempt", atLeast(1), "how often it was called; when completed", false},
			{"duration_ms", atLeast(0), "how long it took; when completed", false},
			{"outcome", constant("unknown"), "nobody knows whether the call took effect", false},
		},
	}
}

func toolSummary() Shown {
	return Shown{
		Type: tarsy.EventToolSummary, What: "the summary that a model was given instead of a long result", Content: "the summary",
		metadata: []key{
			{"server_name", text(), "the MCP server", true},
			{"tool_name", text(), "the tool", true},
			{"tool_call_event_id", ref(defID), "the timeline event of the call", true},
			{"original_tokens", atLeast(1), "how long the result was, estimated", true},
		},
	}
}

func grounding(eventType tarsy.EventType, what string) Shown {
	sources := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{"title": text(), "url": text()},
		PropertyOrder: []string{"title", "url"}, Required: []string{"title", "url"}, AdditionalProperties: nothing(),
	}}

	return Shown{
		Type: eventType, What: what, Content: "a line for each source",
		metadata: []key{
			{"queries", &jsonschema.Schema{Type: "array", Items: text()}, "what was searched for", true},
			{"sources", sources, "title and url of each page", true},
		},
	}
}

// metadataDef is the name of the definition of an event type's metadata.
func metadataDef(eventType tarsy.EventType) string { return "metadata." + string(eventType) }

// metadataSchema is the definition; nil where there is no metadata.
func (s Shown) metadataSchema() *jsonschema.Schema {
	if len(s.metadata) == 0 {
		return nil
	}

	object := &jsonschema.Schema{
		Type: "object", Description: "The metadata of " + string(s.Type) + ".",
		Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: nothing(),
	}

	for _, k := range s.metadata {
		schema := k.schema.CloneSchemas()
		schema.Description = sentence(k.doc)
		object.Properties[k.name] = schema
		object.PropertyOrder = append(object.PropertyOrder, k.name)

		if k.required {
			object.Required = append(object.Required, k.name)
		}
	}

	return object
}

// metadataRules say which metadata goes with which event type.
func metadataRules() []*jsonschema.Schema {
	var rules []*jsonschema.Schema

	for _, s := range Timeline() {
		metadata := nothing()
		if len(s.metadata) > 0 {
			metadata = ref(metadataDef(s.Type))
		}

		rules = append(rules, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"event_type": constant(string(s.Type))}},
			Then: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"metadata": metadata}},
		})
	}

	return rules
}
