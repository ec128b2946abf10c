package anthropic_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

const (
	textStart = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
	textStop  = `{"type":"content_block_stop","index":0}`
)

func textDelta(text string) string {
	return `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":` + text + `}}`
}

func TestStreamIsReadInEveryForm(t *testing.T) {
	t.Parallel()

	long := strings.Repeat("żółw", 300_000)
	events := []string{start, textStart, textDelta(`"a"`), textDelta(`"` + long + `"`), textStop, ended("end_turn"), stop}

	for name, body := range map[string]string{
		"plain":            sse(events...),
		"CRLF":             strings.ReplaceAll(sse(events...), "\n", "\r\n"),
		"a mark":           "\uFEFF" + sse(events...),
		"several lines":    strings.ReplaceAll(sse(events...), `,"index"`, ",\ndata: \"index\""),
		"comments":         ": hello\n\n" + strings.ReplaceAll(sse(events...), "data: ", ": x\nid: 7\nretry: 5\ndata:"),
		"no names":         sse(events...) + "data: {\"type\":\"x\"}\n\n",
		"what is no event": "data: {oops\n\nevent: ping\n\nevent: content_block_delta\ndata:\n\n" + sse(events...),
		"after its end":    sse(events...) + sse(`{"type":"error","error":{"type":"api_error","message":"late"}}`),
	} {
		chunks, err := newAPI(t, reply{body: body}).generate(question())
		require.NoError(t, err, name)
		require.Equal(t, []llm.Chunk{
			llm.TextChunk{Text: "a"}, llm.TextChunk{Text: long}, llm.UsageChunk{InputTokens: 25, OutputTokens: 15}, llm.EndChunk{Reason: llm.StopEnd},
		}, chunks, name)
	}
}

func TestLastEventWithoutItsEndIsDropped(t *testing.T) {
	t.Parallel()

	_, err := newAPI(t, reply{body: strings.TrimSuffix(sse(start, textStart, textStop, ended("end_turn"), stop), "\n")}).generate(question())
	require.ErrorContains(t, err, "ended before the answer did")
}

func TestValuesOfOtherTypesAreReadAsFarAsPossible(t *testing.T) {
	t.Parallel()

	chunks, err := newAPI(t, reply{body: sse(
		`{"type":"message_start","message":{"usage":{"input_tokens":"25","output_tokens":1.0,"cache_read_input_tokens":null,"service_tier":{}}}}`,
		textStart, textDelta(`7`), textDelta(`null`), textDelta(`["x"]`), textStop,
		`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":1,"name":"get_pods","input":{}}}`,
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":{"a":1}}}`, `{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_details":"none"},"usage":{"output_tokens":15.5,"output_tokens_details":null}}`, stop,
	)}).generate(question())
	require.NoError(t, err)
	require.Equal(t, []llm.Chunk{
		llm.TextChunk{Text: "7"}, llm.TextChunk{Text: `["x"]`}, llm.ToolCallChunk{Call: llm.ToolCall{ID: "1", Name: "get_pods", Arguments: `{"a":1}`}},
		llm.UsageChunk{InputTokens: 25, OutputTokens: 15}, llm.EndChunk{Reason: llm.StopToolCalls},
	}, chunks)
}

func TestHeadersAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()

	a := newAPI(t, reply{body: sse(start, ended("end_turn"), stop)})
	_, err := a.generate(question())
	require.NoError(t, err)
	require.Equal(t, http.Header{
		"Accept": {"application/json"}, "Accept-Encoding": {"gzip"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"},
		"Content-Length": a.headers[0]["Content-Length"], "User-Agent": {"tarsy"}, "X-Api-Key": {"sk-ant-secret"},
	}, a.headers[0])
}
