package sdktest_test

import (
	"encoding/json"
	"net/http"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// official returns the official client for the server.
func (s *server) official() sdk.Client {
	transport := &http.Transport{}
	s.Cleanup(transport.CloseIdleConnections)

	return sdk.NewClient(option.WithoutEnvironmentDefaults(), option.WithAPIKey("any"), option.WithBaseURL(s.url),
		option.WithMaxRetries(0), option.WithHTTPClient(&http.Client{Transport: transport}))
}

func params(messages ...sdk.MessageParam) sdk.MessageNewParams {
	return sdk.MessageNewParams{Model: "claude-test", MaxTokens: 64, Messages: messages}
}

// check checks what the official client made of everything.
func check(t *testing.T, message sdk.Message) {
	t.Helper()

	require.Regexp(t, `^msg_01\w{22}$`, message.ID)
	require.Equal(t, "claude-test", message.Model)
	require.Equal(t, sdk.StopReasonToolUse, message.StopReason)
	require.Len(t, message.Content, 4)
	require.Equal(t, "Let me see.", message.Content[0].AsThinking().Thinking)
	require.Equal(t, thinkingSignature, message.Content[0].AsThinking().Signature)
	require.Equal(t, "It is \"the\" disk.\n", message.Content[1].AsText().Text)
	require.Equal(t, "toolu_a", message.Content[2].AsToolUse().ID)
	require.JSONEq(t, `{"namespace":"shop","names":["a","b","ü"]}`, string(message.Content[2].AsToolUse().Input))
	require.JSONEq(t, `{}`, string(message.Content[3].AsToolUse().Input))
	require.EqualValues(t, 20, message.Usage.InputTokens)
	require.EqualValues(t, 10, message.Usage.CacheReadInputTokens)
	require.EqualValues(t, 11, message.Usage.OutputTokens)
	require.EqualValues(t, 4, message.Usage.OutputTokensDetails.ThinkingTokens)
}

func TestOfficialClientReadsWholeAnswer(t *testing.T) {
	t.Parallel()

	client := serve(t, everything()).official()
	message, err := client.Messages.New(t.Context(), params(sdk.NewUserMessage(sdk.NewTextBlock("Why?"))))
	require.NoError(t, err)
	check(t, *message)
}

func TestOfficialClientReadsStreamAndSendsItBack(t *testing.T) {
	t.Parallel()

	s := serve(t, everything(), script.Reply{Text: "ok"})
	client := s.official()
	stream := client.Messages.NewStreaming(t.Context(), params(sdk.NewUserMessage(sdk.NewTextBlock("Why?"))))

	var message sdk.Message
	for stream.Next() {
		require.NoError(t, message.Accumulate(stream.Current()))
	}

	require.NoError(t, stream.Err())
	require.NoError(t, stream.Close())
	check(t, message)

	answer, err := client.Messages.New(t.Context(), params(
		sdk.NewUserMessage(sdk.NewTextBlock("Why?")), message.ToParam(),
		sdk.NewUserMessage(sdk.NewToolResultBlock("toolu_a", "one", false), sdk.NewToolResultBlock(message.Content[3].ID, "two", false)),
	))
	require.NoError(t, err)
	require.Equal(t, "ok", answer.Content[0].Text)

	seen := s.Calls()[1].Request.Messages
	require.Len(t, seen, 4)
	require.Equal(t, `"`+thinkingSignature+`"`, string(seen[1].Signature.Data))
	require.Len(t, seen[1].ToolCalls, 2)
	require.Equal(t, "get_events", seen[3].ToolName)
}

func TestOfficialClientReadsNativeTools(t *testing.T) {
	t.Parallel()

	client := serve(t, script.Reply{Chunks: []llm.Chunk{
		llm.GroundingChunk{Kind: "google_search", Queries: []string{"oom"}, Sources: []llm.Source{{Title: "Memory", URL: "https://a.test/1"}}},
		llm.GroundingChunk{Kind: "url_context", Sources: []llm.Source{{Title: "Page", URL: "https://a.test/2"}}},
		llm.CodeExecutionChunk{Code: "echo 1", Result: "1\n"},
	}}).official()

	message, err := client.Messages.New(t.Context(), params(sdk.NewUserMessage(sdk.NewTextBlock("Why?"))))
	require.NoError(t, err)
	require.Len(t, message.Content, 6)
	require.Equal(t, map[string]any{"query": "oom"}, message.Content[0].AsServerToolUse().Input)
	require.Equal(t, "https://a.test/1", message.Content[1].AsWebSearchToolResult().Content.OfWebSearchResultBlockArray[0].URL)
	require.Equal(t, "Page", message.Content[3].AsWebFetchToolResult().Content.AsResponseWebFetchResultBlock().Content.Title)
	require.Equal(t, "1\n", message.Content[5].AsBashCodeExecutionToolResult().Content.Stdout)
}

func TestOfficialClientReadsErrors(t *testing.T) {
	t.Parallel()

	failure := &llm.Error{Status: 529, Class: llm.ClassTransient, Message: "Overloaded", Retryable: true}
	client := serve(t, script.Reply{Err: failure}, script.Reply{Text: "a b", AfterChunks: 1, Err: failure}).official()

	var refused *sdk.Error

	_, err := client.Messages.New(t.Context(), params(sdk.NewUserMessage(sdk.NewTextBlock("Why?"))))
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 529, refused.StatusCode)
	require.Equal(t, sdk.ErrorTypeOverloadedError, refused.Type())
	require.Regexp(t, `^req_01\w{22}$`, refused.RequestID)

	stream := client.Messages.NewStreaming(t.Context(), params(sdk.NewUserMessage(sdk.NewTextBlock("Why?"))))
	for stream.Next() {
		_ = stream.Current()
	}

	require.ErrorAs(t, stream.Err(), &refused)
	require.Equal(t, sdk.ErrorTypeOverloadedError, refused.Type())
	require.NoError(t, stream.Close())
}

func TestOfficialClientCountsAndListsModels(t *testing.T) {
	t.Parallel()

	client := serve(t).official()

	count, err := client.Messages.CountTokens(t.Context(), sdk.MessageCountTokensParams{
		Model: "claude-test", Messages: []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock("12345"))},
	})
	require.NoError(t, err)
	require.EqualValues(t, 2, count.InputTokens)

	var ids []string

	pages := client.Models.ListAutoPaging(t.Context(), sdk.ModelListParams{Limit: sdk.Int(3)})
	for pages.Next() {
		ids = append(ids, pages.Current().ID)
	}

	require.NoError(t, pages.Err())
	require.Len(t, ids, 8)

	model, err := client.Models.Get(t.Context(), "claude-opus-4-5", sdk.ModelGetParams{})
	require.NoError(t, err)
	require.Equal(t, "claude-opus-4-5-20251101", model.ID)
	require.True(t, model.Capabilities.Thinking.Types.Enabled.Supported)

	model, err = client.Models.Get(t.Context(), "of-our-own", sdk.ModelGetParams{})
	require.NoError(t, err)
	require.Equal(t, "of-our-own", model.ID)
	require.True(t, json.Valid([]byte(model.RawJSON())))
}
