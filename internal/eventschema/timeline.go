package eventschema

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy"
)

// TimelineKind is one type of timeline event: what a person sees, and what else is known about it.
type TimelineKind struct {
	Type tarsy.EventType
	What string
	// Content says what its text is.
	Content string

	metadata reflect.Type // nil for none
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
	return []TimelineKind{
		{tarsy.EventThinking, "what a model thought before it answered", "the thoughts", nil},
		{tarsy.EventResponse, "what a model answered in the middle of an investigation", "the answer", nil},
		{
			tarsy.EventToolCall, "a tool call, from its start to its result", "empty, then the result",
			reflect.TypeFor[tarsy.ToolCallMetadata](),
		},
		{
			tarsy.EventToolSummary, "the summary that a model was given instead of a long result", "the summary",
			reflect.TypeFor[tarsy.ToolSummaryMetadata](),
		},
		{
			tarsy.EventError, "what went wrong: mostly what ended an execution", "the same, for people",
			reflect.TypeFor[tarsy.ErrorMetadata](),
		},
		{tarsy.EventUserQuestion, "a question in the chat", "the question", reflect.TypeFor[tarsy.QuestionMetadata]()},
		{tarsy.EventExecutiveSummary, "the short summary of the final analysis", "the summary", nil},
		{
			tarsy.EventFinalAnalysis, "what an agent concluded", "the analysis, with marks such as `[call 1.2.3]` behind its conclusions",
			reflect.TypeFor[tarsy.FinalAnalysisMetadata](),
		},
		{
			tarsy.EventCodeExecution, "code that the provider ran for the model", "what the code printed",
			reflect.TypeFor[tarsy.CodeExecutionMetadata](),
		},
		{
			tarsy.EventProviderFallback, "that a provider failed and another goes on", "who, and why",
			reflect.TypeFor[tarsy.ProviderFallbackMetadata](),
		},
		{
			tarsy.EventContextShortened, "that the conversation had become too long for the model", "what was done about it",
			reflect.TypeFor[tarsy.ContextShortenedMetadata](),
		},
		{
			tarsy.EventGoogleSearch, "what the provider searched for the model", "a line for each source",
			reflect.TypeFor[tarsy.GroundingMetadata](),
		},
		{
			tarsy.EventURLContext, "pages that the provider read for the model", "a line for each source",
			reflect.TypeFor[tarsy.GroundingMetadata](),
		},
	}
}

// metadataDef is the name of the definition of an event type's metadata.
func metadataDef(eventType tarsy.EventType) string { return "metadata." + string(eventType) }

// metadataRules say which metadata goes with which event type.
func metadataRules() []*jsonschema.Schema {
	var rules []*jsonschema.Schema

	for _, k := range Timeline() {
		metadata := nothing()
		if k.metadata != nil {
			metadata = ref(metadataDef(k.Type))
		}

		rules = append(rules, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"event_type": constant(string(k.Type))}},
			Then: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"metadata": metadata}},
		})
	}

	return rules
}
