package agent

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestLongResultIsCutForTraceAndLaterForModel(t *testing.T) {
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
			require.Equal(t, test.stored, strings.Contains(kept, fmt.Sprintf("[cut: about %d of %d tokens left out]", test.tokens-storedTokens, test.tokens)))
			require.Equal(t, test.stored, kept != content)

			said := b.ledger.state.Messages[3].Content
			require.Equal(t, test.cut, strings.Contains(said, "[cut: about 1 of 100001 tokens left out]"))
			require.Equal(t, test.cut, said != firstCall+content)
			require.Equal(t, said, b.model.Calls()[1].Request.Messages[3].Content, "what is stored is what was sent")
		})
	}
}

func TestSmallContextWindowShortensResult(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.spec.MaxResultTokens = 500
	b.answers(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", "{}")}}, script.Reply{Text: "done"})
	b.tools.during = func(context.Context, Call) (Result, error) {
		return Result{Content: "head" + strings.Repeat("x", 3_992) + "tail"}, nil
	}
	b.finish()

	given := b.model.Calls()[1].Request.Messages[3].Content
	require.Contains(t, given, "[cut: about 500 of 1000 tokens left out]")
	require.True(t, strings.HasPrefix(given, firstCall+"head"))
	require.True(t, strings.HasSuffix(given, "tail"), "the end of a log usually matters most")
	require.Len(t, b.ledger.state.MCPInteractions[0].ToolResult, 4_000, "the trace keeps it")
}
