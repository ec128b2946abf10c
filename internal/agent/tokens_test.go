package agent

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestTokensAreEstimatedAtFourBytesRoundedUp(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]int{"": 0, "a": 1, "abcd": 1, "abcde": 2, "éé": 1, "ééé": 2} {
		require.Equal(t, want, EstimateTokens(text), text)
	}
}

func TestTruncationKeepsRunesWholeAndSaysSo(t *testing.T) {
	t.Parallel()

	require.Equal(t, "short", truncate("short", 2))
	require.Equal(t, "abcdefgh", truncate("abcdefgh", 2))

	long := "x" + strings.Repeat("é", 200)
	cut := truncate(long, 20)
	require.Equal(t, "x"+strings.Repeat("é", 14)+"\n\n[cut: the first 20 of about 101 tokens are shown]", cut)
	require.Equal(t, cut, truncate(cut, 20), "what was cut once is not cut again")

	end := truncateFront(long, 20)
	require.True(t, strings.HasPrefix(end, "[cut: the last 20 of about 101 tokens are shown]\n\né"), end)
	require.True(t, strings.HasSuffix(end, "é"))
	require.Equal(t, "short", truncateFront("short", 2))
}

func TestTruncationNeverExceedsItsLimit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.StringN(1, 20, -1).Draw(t, "text"), rapid.IntRange(0, 100).Draw(t, "times"))
		limit := rapid.IntRange(20, 200).Draw(t, "limit")

		for _, cut := range []string{truncate(text, limit), truncateFront(text, limit)} {
			require.LessOrEqual(t, EstimateTokens(cut), limit)
			require.True(t, utf8.ValidString(cut))
		}

		if EstimateTokens(text) <= limit {
			require.Equal(t, text, truncate(text, limit))
			require.Equal(t, text, truncateFront(text, limit))
		}
	})
}

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

			content := strings.Repeat("é", test.tokens*bytesPerToken/2)
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
