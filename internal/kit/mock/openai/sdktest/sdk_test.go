package sdktest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// sdk returns the official library's client.
func (s *server) sdk() sdk.Client {
	return sdk.NewClient(option.WithBaseURL(s.URL+"/v1"), option.WithAPIKey("key"), option.WithMaxRetries(0), option.WithHTTPClient(s.Client()))
}

func chatParams() sdk.ChatCompletionNewParams {
	return sdk.ChatCompletionNewParams{
		Model: "gpt-5", Messages: []sdk.ChatCompletionMessageParamUnion{sdk.UserMessage("What is wrong?")},
	}
}

// streamParams returns chatParams for a stream that ends with the usage.
func streamParams() sdk.ChatCompletionNewParams {
	params := chatParams()
	params.StreamOptions.IncludeUsage = sdk.Bool(true)

	return params
}

func responseParams() responses.ResponseNewParams {
	return responses.ResponseNewParams{
		Model: "gpt-5", Input: responses.ResponseNewParamsInputUnion{OfString: sdk.String("What is wrong?")},
		Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent, responses.ResponseIncludableCodeInterpreterCallOutputs},
	}
}

const everythingsText = "It is \"2\" \x00\ufffd żółw"

func TestOfficialLibraryReadsChatCompletion(t *testing.T) {
	t.Parallel()

	s := serve(t, everything())
	client := s.sdk()
	completion, err := client.Chat.Completions.New(t.Context(), chatParams())
	require.NoError(t, err)
	require.Equal(t, everythingsText, completion.Choices[0].Message.Content)
	require.Equal(t, "tool_calls", completion.Choices[0].FinishReason)
	require.Len(t, completion.Choices[0].Message.ToolCalls, 2)
	require.Equal(t, "get_pods", completion.Choices[0].Message.ToolCalls[0].Function.Name)
	require.Equal(t, "https://example.com/137", completion.Choices[0].Message.Annotations[0].URLCitation.URL)
	require.EqualValues(t, 7, completion.Usage.CompletionTokensDetails.ReasoningTokens)
	require.EqualValues(t, 80, completion.Usage.PromptTokensDetails.CachedTokens)
}

func TestOfficialLibraryAssemblesStreamedChatCompletion(t *testing.T) {
	t.Parallel()

	s := serve(t, everything())
	client := s.sdk()
	stream := client.Chat.Completions.NewStreaming(t.Context(), streamParams())

	var (
		whole    sdk.ChatCompletionAccumulator
		thinking strings.Builder
	)

	for stream.Next() {
		chunk := stream.Current()
		require.True(t, whole.AddChunk(chunk))

		for _, choice := range chunk.Choices {
			thinking.WriteString(strings.Trim(choice.Delta.JSON.ExtraFields["reasoning_content"].Raw(), `"`))
		}
	}

	require.NoError(t, stream.Err())
	require.Equal(t, everythingsText, whole.Choices[0].Message.Content)
	require.Equal(t, `Let me see.\n`, thinking.String())
	require.Len(t, whole.Choices[0].Message.ToolCalls, 2)
	require.JSONEq(t, `{"namespace":"shop","labels":"żółw=1"}`, whole.Choices[0].Message.ToolCalls[0].Function.Arguments)
	require.Equal(t, "call_2", whole.Choices[0].Message.ToolCalls[1].ID)
	require.EqualValues(t, 127, whole.Usage.TotalTokens)
}

func TestOfficialLibraryReadsResponse(t *testing.T) {
	t.Parallel()

	s := serve(t, everything())
	client := s.sdk()
	response, err := client.Responses.New(t.Context(), responseParams())
	require.NoError(t, err)
	require.Equal(t, everythingsText, response.OutputText())
	requireOutput(t, response)
}

// requireOutput checks the output of everything.
func requireOutput(t *testing.T, response *responses.Response) {
	t.Helper()

	var kinds []string
	for _, item := range response.Output {
		kinds = append(kinds, item.Type)
		require.True(t, item.JSON.ID.Valid())
	}

	require.Equal(t, []string{"reasoning", "code_interpreter_call", "web_search_call", "message", "function_call", "function_call"}, kinds)
	require.Equal(t, "sealed", response.Output[0].EncryptedContent)
	require.Equal(t, "Let me see.\n", response.Output[0].Summary[0].Text)
	require.Equal(t, "2\n", response.Output[1].Outputs[0].Logs)
	require.Equal(t, []string{"exit code 137"}, response.Output[2].AsWebSearchCall().Action.Queries)
	require.Equal(t, "Codes", response.Output[3].Content[0].Annotations[0].Title)
	require.Equal(t, "call_1", response.Output[4].AsFunctionCall().CallID)
	require.EqualValues(t, 7, response.Usage.OutputTokensDetails.ReasoningTokens)
	require.Equal(t, responses.ResponseStatusCompleted, response.Status)
}

