package cassette_test

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/cassette"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestRecordingIsReplayedByteForByte(t *testing.T) {
	t.Parallel()

	text := "Grüße,\n  \"quoted\" \\ back\tslash\u2028 and 😀.\n\n"
	calls := []llm.ToolCall{{ID: "call_x", Name: "look", Arguments: `{"a":[1,2.50,null]}`}}
	replies := []script.Reply{
		{Text: text}, {Text: text}, {Text: "b", Thinking: "hm", ToolCalls: calls}, {Text: "b", ToolCalls: calls},
		{Text: text, Thinking: "hm"}, {Text: text}, {Text: "g"}, {Text: "g and g"}, {Text: "g and g"},
		{Err: llm.ErrorOfStatus(429, http.Header{"Retry-After": {"7"}}, "rate_limit_exceeded", "slow down")},
	}
	requests := []struct{ path, body string }{
		{chatPath, chat("one")},
		{chatPath, chatStream("one")},
		{chatPath, chatStream("two")},
		{"/v1/responses", `{"model":"gpt-test","input":"hi"}`},
		{"/v1/messages", `{"model":"claude-test","max_tokens":100,"messages":[{"role":"user","content":"hi"}]}`},
		{"/v1/messages", `{"model":"claude-test","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"hi"}]}`},
		{"/v1beta/models/gemini-test:generateContent?key=" + secret, `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
		{"/v1beta/models/gemini-test:streamGenerateContent?alt=sse&key=" + secret, `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
		{"/v1beta/models/gemini-test:streamGenerateContent?key=" + secret, `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`},
		{chatPath, chat("three")},
		{"/v1/images/generations", `{"model":"none"}`}, // requests that the real API does not know are recorded as well
	}
	path := file(t)
	address, _ := recording(t, upstream(t, replies...), path, nil)

	var recorded []answer
	for _, request := range requests {
		recorded = append(recorded, ask(t, address, request.path, request.body))
	}

	require.Equal(t, 429, recorded[9].status)
	require.Equal(t, 404, recorded[10].status)

	replayed, server := replaying(t, path, nil)
	for i, request := range requests {
		got := ask(t, replayed, request.path, request.body)
		require.Equal(t, recorded[i].status, got.status, request.body)
		require.Equal(t, recorded[i].body, got.body, request.path)
		require.Equal(t, recorded[i].header.Get("Content-Type"), got.header.Get("Content-Type"))
		require.Equal(t, recorded[i].header.Get("Retry-After"), got.header.Get("Retry-After"))
	}

	verdict := server.Verify()[0]
	require.Empty(t, verdict.Unused)
	require.Empty(t, verdict.Unexpected)

	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(raw), secret)
	require.NotContains(t, string(raw), "base64:")
	require.Contains(t, string(raw), "          model: gpt-test\n", "bodies are YAML")
	require.Contains(t, string(raw), "          event: |-\n            data: {", "events are blocks")
}

func TestStreamIsForwardedLiveAndItsTimingStored(t *testing.T) {
	t.Parallel()

	gate := script.NewGate()
	clock := clockwork.NewFakeClock()
	path := file(t)
	address, _ := recording(t, upstream(t, script.Reply{Text: "one two", Gate: gate, GateAfter: 1}), path, clock)

	response := open(t, address, chatPath, chatStream("x"))
	lines := bufio.NewReader(response.Body)
	read := func(wanted string) string {
		all := ""

		for !strings.Contains(all, wanted) {
			line, err := lines.ReadString('\n')
			require.NoError(t, err)

			all += line
		}

		return all
	}

	before := read(`"one `) // the gate of the real API is closed
	clock.Advance(1500 * time.Millisecond)
	gate.Open()

	rest, err := io.ReadAll(lines)
	require.NoError(t, err)

	c, err := cassette.Load(path)
	require.NoError(t, err)

	chunks := c.Recordings[0].Chunks
	total, whole := time.Duration(0), ""

	for _, chunk := range chunks {
		if strings.Contains(string(chunk.Data), `"two"`) {
			require.Equal(t, 1500*time.Millisecond, chunk.After)
		}

		total += chunk.After
		whole += string(chunk.Data)
	}

	require.Equal(t, before+string(rest), whole)
	require.Equal(t, 1500*time.Millisecond, total)
	require.Greater(t, len(chunks), 3, "each event is a chunk")

	// Replayed with its timing, the second word only arrives when it is due.
	replayed, _ := replaying(t, path, clock)
	response = open(t, replayed, chatPath, chatStream("x"))
	lines = bufio.NewReader(response.Body)
	require.Equal(t, before, read(`"one `))
	require.NoError(t, clock.BlockUntilContext(t.Context(), 1))
	clock.Advance(1500 * time.Millisecond)

	again, err := io.ReadAll(lines)
	require.NoError(t, err)
	require.Equal(t, string(rest), string(again))
}

