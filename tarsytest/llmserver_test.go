package tarsytest_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/testfailure"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func scriptOf(replies ...script.Reply) *script.Script {
	s := script.New(script.Options{})
	s.Add(replies...)

	return s
}

// ask makes one model call on its own connection.
func ask(t testing.TB, url, body string) (int, string) {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("X-Api-Key", "any-key-will-do")
	request.Header.Set("Anthropic-Version", "2023-06-01")
	request.Close = true

	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return response.StatusCode, string(text)
}

const chatBody = `{"model":"gpt-test","messages":[{"role":"user","content":"hi"}]}`

func TestVirtualServerSpeaksThreeAPIs(t *testing.T) {
	t.Parallel()

	server := tarsytest.NewLLMServer(t, scriptOf(script.Reply{Text: "one"}, script.Reply{Text: "two"}, script.Reply{Text: "three"}))

	_, answer := ask(t, server.OpenAI()+"/chat/completions", chatBody)
	require.Contains(t, answer, `"content":"one"`)
	_, answer = ask(t, server.Anthropic()+"/v1/messages", `{"model":"claude-test","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`)
	require.Contains(t, answer, `"text":"two"`)
	_, answer = ask(t, server.Gemini()+"/v1beta/models/gemini-test:generateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`)
	require.Contains(t, answer, `"text":"three"`)

	requests := server.Requests()
	require.Len(t, requests, 3)

	for i, want := range []struct{ api, model string }{{"openai", "gpt-test"}, {"anthropic", "claude-test"}, {"gemini", "gemini-test"}} {
		require.Equal(t, want.api, requests[i].API)
		require.Equal(t, want.model, requests[i].Model)
		require.Equal(t, i, requests[i].Reply)
		require.Equal(t, 200, requests[i].Status)
		require.NotContains(t, requests[i].Header, "X-Api-Key")
	}

	require.JSONEq(t, chatBody, string(requests[0].Body))
}

func TestVirtualServerFailsTestOnUnusedOrUnexpectedCalls(t *testing.T) {
	t.Parallel()

	require.Contains(t, testfailure.Of(t, func(f testing.TB) {
		tarsytest.NewLLMServer(f, scriptOf(script.Reply{Text: "never asked"}))
	}), `unused: sequence, reply 1 of 1: text "never asked"`)

	require.Contains(t, testfailure.Of(t, func(f testing.TB) {
		status, _ := ask(t, tarsytest.NewLLMServer(f, scriptOf()).OpenAI()+"/chat/completions", chatBody)
		require.Equal(t, 400, status)
	}), "unexpected: request 1, POST /v1/chat/completions: the script has no reply")

	gate := script.NewGate()
	done := make(chan struct{})

	require.Contains(t, testfailure.Of(t, func(f testing.TB) {
		server := tarsytest.NewLLMServer(f, scriptOf(script.Reply{Text: "never", Gate: gate}))

		go func() {
			defer close(done)

			request, _ := http.NewRequest(http.MethodPost, server.OpenAI()+"/chat/completions", strings.NewReader(chatBody))
			request.Close = true

			if response, err := http.DefaultClient.Do(request); err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
			}
		}()

		<-gate.Reached()
	}), "still being answered at the end of the test")
	<-done

	require.Empty(t, testfailure.Of(t, func(f testing.TB) {
		ask(t, tarsytest.NewLLMServer(f, scriptOf(script.Reply{Text: "asked"})).OpenAI()+"/chat/completions", chatBody)
	}))
}

func TestBrokenScriptFileFailsTestWithItsLines(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "script.yaml")
	require.NoError(t, os.WriteFile(path, []byte("version: 1\nreplies: [{text: from a file}]\n"), 0o600))

	_, answer := ask(t, tarsytest.NewLLMServer(t, tarsytest.LoadScript(t, path)).OpenAI()+"/chat/completions", chatBody)
	require.Contains(t, answer, "from a file")

	require.NoError(t, os.WriteFile(path, []byte("version: 1\nreplies: [{txt: wrong}]\n"), 0o600))
	require.Contains(t, testfailure.Of(t, func(f testing.TB) { tarsytest.LoadScript(f, path) }), "script.yaml:2:12: replies[0].txt: unknown key")
}
