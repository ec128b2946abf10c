package cli_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/llm/script"
)

// mockProcess makes the test binary run as the program.
const mockProcess = "TARSY_TEST_MOCK_PROCESS=1"

// TestMockProcess is the program when another test starts it as a process; otherwise it does nothing.
func TestMockProcess(*testing.T) {
	if !slices.Contains(os.Environ(), mockProcess) {
		return
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := cli.Run(ctx, cli.Process{
		Name: "tarsy", Args: os.Args[slices.Index(os.Args, "--")+1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Env: os.Environ(),
	})

	stop()
	os.Exit(code)
}

func mockCommand(args ...string) *exec.Cmd {
	command := exec.Command(os.Args[0], append([]string{"-test.run=^TestMockProcess$", "--", "mock"}, args...)...)
	command.Env = append(os.Environ(), mockProcess)

	return command
}

// mockServer is tarsy mock in a separate process.
type mockServer struct {
	command *exec.Cmd
	stderr  *buffer
	url     string
}

func startMock(t *testing.T, args ...string) *mockServer {
	t.Helper()

	m := &mockServer{command: mockCommand(append(args, "--listen", "127.0.0.1:0", "-o", "json")...), stderr: newBuffer()}
	stdout := newBuffer()
	m.command.Stdout, m.command.Stderr = stdout, m.stderr
	require.NoError(t, m.command.Start())
	t.Cleanup(func() { _ = m.command.Process.Kill(); _ = m.command.Wait() })

	var at struct{ URL, OpenAI, Anthropic, Gemini string }
	require.NoError(t, json.Unmarshal([]byte(stdout.wait(t, "\n")), &at))
	require.Equal(t, at.URL+"/v1", at.OpenAI)
	require.Equal(t, at.URL, at.Anthropic)
	require.Equal(t, at.URL, at.Gemini)
	m.url = at.URL

	return m
}

// end stops the process with SIGTERM and returns its exit code.
func (m *mockServer) end(t *testing.T) int {
	t.Helper()

	require.NoError(t, m.command.Process.Signal(syscall.SIGTERM))
	_ = m.command.Wait()

	return m.command.ProcessState.ExitCode()
}

func (m *mockServer) ask(t *testing.T, path, body string) (int, string) {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.url+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer sk-0123456789-secret")
	request.Header.Set("Anthropic-Version", "2023-06-01")

	// Close the connection: keeping it alive would leak a goroutine.
	request.Close = true

	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return response.StatusCode, string(text)
}

const mockChat = `{"model":"m","messages":[{"role":"user","content":"hi"}]}`

func scriptFile(t *testing.T, text string) string {
	t.Helper()

	path := filepath.Join(t.TempDir(), "script.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))

	return path
}

func TestMockServesEveryAPIAndStopsCleanly(t *testing.T) {
	t.Parallel()

	m := startMock(t, "--script", scriptFile(t, "version: 1\nreplies: [{text: scripted, times: 3}]\n"))

	for path, body := range map[string]string{
		"/v1/chat/completions":             mockChat,
		"/v1/messages":                     `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`,
		"/v1beta/models/m:generateContent": `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`,
	} {
		status, answer := m.ask(t, path, body)
		require.Equal(t, 200, status, answer)
		require.Contains(t, answer, "scripted")
	}

	require.Equal(t, cli.ExitOK, m.end(t), m.stderr)
	require.NotContains(t, m.stderr.String(), "unused")
}

func TestMockReportsUnexpectedAndUnusedRepliesAtExit(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		flags []string
		code  int
	}{"strict": {nil, cli.ExitFailed}, "not strict": {[]string{"--strict=false"}, cli.ExitOK}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			path := scriptFile(t, "version: 1\nroutes: [{when: {model: other}, replies: [{text: never asked}]}]\n")
			m := startMock(t, append(test.flags, "--script", path)...)
			status, answer := m.ask(t, "/v1/chat/completions", mockChat)
			require.Equal(t, 400, status)
			require.Contains(t, answer, "no_scripted_reply")

			require.Equal(t, test.code, m.end(t))
			require.Contains(t, m.stderr.String(), "unexpected: request 1, POST /v1/chat/completions: the script has no reply")
			require.Contains(t, m.stderr.String(), "unused: ")
			require.Contains(t, m.stderr.String(), "never asked")
		})
	}
}

