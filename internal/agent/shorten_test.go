package agent

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func tooLong() error {
	return llm.ErrorOfStatus(400, nil, "context_length_exceeded", "too many tokens")
}

// returning makes the tools return results of the given size.
func (b *bench) returning(size int) {
	b.tools.during = func(context.Context, Call) (Result, error) {
		return Result{Content: strings.Repeat("x", size), Attempts: 1}, nil
	}
}

func TestTooLongConversationIsShortenedOnce(t *testing.T) {
	t.Parallel()

	look := func(id string) script.Reply {
		return script.Reply{ToolCalls: []llm.ToolCall{toolCall(id, "look", `{}`)}}
	}

	b := newBench(t)
	b.returning(9_000)
	b.model.Add(look("a"), look("b"), script.Reply{Err: tooLong()}, script.Reply{Text: "the root cause"})

	execution := b.finish()
	require.Equal(t, tarsy.StatusCompleted, execution.Status)
	require.Equal(t, "the root cause", b.analysis())
	require.Equal(t, 5, execution.ShortenedThrough)

	calls := b.model.Calls()
	before, after := calls[2].Request.Messages, calls[3].Request.Messages
	require.Len(t, before[3].Content, len(firstCall)+9_000)
	require.LessOrEqual(t, len(after[3].Content), 2_000)
	require.Contains(t, after[3].Content, "[cut: about 7013 of 9013 bytes left out, because the conversation became too long]")
	require.Len(t, after[5].Content, len(firstCall)+9_000, "what the model has not seen yet stays whole")

	events := b.events(tarsy.EventContextShortened)
	require.Len(t, events, 1)
	require.Equal(t, "The conversation was too long for the model. It continues with one tool result shortened.", events[0].Content)

	// The messages are unchanged, so that the trace can show what each call got.
	require.Len(t, b.ledger.state.Messages[3].Content, len(firstCall)+9_000)
	require.Equal(t, 0, b.ledger.state.LLMInteractions[2].ShortenedThrough)
	require.Equal(t, "llm_context_too_long", b.ledger.state.LLMInteractions[2].ErrorCode)
	require.Equal(t, 5, b.ledger.state.LLMInteractions[3].ShortenedThrough)
}

func TestOnlyResultIsShortenedWhenNothingElseIsLong(t *testing.T) {
	t.Parallel()

	b := newBench(t)
	b.returning(9_000)
	b.model.Add(
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", `{}`)}},
		script.Reply{Err: tooLong()}, script.Reply{Text: "done"},
	)
	b.finish()
	require.Less(t, len(b.model.Calls()[2].Request.Messages[3].Content), 2_200)
}

// Shortening old results that are slightly too long does not help if the newest result is the long one.
func TestNewestResultIsShortenedWhenItIsTheLongOne(t *testing.T) {
	t.Parallel()

	sizes := map[string]int{"small": 3_000, "large": 60_000}

	b := newBench(t)
	b.tools.during = func(_ context.Context, call Call) (Result, error) {
		return Result{Content: strings.Repeat("x", sizes[strings.Trim(call.Arguments, `"`)]), Attempts: 1}, nil
	}
	b.model.Add(
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", `"small"`)}},
		script.Reply{ToolCalls: []llm.ToolCall{toolCall("b", "look", `"large"`)}},
		script.Reply{Err: tooLong()}, script.Reply{Text: "done"},
	)

	require.Equal(t, tarsy.StatusCompleted, b.finish().Status)
	require.Equal(t, 2, tarsy.MetadataAs[tarsy.ContextShortenedMetadata](b.events(tarsy.EventContextShortened)[0].Metadata).Results)
	require.Less(t, len(b.model.Calls()[3].Request.Messages[5].Content), 2_200)
}

func TestConversationStillTooLongFallsBackOrFails(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		size      int
		fallbacks []Fallback
		replies   []script.Reply
		status    tarsy.Status
	}{
		"shortened, and still too long": {9_000, nil, []script.Reply{{Err: tooLong()}, {Err: tooLong()}}, tarsy.StatusFailed},
		"nothing to shorten":            {10, nil, []script.Reply{{Err: tooLong()}}, tarsy.StatusFailed},
		"another model has more room": {
			9_000, []Fallback{{Provider: "large"}}, []script.Reply{{Err: tooLong()}, {Err: tooLong()}, {Text: "done"}}, tarsy.StatusCompleted,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := newBench(t)
			b.returning(test.size)
			b.spec.Fallbacks = test.fallbacks
			b.model.Add(script.Reply{ToolCalls: []llm.ToolCall{toolCall("a", "look", `{}`)}})
			b.model.Add(test.replies...)

			execution := b.finish()
			require.Equal(t, test.status, execution.Status)
			require.Empty(t, b.model.Unused())

			if test.status == tarsy.StatusFailed {
				require.Equal(t, CodeContextTooLong, execution.ErrorCode)
			}
		})
	}
}
