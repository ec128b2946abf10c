package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/openai"
)

func TestStreamIsReadInEveryForm(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("żółw", 300_000)

	for api, events := range map[string][]string{
		openai.APIChat:      {delta(`{"content":"a"}`), delta(`{"content":"` + long + `"}`), chatStop, chatDone},
		openai.APIResponses: {created, textDelta("a"), textDelta(long), completed("")},
	} {
		plain := "data: " + strings.Join(events, "\n\ndata: ") + "\n\n"

		for name, body := range map[string]string{
			"plain":         plain,
			"CRLF":          strings.ReplaceAll(plain, "\n", "\r\n"),
			"a mark":        "\uFEFF" + plain,
			"several lines": strings.ReplaceAll(plain, `,"`, ",\ndata: \""),
			"comments":      ": hello\n\n" + strings.ReplaceAll(plain, "data: ", ": x\nevent: y\nid: 7\nretry: 5\ndata:"),
			"names alone":   "event: ping\n\n" + plain,
			"after its end": plain + `data: {"error":{"message":"late"}}` + "\n\n",
		} {
			response, chunks, err := serve(t, http.StatusOK, "text/event-stream", body).ask(t, api, question())
			require.NoError(t, err, "%s %s", api, name)
			require.Equal(t, "a"+long, response.Text, "%s %s", api, name)
			require.Len(t, chunks, 4, "%s %s", api, name)
		}
	}
}

func TestLastEventWithoutItsEndIsDropped(t *testing.T) {
	t.Parallel()

	for api, event := range map[string]string{openai.APIChat: chatStop, openai.APIResponses: completed("")} {
		e := serve(t, http.StatusOK, "text/event-stream", "data: "+event+"\n").fails(t, api)
		require.ErrorContains(t, e, "ended before the answer did")
	}
}

func TestValuesOfOtherTypesAreReadAsFarAsPossible(t *testing.T) {
	t.Parallel()

	s := stream(t,
		delta(`{"role":7,"content":7,"refusal":null,"tool_calls":null,"reasoning_content":{"x":1},"annotations":7}`),
		delta(`{"content":["x"],"tool_calls":[{"index":"0","id":5,"type":null,"function":{"name":"get_pods","arguments":{"a": 1}}}]}`),
		`{"id":7,"created":"now","choices":[{"index":null,"delta":null,"finish_reason":"tool_calls"}],"usage":null}`,
		`{"choices":null,"usage":{"prompt_tokens":"10","completion_tokens":5.0,"total_tokens":15,"prompt_tokens_details":null,"completion_tokens_details":7}}`, chatDone,
	)

	_, chunks, err := s.ask(t, openai.APIChat, question())
	require.NoError(t, err)
	require.Equal(t, []llm.Chunk{
		llm.TextChunk{Text: "7"}, llm.TextChunk{Text: `["x"]`}, llm.ToolCallChunk{Call: llm.ToolCall{ID: "5", Name: "get_pods", Arguments: `{"a": 1}`}},
		llm.UsageChunk{InputTokens: 10, OutputTokens: 5}, llm.EndChunk{Reason: llm.StopToolCalls},
	}, chunks)
}

func TestHeadersAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()

	request, _ := send(t, openai.Config{APIKey: "key", Headers: map[string]string{"accept": "x", "OpenAI-Organization": "org"}})
	require.Equal(t, http.Header{
		"Accept": {"text/event-stream"}, "Authorization": {"Bearer key"}, "Content-Type": {"application/json"}, "Openai-Organization": {"org"}, "User-Agent": {"tarsy"},
	}, request.Header)

	request, _ = send(t, openai.Config{Headers: map[string]string{"User-Agent": "own"}})
	require.Equal(t, "own", request.Header.Get("User-Agent"))
}