func TestMockStopEndsPendingAnswers(t *testing.T) {
	t.Parallel()

	m := startMock(t, "--script", scriptFile(t, `version: 1
routes:
  - {when: {turn: 0, model: streams}, replies: [{text: never ends, gate: {name: open, after_chunks: 1}}]}
replies:
  - {text: never, gate: shut}
`))
	broken := make(chan error)

	for _, body := range []string{mockChat, strings.Replace(mockChat, `{"model":"`, `{"stream":true,"model":"streams `, 1)} {
		go func() {
			response, err := http.Post(m.url+"/v1/chat/completions", "application/json", strings.NewReader(body))
			if err == nil {
				_, err = io.ReadAll(response.Body)
				_ = response.Body.Close()
			}

			broken <- err
		}()
	}

	for _, gate := range []string{"shut", "open"} {
		response, err := http.Get(m.url + "/_mock/gates/" + gate + "?wait=30s")
		require.NoError(t, err)

		state, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Contains(t, string(state), `"reached":true`)
	}

	http.DefaultClient.CloseIdleConnections()
	require.Equal(t, cli.ExitOK, m.end(t), m.stderr)
	require.Error(t, <-broken, "no answer must look like a whole one")
	require.Error(t, <-broken)
	http.DefaultClient.CloseIdleConnections()
}

func TestMockReloadsChangedScriptAndKeepsOldOneWhileInvalid(t *testing.T) {
	t.Parallel()

	path := scriptFile(t, "version: 1\nreplies: [{text: the first, times: forever}]\n")
	m := startMock(t, "--script", path)
	_, answer := m.ask(t, "/v1/chat/completions", mockChat)
	require.Contains(t, answer, "the first")

	require.NoError(t, os.WriteFile(path, []byte("version: 1\nreplies:\n  - {txt: wrong}\n"), 0o600))
	require.Contains(t, m.stderr.wait(t, "keeping the previous one"), "script.yaml:3:6: replies[0].txt: unknown key; did you mean text?")
	_, answer = m.ask(t, "/v1/chat/completions", mockChat)
	require.Contains(t, answer, "the first")

	require.NoError(t, os.WriteFile(path, []byte("version: 1\nreplies: [{text: the second}, {text: and more, times: forever}]\n"), 0o600))
	m.stderr.wait(t, "restarting it: 2 replies in sequence (before: 1 reply in sequence)")

	_, answer = m.ask(t, "/v1/chat/completions", mockChat)
	require.Contains(t, answer, "the second")
	_, answer = m.ask(t, "/v1/chat/completions", mockChat)
	require.Contains(t, answer, "and more")
	require.Equal(t, cli.ExitOK, m.end(t))
}

func TestMockRecordsReplaysAndFailsOnStaleCassette(t *testing.T) {
	t.Parallel()

	replies := script.New(script.Options{})
	replies.Add(script.Reply{Text: "from the real API"}, script.Reply{Text: "once more"})

	upstream := httptest.NewServer(mock.New(mock.Config{Script: func(string) *script.Script { return replies }}))
	t.Cleanup(upstream.Close)

	path := filepath.Join(t.TempDir(), "cassette.yaml")
	recorder := startMock(t, "--record", upstream.URL, "--cassette", path)
	_, first := recorder.ask(t, "/v1/chat/completions", mockChat)
	_, second := recorder.ask(t, "/v1/chat/completions", strings.Replace(mockChat, "{", `{"stream":true,`, 1))
	require.Equal(t, cli.ExitOK, recorder.end(t), recorder.stderr)

	player := startMock(t, "--cassette", path, "--timing", "recorded")
	_, answer := player.ask(t, "/v1/chat/completions", mockChat)
	require.Equal(t, first, answer)
	_, answer = player.ask(t, "/v1/chat/completions", strings.Replace(mockChat, "{", `{"stream":true,`, 1))
	require.Equal(t, second, answer)
	require.Equal(t, cli.ExitOK, player.end(t), player.stderr)

	stale := startMock(t, "--cassette", path)
	status, answer := stale.ask(t, "/v1/chat/completions", strings.Replace(mockChat, "hi", "ho", 1))
	require.Equal(t, 409, status)
	require.Contains(t, answer, "stale_cassette")
	require.Equal(t, cli.ExitFailed, stale.end(t))
	require.Contains(t, stale.stderr.String(), `messages[0].content: recorded "hi", asked "ho"`)
	require.Contains(t, stale.stderr.String(), "unused: recording 1, POST /v1/chat/completions")

	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(raw), "secret")
}

const mcpScript = `version: 1
mcp_servers:
  cluster:
    tools:
      - name: get_pods
        results: [{text: "pods of {{.namespace}}"}]
`

