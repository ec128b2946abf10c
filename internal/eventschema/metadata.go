package eventschema

import (
	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy"
)

// TimelineKind is one type of timeline event: what a person sees, and what else is known about it.
type TimelineKind struct {
	Type tarsy.EventType
	What string
	// Content says what its text is.
	Content  string
	metadata []metadataKey
}

// metadataKey is an entry of a timeline event's metadata.
type metadataKey struct {
	name     string
	schema   *jsonschema.Schema
	doc      string
	required bool
}

func eventTypes() []tarsy.EventType {
	var types []tarsy.EventType
	for _, k := range Timeline() {
		types = append(types, k.Type)
	}

	return types
}

// Timeline lists every type of timeline event.
func Timeline() []TimelineKind {
	kinds := []TimelineKind{
		{Type: tarsy.EventThinking, What: "what a model thought before it answered", Content: "the thoughts"},
		{Type: tarsy.EventResponse, What: "what a model answered in the middle of an investigation", Content: "the answer"},
		toolCall(), toolSummary(),
		{
			Type: tarsy.EventError, What: "what went wrong: mostly what ended an execution", Content: "the same, for people",
			metadata: []metadataKey{{"code", ref(defCode), "a stable name for what went wrong", true}},
		},
		{
			Type: tarsy.EventUserQuestion, What: "a question in the chat", Content: "the question",
			metadata: []metadataKey{
				{"author", text(), "who asked", true},
				{"chat_id", ref(defID), "the session's chat", true},
				{"message_id", ref(defID), "the question", true},
			},
		},
		{Type: tarsy.EventExecutiveSummary, What: "the short summary of the final analysis", Content: "the summary"},
		finalAnalysis(),
		{
			Type: tarsy.EventCodeExecution, What: "code that the provider ran for the model", Content: "what the code printed",
			metadata: []metadataKey{{"code", text(), "the code", true}},
		},
		{
			Type: tarsy.EventProviderFallback, What: "that a provider failed and another goes on", Content: "who, and why",
			metadata: []metadataKey{
				{"from", text(), "the provider that failed", true},
				{"to", text(), "the provider that goes on", true},
				{"code", ref(defCode), "a stable name for what went wrong", true},
			},
		},
		{
			Type: tarsy.EventContextShortened, What: "that the conversation had become too long for the model", Content: "what was done about it",
			metadata: []metadataKey{
				{"results", atLeast(1), "how many tool results the model is given shortened from now on", true},
				{"through", atLeast(1), "the number of the last message that may be shortened", true},
			},
		},
	}

	return append(kinds, grounding(tarsy.EventGoogleSearch, "what the provider searched for the model"),
		grounding(tarsy.EventURLContext, "pages that the provider read for the model"))
}

func finalAnalysis() TimelineKind {
	citations := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{"call": ref(defCall), "event_id": ref(defID)},
		PropertyOrder: []string{"call", "event_id"}, Required: []string{"call", "event_id"}, AdditionalProperties: nothing(),
	}}

	return TimelineKind{
		Type: tarsy.EventFinalAnalysis, What: "what an agent concluded", Content: "the analysis, with marks such as `[call 1.2.3]` behind its conclusions",
		metadata: []metadataKey{
			{"citations", citations, "the tool calls that its marks name: the call's number, and its timeline event", false},
			{
				"unknown_citations", &jsonschema.Schema{Type: "array", Items: ref(defCall)},
				"marks that name no call of this agent or of an earlier stage: nothing supports them", false,
			},
			{"forced_conclusion", constant(true), "the agent was told to conclude before it was done", false},
			{"reason", enum([]tarsy.ForcedConclusion{tarsy.ForcedIterations, tarsy.ForcedDeadline, tarsy.ForcedBudget}), "why it was told", false},
			{"max_iterations", atLeast(1), "how many iterations it may have; with forced_conclusion", false},
			{"cut_off", constant(true), "the model reached its limit of tokens before it was done", false},
		},
	}
}

func toolCall() TimelineKind {
	return TimelineKind{
		Type: tarsy.EventToolCall, What: "a tool call, from its start to its result", Content: "empty, then the result",
		metadata: []metadataKey{
			{"call", ref(defCall), "the call's number in its session: stage, agent, and its place among the agent's calls", true},
			{"server_name", text(), "the MCP server", true},
			{"tool_name", text(), "the tool", true},
			{"arguments", &jsonschema.Schema{}, "what the model gave it, whatever that is", true},
			{"is_error", &jsonschema.Schema{Type: "boolean"}, "the tool failed; when completed", false},
			{"attempt", atLeast(1), "how often it was called; when completed", false},
			{"duration_ms", atLeast(0), "how long it took; when completed", false},
			{"result_tokens", atLeast(0), "how long the result was as the tool gave it, estimated; when completed", false},
			{"outcome", constant("unknown"), "nobody knows whether the call took effect", false},
		},
	}
}

func toolSummary() TimelineKind {
	return TimelineKind{
		Type: tarsy.EventToolSummary, What: "the summary that a model was given instead of a long result", Content: "the summary",
		metadata: []metadataKey{
			{"server_name", text(), "the MCP server", true},
			{"tool_name", text(), "the tool", true},
			{"tool_call_event_id", ref(defID), "the timeline event of the call", true},
			{"original_tokens", atLeast(1), "how long the result was, estimated", true},
		},
	}
}

func grounding(eventType tarsy.EventType, what string) TimelineKind {
	sources := &jsonschema.Schema{Type: "array", Items: &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{"title": text(), "url": text()},
		PropertyOrder: []string{"title", "url"}, Required: []string{"title", "url"}, AdditionalProperties: nothing(),
	}}

	return TimelineKind{
		Type: eventType, What: what, Content: "a line for each source",
		metadata: []metadataKey{
			{"queries", &jsonschema.Schema{Type: "array", Items: text()}, "what was searched for", true},
			{"sources", sources, "title and url of each page", true},
		},
	}
}

// metadataDef is the name of the definition of an event type's metadata.
func metadataDef(eventType tarsy.EventType) string { return "metadata." + string(eventType) }

// metadataSchema is that definition; nil for an event type without metadata.
func (k TimelineKind) metadataSchema() *jsonschema.Schema {
	if len(k.metadata) == 0 {
		return nil
	}

	object := &jsonschema.Schema{
		Type: "object", Description: "The metadata of " + string(k.Type) + ".",
		Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: nothing(),
	}

	for _, key := range k.metadata {
		schema := key.schema.CloneSchemas()
		schema.Description = sentence(key.doc)
		object.Properties[key.name] = schema
		object.PropertyOrder = append(object.PropertyOrder, key.name)

		if key.required {
			object.Required = append(object.Required, key.name)
		}
	}

	return object
}

// metadataRules say which metadata goes with which event type.
func metadataRules() []*jsonschema.Schema {
	var rules []*jsonschema.Schema

	for _, k := range Timeline() {
		metadata := nothing()
		if len(k.metadata) > 0 {
			metadata = ref(metadataDef(k.Type))
		}

		rules = append(rules, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"event_type": constant(string(k.Type))}},
			Then: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"metadata": metadata}},
		})
	}

	return rules
}