func TestSecretsInBodiesAreMaskedAndStillMatch(t *testing.T) {
	t.Parallel()

	const token = "ghp_Zx8qLw2Rt5Yn7Bv3Kc9Md1Fh4Jg6Ps0Qa2We"

	path := file(t)
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "session="+secret)
		w.Header().Set("Openai-Organization", "org-secret")
		_, _ = w.Write([]byte(`{"key":"` + r.Header.Get("X-Api-Key") + `","echo":` + string(body) + `}`))
	})
	address, _ := recording(t, listen(t, echo), path, nil)
	live := ask(t, address, chatPath, chat("my token is "+token+", keep it"))
	require.Contains(t, live.body, token, "the caller gets what the API says")
	require.Contains(t, live.body, secret)

	raw, err := os.ReadFile(path)
	require.NoError(t, err)

	for _, hidden := range []string{token, secret, "org-secret", "Cookie"} {
		require.NotContains(t, string(raw), hidden)
	}

	replayed, _ := replaying(t, path, nil)
	got := ask(t, replayed, chatPath, chat("my token is "+token+", keep it"))
	require.Equal(t, 200, got.status, got.body)
	require.NotContains(t, got.body, token)
}

func TestCallerKeyIsMaskedInAnyFormat(t *testing.T) {
	t.Parallel()

	const (
		key  = "correct horse battery"
		name = "dXNlcjpodW50ZXIy"
	)

	path := file(t)
	echo := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("hello " + r.Header.Get("X-Goog-Api-Key") + ", and " + r.URL.Query().Get("key") + " of " + name))
	})
	address, _ := recording(t, listen(t, echo), path, nil)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/v1beta/models?key=staple-of-mine", nil)
	require.NoError(t, err)
	request.Header.Set("X-Goog-Api-Key", key)
	request.Header.Set("Authorization", "Basic "+name)
	request.Close = true

	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	_, err = io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())

	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(raw), "hello [MASKED_API_KEY], and [MASKED_API_KEY] of [MASKED_API_KEY]")
	require.NotContains(t, string(raw), key)
	require.NotContains(t, string(raw), "staple")
	require.NotContains(t, string(raw), name)
}

func TestDisconnectedCallerIsNotRecordedAndCancelsUpstream(t *testing.T) {
	t.Parallel()

	left := make(chan struct{})
	api := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: first\n\n"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	})
	path := file(t)
	address, logged := recording(t, listen(t, api), path, nil)

	response := open(t, address, chatPath, chatStream("x"))
	_, err := io.ReadFull(response.Body, make([]byte, len("data: first\n\n")))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	<-left
	require.Contains(t, logged(), "did not complete")

	c, err := cassette.Load(path)
	require.NoError(t, err)
	require.Empty(t, c.Recordings)
}

func TestCassetteIsPrivateAndReplacedAtomically(t *testing.T) {
	t.Parallel()

	path := file(t)
	require.NoError(t, os.WriteFile(path, []byte("version: 1\nignore: [user, seed]\nrecordings: []\n"), 0o644))
	address, _ := recording(t, upstream(t, script.Reply{Text: "a"}, script.Reply{Text: "b"}), path, nil)

	for i := range 2 {
		ask(t, address, chatPath, chat("x"))

		c, err := cassette.Load(path)
		require.NoError(t, err)
		require.Len(t, c.Recordings, i+1, "each exchange is in the file when its answer is")
		require.Equal(t, []string{"user", "seed"}, c.Ignore, "what to ignore is kept")
	}

	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	entries, err := os.ReadDir(strings.TrimSuffix(path, "/cassette.yaml"))
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing else is left")
}

func TestUnrecordableExchangeIsReported(t *testing.T) {
	t.Parallel()

	path := file(t)
	gone := listen(t, http.NotFoundHandler())
	address, logged := recording(t, strings.Replace(gone, "127.0.0.1", "127.0.0.1.invalid", 1), path, nil)
	got := ask(t, address, "/v1/messages", "{}")
	require.Equal(t, 502, got.status)
	require.Contains(t, got.body, `"type":"error"`, "in the form of the API")
	require.Contains(t, logged(), "not recorded: POST /v1/messages")

	address, logged = recording(t, upstream(t, script.Reply{Text: "one two", Err: &script.Fault{Kind: script.FaultDrop}, AfterChunks: 1}), path, nil)
	_, err := io.ReadAll(open(t, address, chatPath, chatStream("x")).Body)
	require.Error(t, err, "the caller's connection breaks as well")
	require.Contains(t, logged(), "did not complete")

	c, err := cassette.Load(path)
	require.NoError(t, err)
	require.Empty(t, c.Recordings)

	for _, address := range []string{"", "api.openai.com", "ftp://x", "https://user:pw@host", "https://host?key=1"} {
		_, err := cassette.NewRecorder(cassette.RecorderConfig{Upstream: address, Path: path})
		require.ErrorContains(t, err, "such as https://api.openai.com", address)
	}

	require.NoError(t, os.WriteFile(path, []byte("my: notes\n"), 0o600))
	_, err = cassette.NewRecorder(cassette.RecorderConfig{Upstream: gone, Path: path})
	require.ErrorContains(t, err, "it is not replaced")
}
