package mock_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/llm/script"
)

func TestVerifyReportsUnusedAndUnexpected(t *testing.T) {
	t.Parallel()

	s := serve(t, mock.Config{Lane: mock.LaneByHeader, Script: fresh(script.Reply{Text: "only"})})

	nothing := s.ask(t, "GET", "/_mock/verify", "")
	require.Equal(t, 409, nothing.status, "a server that nobody asked has unused replies")

	s.ask(t, "POST", chatPath, chat("x"), "X-Tarsy-Lane", "good")
	require.Equal(t, 200, s.ask(t, "GET", "/_mock/verify?lane=good", "").status)
	require.Equal(t, 200, s.ask(t, "GET", "/_mock/verify", "").status)

	s.ask(t, "POST", chatPath, chat("x"), "X-Tarsy-Lane", "much")
	unexpected := s.ask(t, "POST", chatPath, chat("once more"), "X-Tarsy-Lane", "much")
	require.Equal(t, 400, unexpected.status)
	require.Contains(t, unexpected.body, "no_scripted_reply")

	refused := s.ask(t, "GET", "/_mock/verify?lane=much", "")
	require.Equal(t, 409, refused.status)
	require.Equal(t, "application/problem+json", refused.header.Get("Content-Type"))

	got := decode[verdicts](t, refused)
	require.Equal(t, "conflict", got.Code)
	require.Contains(t, got.Detail, "lane much: unexpected: request 3, POST /v1/chat/completions: the script has no reply")
	require.Len(t, got.Lanes[0].Unexpected, 1)
	require.Empty(t, got.Lanes[0].Unused)

	never := decode[verdicts](t, s.ask(t, "GET", "/_mock/verify?lane=never", ""))
	require.Len(t, never.Lanes[0].Unused, 1, "of a lane that was never used, all is unused")
	require.NotContains(t, s.ask(t, "GET", "/_mock/lanes", "").body, "never", "asking makes no lane")

	require.Len(t, decode[verdicts](t, s.ask(t, "GET", "/_mock/unexpected?lane=much", "")).Lanes[0].Unexpected, 1)
	require.Len(t, decode[verdicts](t, s.ask(t, "GET", "/_mock/unused?lane=never", "")).Lanes[0].Unused, 1)

	require.Equal(t, 204, s.ask(t, "POST", "/_mock/reset?lane=much", "").status)
	require.Contains(t, s.ask(t, "GET", "/_mock/verify?lane=much", "").body, "unused: ")
	require.Empty(t, s.Journal("much"))
	require.Equal(t, 200, s.ask(t, "POST", chatPath, chat("x"), "X-Tarsy-Lane", "much").status, "a fresh script")
}

func TestGateIsObservedAndOpenedOverHTTP(t *testing.T) {
	t.Parallel()

	s := serve(t, mock.Config{Gates: func() []string { return []string{"half"} }, Script: func(string) *script.Script {
		made := script.New(script.Options{})
		made.Add(script.Reply{Text: "one two", Gate: made.Gate("half"), GateAfter: 1})

		return made
	}})

	require.Contains(t, s.ask(t, "GET", "/_mock/gates/half", "").body, `"reached":false`)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+chatPath, strings.NewReader(chatStream("x")))
	require.NoError(t, err)
	response, err := s.client.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()

	require.Contains(t, s.ask(t, "GET", "/_mock/gates/half?wait=30s", "").body, `"reached":true`)

	lines := bufio.NewScanner(response.Body)
	for lines.Scan() && !strings.Contains(lines.Text(), `"one `) {
	}

	require.Contains(t, lines.Text(), `"one `, "what came before the gate is sent while it is closed")
	require.Equal(t, 204, s.ask(t, "POST", "/_mock/gates/half/open", "").status)

	rest := ""
	for lines.Scan() {
		rest += lines.Text()
	}

	require.Contains(t, rest, "two")
	require.Contains(t, rest, "[DONE]")

	unknown := s.ask(t, "POST", "/_mock/gates/halve/open", "")
	require.Equal(t, 404, unknown.status)
	require.Contains(t, unknown.body, "did you mean half?")

	for _, wrong := range []string{"?wait=x", "?wait=1h", "?wait=-1s"} {
		require.Equal(t, 400, s.ask(t, "GET", "/_mock/gates/half"+wrong, "").status, wrong)
	}
}

