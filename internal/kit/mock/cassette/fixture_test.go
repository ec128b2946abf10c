package cassette_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/internal/kit/mock/cassette"
	"tarsy.dev/tarsy/llm/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// secret is the key of all callers here; it must not appear in any cassette.
const secret = "sk-proj-q7T2mZk9LpX4vB8nR3sW6yH1"

// upstream starts a virtual server in place of the real API.
func upstream(t *testing.T, replies ...script.Reply) string {
	t.Helper()

	s := script.New(script.Options{})
	s.Add(replies...)

	return listen(t, mock.New(mock.Config{Script: func(string) *script.Script { return s }}))
}

func listen(t *testing.T, h http.Handler) string {
	t.Helper()

	front := httptest.NewServer(h)
	t.Cleanup(front.Close)

	return front.URL
}

// recording starts a server that records an API into a file.
func recording(t *testing.T, api, path string, clock clockwork.Clock) (address string, logged func() string) {
	t.Helper()

	said := make(chan string, 100)

	r, err := cassette.NewRecorder(cassette.RecorderConfig{
		Upstream: api, Path: path, Clock: clock, Log: func(text string) { said <- text },
	})
	require.NoError(t, err)
	t.Cleanup(r.Close)

	address = listen(t, mock.New(mock.Config{Tape: func(string) mock.Tape { return r }}))

	return address, func() string { return <-said }
}

// replaying starts a server that replays a file.
func replaying(t *testing.T, path string, clock clockwork.Clock) (string, *mock.Server) {
	t.Helper()

	c, err := cassette.Load(path)
	require.NoError(t, err)

	s := mock.New(mock.Config{Tape: func(string) mock.Tape {
		p, err := cassette.NewPlayer(c, clock)
		if err != nil {
			panic(err)
		}

		return p
	}})

	return listen(t, s), s
}

// answer is a response.
type answer struct {
	status int
	header http.Header
	body   string
}

func open(t *testing.T, address, path, body string) *http.Response {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bearer "+secret)
	request.Header.Set("X-Api-Key", secret)
	request.Header.Set("Anthropic-Version", "2023-06-01")
	request.Header.Set("Cookie", "session="+secret)

	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)

	response, err := client.Do(request)
	require.NoError(t, err)
	t.Cleanup(func() { _ = response.Body.Close() })

	return response
}

func ask(t *testing.T, address, path, body string) answer {
	t.Helper()

	response := open(t, address, path, body)
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return answer{response.StatusCode, response.Header, string(text)}
}

func file(t *testing.T) string {
	t.Helper()

	return filepath.Join(t.TempDir(), "cassette.yaml")
}

const chatPath = "/v1/chat/completions"

func chat(text string) string {
	return `{"model":"gpt-test","temperature":0.70,"messages":[{"role":"user","content":"` + text + `"}]}`
}

func chatStream(text string) string { return strings.Replace(chat(text), "{", `{"stream":true,`, 1) }
