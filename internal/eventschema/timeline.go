package eventschema

import (
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/schema"
)

// TimelineKind is one type of timeline event: what people see, and its metadata.
type TimelineKind struct {
	Type tarsy.EventType
	What string
	// Content describes its text.
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

// Timeline returns every type of timeline event.
func Timeline() []TimelineKind {
	return []TimelineKind{
		{tarsy.EventThinking, "the thinking of a model before its response", "the thinking", nil},
		{tarsy.EventResponse, "an intermediate response of a model", "the response", nil},
		{
			tarsy.EventToolCall, "a tool call, from its start to its result", "empty, then the result",
			reflect.TypeFor[tarsy.ToolCallMetadata](),
		},
		{
			tarsy.EventToolSummary, "the summary that the model got instead of a long result", "the summary",
			reflect.TypeFor[tarsy.ToolSummaryMetadata](),
		},
		{
			tarsy.EventError, "an error, usually one that ended an execution", "the error message",
			reflect.TypeFor[tarsy.ErrorMetadata](),
		},
		{tarsy.EventUserQuestion, "a question in the chat", "the question", reflect.TypeFor[tarsy.QuestionMetadata]()},
		{tarsy.EventExecutiveSummary, "the short summary of the final analysis", "the summary", nil},
		{
			tarsy.EventFinalAnalysis, "the conclusion of an agent", "the analysis, with citations such as `[call 1.2.3]` after its conclusions",
			reflect.TypeFor[tarsy.FinalAnalysisMetadata](),
		},
		{
			tarsy.EventCodeExecution, "code that the provider ran for the model", "the output of the code",
			reflect.TypeFor[tarsy.CodeExecutionMetadata](),
		},
		{
			tarsy.EventProviderFallback, "that a provider failed and another one continues", "the providers and the reason",
			reflect.TypeFor[tarsy.ProviderFallbackMetadata](),
		},
		{
			tarsy.EventContextShortened, "that the conversation exceeded the context window of the model", "what was shortened",
			reflect.TypeFor[tarsy.ContextShortenedMetadata](),
		},
		{
			tarsy.EventGoogleSearch, "a web search by the provider", "one line per source",
			reflect.TypeFor[tarsy.GroundingMetadata](),
		},
		{
			tarsy.EventURLContext, "pages that the provider read", "one line per source",
			reflect.TypeFor[tarsy.GroundingMetadata](),
		},
	}
}

// metadataDef returns the name of the definition of an event type's metadata.
func metadataDef(eventType tarsy.EventType) string { return "metadata." + string(eventType) }

// metadataRules define the metadata of each event type.
func metadataRules() []*jsonschema.Schema {
	var rules []*jsonschema.Schema

	for _, k := range Timeline() {
		metadata := schema.Never()
		if k.metadata != nil {
			metadata = schema.Ref(metadataDef(k.Type))
		}

		rules = append(rules, &jsonschema.Schema{
			If:   &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"event_type": schema.Constant(string(k.Type))}},
			Then: &jsonschema.Schema{Properties: map[string]*jsonschema.Schema{"metadata": metadata}},
		})
	}

	return rules
}