func TestDropClosesConnectionAndTruncationEndsCleanly(t *testing.T) {
	t.Parallel()

	fault := func(kind script.FaultKind) script.Reply {
		return script.Reply{Text: "one two three", Err: &script.Fault{Kind: kind}, AfterChunks: 2}
	}

	for name, test := range map[string]struct {
		kind   script.FaultKind
		body   string
		want   string
		closes bool
	}{
		"drop in a stream":      {script.FaultDrop, chatStream("x"), `"two `, true},
		"drop":                  {script.FaultDrop, chat("x"), "", true},
		"truncate in a stream":  {script.FaultTruncate, chatStream("x"), `"two `, false},
		"truncate":              {script.FaultTruncate, chat("x"), `"object":"chat.completion"`, false},
		"malformed in a stream": {script.FaultMalformed, chatStream("x"), "data: {\"oops\": <not json>", false},
		"malformed":             {script.FaultMalformed, chat("x"), "<not json>", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := scripted(t, fault(test.kind), script.Reply{Text: "again"})
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
			require.NoError(t, err)
			defer conn.Close()

			got, err := exchangeOn(conn, test.body)
			require.Contains(t, got, test.want)
			require.NotContains(t, got, "[DONE]")

			entry := s.Journal("")[0]
			require.Contains(t, entry.Error, "scripted fault: "+string(test.kind))

			if test.closes {
				require.Error(t, err)

				_, err = conn.Read(make([]byte, 1))
				require.ErrorIs(t, err, io.EOF, "the TCP connection is closed")

				return
			}

			require.NoError(t, err)

			got, err = exchangeOn(conn, chat("x"))
			require.NoError(t, err, "the connection still works")
			require.Contains(t, got, "again")
		})
	}
}

// exchangeOn makes one request on a connection and reads the response to the end.
func exchangeOn(conn net.Conn, body string) (string, error) {
	request, err := http.NewRequest(http.MethodPost, "http://virtual"+chatPath, strings.NewReader(body))
	if err != nil {
		return "", err
	}

	if err := request.Write(conn); err != nil {
		return "", err
	}

	response, err := http.ReadResponse(bufio.NewReader(conn), request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)

	return string(text), err
}

func TestDisconnectedCallerIsDetected(t *testing.T) {
	t.Parallel()

	gate := script.NewGate()
	replies := script.New(script.Options{})
	replies.Add(script.Reply{Text: "never", Gate: gate})

	s := serve(t, mock.Config{Script: func(string) *script.Script { return replies }})
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)

	request, err := http.NewRequest(http.MethodPost, s.url+chatPath, strings.NewReader(chatStream("x")))
	require.NoError(t, err)
	require.NoError(t, request.Write(conn))
	<-gate.Reached()
	require.NoError(t, conn.Close())

	wait.Until(t, "the call to be recorded as cancelled", func() bool {
		entries := s.Journal("")

		return len(entries) == 1 && entries[0].Cancelled
	})
}

func TestErrorEndpointsUseFormatOfTheirPath(t *testing.T) {
	t.Parallel()

	s := scripted(t)

	for path, want := range map[string]string{
		"/_error/429/v1/chat/completions":                             `"error":{"message":`,
		"/_error/529/v1/messages":                                     `"overloaded_error"`,
		"/_error/503/v1beta/models/gemini-test:generateContent":       `"UNAVAILABLE"`,
		"/_error/401/v1/responses?retry_after=2":                      `"error":{"message":`,
		"/_error/500/v1beta/models/gemini-test:streamGenerateContent": `"INTERNAL"`,
	} {
		got := s.ask(t, "POST", path, "{}")
		require.True(t, strings.HasPrefix(path, fmt.Sprintf("/_error/%d/", got.status)), path)
		require.Contains(t, got.body, want, path)
	}

	require.Equal(t, "2", s.ask(t, "POST", "/_error/429/v1/messages?retry_after=1.5", "{}").header.Get("Retry-After"))
	require.Equal(t, 404, s.ask(t, "POST", "/_error/200/v1/messages", "{}").status)
	require.Equal(t, 404, s.ask(t, "POST", "/_error/x", "{}").status)
	require.Empty(t, s.Verify()[0].Unexpected, "they are there to be asked")
}

func TestUnknownPathsListKnownOnesAndAreUnexpected(t *testing.T) {
	t.Parallel()

	s := scripted(t)

	got := s.ask(t, "POST", "/v2/everything", "{}")
	require.Equal(t, 404, got.status)
	require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))

	for _, want := range []string{"POST /v1/chat/completions", "POST /v1/messages", `"code":"not_found"`, `"error":{"message":"There is no POST /v2/everything.`} {
		require.Contains(t, got.body, want)
	}

	require.Contains(t, s.ask(t, "POST", "/openai/v1/messages", "{}").body, "Did you mean /v1/messages, with another base URL?")
	require.Contains(t, s.ask(t, "GET", "/v1/messages", "").body, "It takes POST.")
	require.Len(t, s.Verify()[0].Unexpected, 3)
}