func TestOfficialLibraryReadsStreamedResponse(t *testing.T) {
	t.Parallel()

	s := serve(t, everything())
	client := s.sdk()
	stream := client.Responses.NewStreaming(t.Context(), responseParams())

	var (
		text, thinking, code strings.Builder
		arguments            = map[string]string{}
		numbers              int64
		added, done          []string
		last                 *responses.Response
	)

	for stream.Next() {
		event := stream.Current()
		require.Equal(t, numbers, event.SequenceNumber)

		numbers++

		switch e := event.AsAny().(type) {
		case responses.ResponseOutputItemAddedEvent:
			require.Len(t, added, int(e.OutputIndex))
			added = append(added, e.Item.ID)
		case responses.ResponseOutputItemDoneEvent:
			done = append(done, e.Item.ID)
		case responses.ResponseTextDeltaEvent:
			text.WriteString(e.Delta)
		case responses.ResponseReasoningSummaryTextDeltaEvent:
			thinking.WriteString(e.Delta)
		case responses.ResponseCodeInterpreterCallCodeDeltaEvent:
			code.WriteString(e.Delta)
		case responses.ResponseFunctionCallArgumentsDeltaEvent:
			arguments[e.ItemID] += e.Delta
		case responses.ResponseFunctionCallArgumentsDoneEvent:
			require.Equal(t, arguments[e.ItemID], e.Arguments)
		case responses.ResponseCompletedEvent:
			last = &e.Response
		case nil:
			require.Fail(t, "the library does not know "+event.Type)
		}
	}

	require.NoError(t, stream.Err())
	require.Equal(t, added, done, "items end in the order in which they began")
	require.Equal(t, everythingsText, text.String())
	require.Equal(t, "Let me see.\n", thinking.String())
	require.Equal(t, "print(1+1)", code.String())
	require.NotNil(t, last)
	requireOutput(t, last)
}

func TestOfficialLibraryReturnsWhatItReceived(t *testing.T) {
	t.Parallel()

	s := serve(t, everything(), script.Reply{Text: "fine"})
	client := s.sdk()
	first, err := client.Responses.New(t.Context(), responseParams())
	require.NoError(t, err)

	params := responseParams()
	params.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{
		responses.ResponseInputItemParamOfMessage("What is wrong?", responses.EasyInputMessageRoleUser),
	}}

	for _, item := range first.Output {
		params.Input.OfInputItemList = append(params.Input.OfInputItemList,
			param.Override[responses.ResponseInputItemUnionParam](json.RawMessage(item.RawJSON())))
	}

	for _, id := range []string{"call_1", "call_2"} {
		result := responses.ResponseInputItemParamOfFunctionCallOutput("none")
		result.OfFunctionCallOutput.CallID = sdk.String(id)
		params.Input.OfInputItemList = append(params.Input.OfInputItemList, result)
	}

	_, err = client.Responses.New(t.Context(), params)
	require.NoError(t, err)

	messages := s.script.Calls()[1].Request.Messages
	require.Len(t, messages, 4)
	require.Equal(t, everythingsText, messages[1].Content)
	require.Len(t, messages[1].ToolCalls, 2)
	require.JSONEq(t, `"sealed"`, string(messages[1].Signature.Data))
}

func TestOfficialLibraryReadsModelsTokensAndErrors(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Err: &llm.Error{Status: http.StatusTooManyRequests, Class: llm.ClassQuota, Message: "slow down", Retryable: true}},
		script.Reply{Text: "one two", AfterChunks: 1, Err: &llm.Error{Class: llm.ClassTransient, Message: "broke"}})
	client := s.sdk()

	page, err := client.Models.List(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, page.Data)

	one, err := client.Models.Get(t.Context(), "gpt-x")
	require.NoError(t, err)
	require.Equal(t, "gpt-x", one.ID)

	count, err := client.Responses.InputTokens.Count(t.Context(), responses.InputTokenCountParams{
		Model: sdk.String("gpt-5"), Input: responses.InputTokenCountParamsInputUnion{OfString: sdk.String("four by four: 16")},
	})
	require.NoError(t, err)
	require.EqualValues(t, 4, count.InputTokens)

	_, err = client.Chat.Completions.New(t.Context(), chatParams())

	var failure *sdk.Error

	require.ErrorAs(t, err, &failure)
	require.Equal(t, http.StatusTooManyRequests, failure.StatusCode)
	require.Equal(t, "rate_limit_exceeded", failure.Code)
	require.Equal(t, "slow down", failure.Message)

	stream := client.Chat.Completions.NewStreaming(t.Context(), streamParams())
	for stream.Next() {
		require.Empty(t, stream.Current().Choices[0].FinishReason)
	}

	require.ErrorContains(t, stream.Err(), "broke")
}
