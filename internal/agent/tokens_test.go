package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestALongResultIsCutForTheTraceAndOnlyAVeryLongOneForTheModel(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		tokens      int
		stored, cut bool
	}{
		"as long as the trace keeps": {storedTokens, false, false},
		"longer than that":           {storedTokens + 1, true, false},
		"as long as a model takes":   {resultTokens, true, false},
		"longer than that as well":   {resultTokens + 1, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}")}}, script.Reply{Text: "done"})

			content := strings.Repeat("é", test.tokens*quote.BytesPerToken/2)
			b.tools.during = func(context.Context, Call) (Result, error) { return Result{Content: content}, nil }
			b.finish()

			kept := b.ledger.state.MCPInteractions[0].ToolResult
			require.Equal(t, kept, b.events(tarsy.EventToolCall)[0].Content)
			require.Equal(t, test.stored, strings.Contains(kept, "[cut: the first 8000 of"))
			require.Equal(t, test.stored, kept != content)

			said := b.ledger.state.Messages[3].Content
			require.Equal(t, test.cut, strings.Contains(said, "[cut: the first 100000 of"))
			require.Equal(t, test.cut, said != firstCall+content)
			require.Equal(t, said, b.model.Calls()[1].Request.Messages[3].Content, "what is stored is what was sent")
		})
	}
}

func TestAModelWithASmallWindowIsGivenLessOfAResult(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.MaxResultTokens = 500
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}")}}, script.Reply{Text: "done"})
	b.tools.during = func(context.Context, Call) (Result, error) { return Result{Content: strings.Repeat("x", 4_000)}, nil }
	b.finish()

	require.Contains(t, b.model.Calls()[1].Request.Messages[3].Content, "[cut: the first 500 of about 1000 tokens are shown]")
	require.Len(t, b.ledger.state.MCPInteractions[0].ToolResult, 4_000, "the trace keeps it")
}
