package sdktest_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// send makes a request of the beta API, whole or streamed, and assembles the stream.
func send(t *testing.T, client sdk.Client, stream bool, params sdk.BetaMessageNewParams, options ...option.RequestOption) (*sdk.BetaMessage, error) {
	t.Helper()

	if !stream {
		return client.Beta.Messages.New(t.Context(), params, options...)
	}

	events := client.Beta.Messages.NewStreaming(t.Context(), params, options...)
	message := &sdk.BetaMessage{}

	for events.Next() {
		require.NoError(t, message.Accumulate(events.Current()))
	}

	require.NoError(t, events.Close())

	return message, events.Err()
}

func threadCreate() option.RequestOption {
	return option.WithJSONSet("thread", map[string]any{"type": "create"})
}

func threadContinue(id string) option.RequestOption {
	return option.WithJSONSet("thread", map[string]any{"type": "continue", "previous_message_id": id})
}

func betaParams(messages ...sdk.BetaMessageParam) sdk.BetaMessageNewParams {
	return sdk.BetaMessageNewParams{Model: "claude-opus-5-5", MaxTokens: 64, Messages: messages, Betas: []sdk.AnthropicBeta{"message-threads-2026-08-12"}}
}

func TestThreadIsCreatedAndContinued(t *testing.T) {
	t.Parallel()

	for _, stream := range []bool{false, true} {
		s := serve(t,
			script.Reply{Thinking: "Hm.", Text: "I look.", ToolCalls: []llm.ToolCall{{Name: "get_pods", Arguments: `{"a":"b"}`}}},
			script.Reply{Text: "It is the disk."}, script.Reply{Text: "Sure."})
		client := s.official()

		params := betaParams(sdk.NewBetaUserMessage(sdk.NewBetaTextBlock("Why?")))
		params.System = []sdk.BetaTextBlockParam{{Text: "Be brief."}}
		params.Tools = []sdk.BetaToolUnionParam{{OfTool: &sdk.BetaToolParam{Name: "get_pods", InputSchema: sdk.BetaToolInputSchemaParam{Properties: map[string]any{}}}}}
		first, err := send(t, client, stream, params, threadCreate())
		require.NoError(t, err)

		call := first.Content[len(first.Content)-1].AsToolUse()
		second, err := send(t, client, stream, betaParams(sdk.NewBetaUserMessage(sdk.NewBetaToolResultBlock(call.ID, "none", false))), threadContinue(first.ID))
		require.NoError(t, err)
		require.NotEqual(t, first.ID, second.ID)

		// The thread keeps its system text, whatever a later request contains.
		params = betaParams(sdk.NewBetaUserMessage(sdk.NewBetaTextBlock("Sure?")))
		params.System = []sdk.BetaTextBlockParam{{Text: "Be long."}}
		_, err = send(t, client, stream, params, threadContinue(second.ID))
		require.NoError(t, err)

		seen := s.Calls()[2].Request
		require.Equal(t, "get_pods", seen.Tools[0].Name)
		require.Equal(t, []llm.Message{
			{Role: llm.RoleSystem, Content: "Be brief."},
			{Role: llm.RoleUser, Content: "Why?"},
			{
				Role: llm.RoleAssistant, Content: "I look.", ToolCalls: []llm.ToolCall{{ID: call.ID, Name: "get_pods", Arguments: `{"a":"b"}`}},
				Signature: &llm.Signature{By: "wire", Data: json.RawMessage(`"` + first.Content[0].AsThinking().Signature + `"`)},
			},
			{Role: llm.RoleTool, Content: "none", ToolCallID: call.ID, ToolName: "get_pods"},
			{Role: llm.RoleAssistant, Content: "It is the disk."},
			{Role: llm.RoleUser, Content: "Sure?"},
		}, seen.Messages)
	}
}

// An earlier answer can be continued again: the thread forks there.
func TestThreadForks(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: "one"}, script.Reply{Text: "two"}, script.Reply{Text: "three"})
	client := s.official()
	first, err := send(t, client, false, betaParams(sdk.NewBetaUserMessage(sdk.NewBetaTextBlock("a"))), threadCreate())
	require.NoError(t, err)

	for _, text := range []string{"b", "c"} {
		_, err = send(t, client, false, betaParams(sdk.NewBetaUserMessage(sdk.NewBetaTextBlock(text))), threadContinue(first.ID))
		require.NoError(t, err)
	}

	messages := s.Calls()[2].Request.Messages
	require.Len(t, messages, 3)
	require.Equal(t, "one", messages[1].Content)
	require.Equal(t, "c", messages[2].Content)
}

// Each request can mark as many blocks for the cache as one without a thread.
func TestThreadCountsMarksForTheCachePerRequest(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: "ok", Times: -1})
	client := s.official()
	block := sdk.BetaContentBlockParamUnion{OfText: &sdk.BetaTextBlockParam{Text: "a", CacheControl: sdk.NewBetaCacheControlEphemeralParam()}}
	message, err := send(t, client, false, betaParams(sdk.NewBetaUserMessage(block, block, block)), threadCreate())
	require.NoError(t, err)

	for range 3 {
		message, err = send(t, client, false, betaParams(sdk.NewBetaUserMessage(block, block)), threadContinue(message.ID))
		require.NoError(t, err)
	}

	_, err = send(t, client, false, betaParams(sdk.NewBetaUserMessage(block, block, block, block, block)), threadContinue(message.ID))
	require.ErrorContains(t, err, "Found 5.")
}