func TestMockServesMCPServerOverStdioAndHTTP(t *testing.T) {
	t.Parallel()

	path := scriptFile(t, mcpScript)
	m := startMock(t, "--script", path)

	for name, transport := range map[string]mcpsdk.Transport{
		"stdio": &mcpsdk.CommandTransport{Command: mockCommand("--script", path, "--mcp-stdio", "cluster")},
		"HTTP":  &mcpsdk.StreamableClientTransport{Endpoint: m.url + "/mcp/cluster", DisableStandaloneSSE: true},
	} {
		client := mcpsdk.NewClient(&mcpsdk.Implementation{Name: "test"}, nil)
		session, err := client.Connect(t.Context(), transport, nil)
		require.NoError(t, err, name)

		result, err := session.CallTool(t.Context(), &mcpsdk.CallToolParams{Name: "get_pods", Arguments: map[string]any{"namespace": "shop"}})
		require.NoError(t, err, name)
		require.Equal(t, "pods of shop", result.Content[0].(*mcpsdk.TextContent).Text)
		require.NoError(t, session.Close(), name)
	}

	http.DefaultClient.CloseIdleConnections()
	require.Equal(t, cli.ExitOK, m.end(t), m.stderr)

	got := tarsyWith(t, nil, "", "mock", "--script", path, "--mcp-stdio", "nosuch")
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stderr, "it has cluster")
	require.Empty(t, got.stdout)
}

func TestMockCheckReportsEveryProblemWithItsLine(t *testing.T) {
	t.Parallel()

	good := tarsyWith(t, nil, "", "mock", "--check", "--script", scriptFile(t, mcpScript))
	require.Equal(t, cli.ExitOK, good.code)
	require.Contains(t, good.stderr, "The script is valid: 1 MCP server.")

	path := scriptFile(t, "version: 1\nreplies:\n  - txt: x\n  - text: y\n    times: never\n")
	bad := tarsyWith(t, nil, "", "mock", "--check", "--script", path)
	require.Equal(t, cli.ExitFailed, bad.code)
	require.Contains(t, bad.stdout, "script.yaml:3:5: replies[0].txt: unknown key")
	require.Contains(t, bad.stdout, "script.yaml:5:")

	bad = tarsyWith(t, nil, "", "mock", "--check", "--script", path, "-o", "json")
	require.Equal(t, cli.ExitFailed, bad.code)

	var found struct {
		OK       bool
		Problems []struct{ Line int }
	}
	require.NoError(t, json.Unmarshal([]byte(bad.stdout), &found))
	require.False(t, found.OK)
	require.Equal(t, 3, found.Problems[0].Line)

	served := tarsyWith(t, nil, "", "mock", "--script", path)
	require.Equal(t, cli.ExitFailed, served.code)
	require.Contains(t, served.stderr, "script.yaml:3:5: replies[0].txt: unknown key")

	schema := tarsyWith(t, nil, "", "mock", "--print-schema")
	require.True(t, json.Valid([]byte(schema.stdout)))
}

func TestMockRefusesMissingOrConflictingFlags(t *testing.T) {
	t.Parallel()

	path := scriptFile(t, mcpScript)

	for want, args := range map[string][]string{
		"name a script with --script":                 {},
		"use either --script or --cassette, not both": {"--script", path, "--cassette", "x.yaml"},
		"name it with --cassette":                     {"--record", "https://api.openai.com"},
		"name it with --script":                       {"--check"},
		"such as https://api.openai.com":              {"--record", "api.openai.com", "--cassette", filepath.Join(t.TempDir(), "x.yaml")},
		"add --allow-public":                          {"--script", path, "--listen", "0.0.0.0:0"},
		"--journal must be at least 1":                {"--script", path, "--journal", "0"},
		"--speed must be a number":                    {"--script", path, "--speed", "NaN"},
		"zero or more":                                {"--script", path, "--speed", "-1"},
		"--timing needs --cassette":                   {"--script", path, "--timing", "recorded"},
		"is not one of at-once, recorded":             {"--cassette", path, "--timing", "slow"},
	} {
		got := tarsyWith(t, nil, "", append([]string{"mock"}, args...)...)
		require.Equal(t, cli.ExitUsage, got.code, want)
		require.Contains(t, got.stderr, want)
		require.Empty(t, got.stdout)
	}

	require.Contains(t, tarsyWith(t, nil, "", "mock").stderr, "    version: 1\n    replies:\n      - text: ")

	missing := tarsyWith(t, nil, "", "mock", "--script", "no/such.yaml")
	require.Equal(t, cli.ExitFailed, missing.code)
}