func TestUnknownPathsAnswerInFormatOfIntendedAPI(t *testing.T) {
	t.Parallel()

	s := scripted(t)
	openai := `{"error":{"message":"There is no POST %s.`
	anthropic := `{"type":"error","error":{"type":"not_found_error","message":"There is no POST %s.`
	gemini := `{"error":{"code":404,"message":"There is no POST %s.`

	cases := []struct {
		path, want string
		header     []string
	}{
		{"/v1/files", openai, nil},
		{"/chat/complete", openai, nil},
		{"/v1/threads/t/messages", openai, nil},
		{"/v7/things", openai, []string{"Authorization", "Bearer any"}},
		{"/v1/v1/messages", anthropic, nil},
		{"/v1/messages/batches", anthropic, []string{"Authorization", "Bearer any"}},
		{"/v1/complete", anthropic, []string{"X-Api-Key", "any"}},
		{"/v1/complete", anthropic, []string{"Anthropic-Version", "2023-06-01"}},
		{"/v1beta/cachedContents", gemini, nil},
		{"/v3/models/gemini-test:generateContent", gemini, nil},
		{"/upload/files", gemini, []string{"X-Goog-Api-Key", "any"}},
	}
	for _, c := range cases {
		got := s.ask(t, "POST", c.path, "{}", c.header...)
		require.Equal(t, 404, got.status, c.path)
		require.Equal(t, "application/json", got.header.Get("Content-Type"), c.path)
		require.Contains(t, got.body, fmt.Sprintf(c.want, c.path))
	}

	require.Contains(t, s.ask(t, "POST", "/v1beta/models/gemini-test:tuneModel", "{}").body, `"status":"NOT_FOUND"`)
	require.Len(t, s.Verify()[0].Unexpected, len(cases)+1)
	require.Contains(t, s.ask(t, "POST", "/_error/404/v1/messages/batches", "{}").body, `"not_found_error"`)
}

func TestGeminiPathsWorkWithAnyOrNoVersion(t *testing.T) {
	t.Parallel()

	for _, prefix := range []string{"/v1beta", "/v1", ""} {
		got := scripted(t, script.Reply{Text: "a"}).ask(t, "POST", prefix+"/models/gemini-test:generateContent", `{"contents":[{"parts":[{"text":"hi"}]}]}`)
		require.Equal(t, 200, got.status, "%s: %s", prefix, got.body)
	}
}

func TestWebPagesCannotControlServer(t *testing.T) {
	t.Parallel()

	s := scripted(t)
	got := s.ask(t, "POST", "/_mock/reset", "", "Origin", "https://evil.example")
	require.Equal(t, 403, got.status)
	require.Contains(t, got.body, "forbidden_origin")
	require.Empty(t, got.header.Get("Access-Control-Allow-Origin"))

	require.Equal(t, 200, s.ask(t, "GET", "/_mock/health", "").status)
	require.Contains(t, s.ask(t, "GET", "/_mock/nothing", "").body, "POST reset and gates/NAME/open")
}

func TestScriptedErrorKeepsItsFormat(t *testing.T) {
	t.Parallel()

	s := scripted(t, script.Reply{Err: errors.New("boom")})
	got := s.ask(t, "POST", chatPath, chat("x"))
	require.Equal(t, 500, got.status)
	require.Contains(t, got.body, "boom")
	require.Empty(t, s.Verify()[0].Unexpected, "it was planned")
}

func TestModelsAreConfiguredOnes(t *testing.T) {
	t.Parallel()

	s := serve(t, mock.Config{Script: fresh(), Models: func() []string { return []string{"my-own-model"} }})

	for _, path := range []string{"/v1/models", "/v1beta/models"} {
		require.Contains(t, s.ask(t, "GET", path, "").body, "my-own-model", path)
	}

	anthropic := s.ask(t, "GET", "/v1/models", "", "Anthropic-Version", "2023-06-01", "X-Api-Key", "any")
	require.Contains(t, anthropic.body, "my-own-model")
}

func TestStoredResponsesBelongToTheirLane(t *testing.T) {
	t.Parallel()

	s := serve(t, mock.Config{Script: fresh(script.Reply{Text: "a", Times: -1}), Lane: mock.LaneByHeader})
	first := func(lane string) string {
		return fmt.Sprintf(`{"model":"m","input":%q}`, lane)
	}
	ask := func(lane, body string) answer { return s.ask(t, "POST", "/v1/responses", body, mock.LaneHeader, lane) }
	next := func(made answer) string {
		var response struct{ ID string }

		require.NoError(t, json.Unmarshal([]byte(made.body), &response))

		return `{"model":"m","input":"And?","previous_response_id":"` + response.ID + `"}`
	}

	ofA, ofB := next(ask("a", first("a"))), next(ask("b", first("b")))
	require.Equal(t, 200, ask("a", ofA).status)
	require.Equal(t, 400, ask("b", ofA).status, "it belongs to another lane")

	require.Equal(t, 204, s.ask(t, "POST", "/_mock/reset?lane=a", "").status)
	require.Equal(t, 400, ask("a", ofA).status)
	require.Equal(t, 200, ask("b", ofB).status)

	s.Reload()
	require.Equal(t, 400, ask("b", ofB).status)
}
