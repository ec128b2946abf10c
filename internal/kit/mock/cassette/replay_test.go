package cassette_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/cassette"
	"tarsy.dev/tarsy/llm/script"
)

// taped records a cassette with these chats, answered "first", "second" and so on, and returns its path.
func taped(t *testing.T, bodies ...string) string {
	t.Helper()

	var replies []script.Reply
	for _, text := range []string{"first", "second", "third"}[:len(bodies)] {
		replies = append(replies, script.Reply{Text: text})
	}

	path := file(t)
	address, _ := recording(t, upstream(t, replies...), path, nil)

	for _, body := range bodies {
		ask(t, address, chatPath, body)
	}

	return path
}

func TestEqualRequestsAreAnsweredInOrderUntilUsedUp(t *testing.T) {
	t.Parallel()

	address, server := replaying(t, taped(t, chat("a"), chat("b"), chat("a")), nil)
	require.Contains(t, ask(t, address, chatPath, chat("a")).body, "first")
	require.Contains(t, ask(t, address, chatPath, chat("a")).body, "third")

	stale := ask(t, address, chatPath, chat("a"))
	require.Equal(t, 409, stale.status)
	require.Equal(t, "false", stale.header.Get("X-Should-Retry"))
	require.Contains(t, stale.body, "stale_cassette")
	require.Contains(t, stale.body, "recorded 2 times, and all recordings are used")

	verdict := server.Verify()[0]
	require.Equal(t, []string{"recording 2, POST /v1/chat/completions"}, verdict.Unused)
	require.Len(t, verdict.Unexpected, 1)
}

func TestMemberOrderNumberFormatAndIgnoredFieldsDoNotMatter(t *testing.T) {
	t.Parallel()

	path := taped(t, chat("a"))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(raw), "ignore: []", "ignore: [user]", 1)), 0o600))

	address, _ := replaying(t, path, nil)
	got := ask(t, address, chatPath, `{ "messages": [{"content":"a", "user":"me", "role":"user"}],
		"user": "somebody", "temperature": 7e-1, "model": "gpt-test" }`)
	require.Equal(t, 200, got.status, got.body)
}

func TestStaleCassetteReportsDifference(t *testing.T) {
	t.Parallel()

	address, _ := replaying(t, taped(t, chat("what was asked"), chatStream("what was asked")), nil)

	got := ask(t, address, chatPath, strings.Replace(chat("what is asked"), "0.70", "1", 1))
	for _, want := range []string{
		"recording 1 is nearest", `messages[0].content: recorded \"what was asked\", asked \"what is asked\"`, "temperature: recorded 0.7, asked 1",
	} {
		require.Contains(t, got.body, want)
	}

	other := ask(t, address, "/v1/messages", `{}`)
	require.Equal(t, 409, other.status)
	require.Contains(t, other.body, `"type":"error"`, "in the form of the API that was asked")
	require.Contains(t, other.body, "it contains POST /v1/chat/completions")

	huge := ask(t, address, chatPath, `{"x":"`+strings.Repeat("é", 1<<20)+`"}`)
	require.Less(t, len(huge.body), 2000, "the difference is short")
}

func TestBrokenCassetteIsRefusedWithLine(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ text, want string }{
		"no YAML":     {"version: 1\nrecordings: [\n", "[2:"},
		"unknown key": {"version: 1\nrecording: []\n", `.yaml: [2:1] unknown field "recording"`},
		"version":     {"version: 2\n", "version 1"},
		"incomplete":  {"version: 1\nrecordings:\n  - request: {method: POST}\n", "recording 1: it needs"},
		"no content":  {"version: 1\nrecordings:\n  - request: {method: POST, path: /x}\n    response: {status: 200, chunks: [{after: 1s}]}\n", "chunk 1: content is one of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			path := file(t)
			require.NoError(t, os.WriteFile(path, []byte(test.text), 0o600))

			_, err := cassette.Load(path)
			require.ErrorContains(t, err, test.want)
			require.NotContains(t, err.Error(), "|", "the message has one line, and no picture of the file")
		})
	}
}
