package mock_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/kit/mock"
	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is a virtual server on its own port.
type server struct {
	*mock.Server

	url    string
	client *http.Client
}

func serve(t *testing.T, cfg mock.Config) *server {
	t.Helper()

	s := mock.New(cfg)
	front := httptest.NewServer(s)
	t.Cleanup(front.Close)

	return &server{Server: s, url: front.URL, client: front.Client()}
}

// scripted returns a server whose lanes all get the same replies.
func scripted(t *testing.T, replies ...script.Reply) *server {
	t.Helper()

	return serve(t, mock.Config{Script: fresh(replies...)})
}

func fresh(replies ...script.Reply) func(string) *script.Script {
	return func(string) *script.Script {
		s := script.New(script.Options{})
		s.Add(replies...)

		return s
	}
}

// answer is a response.
type answer struct {
	status int
	header http.Header
	body   string
	err    error // of reading the body
}

func (s *server) do(ctx context.Context, method, path, body string, header ...string) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}

	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}

	response, err := s.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)

	return answer{response.StatusCode, response.Header, string(text), err}, nil
}

func (s *server) ask(t *testing.T, method, path, body string, header ...string) answer {
	t.Helper()

	got, err := s.do(t.Context(), method, path, body, header...)
	require.NoError(t, err)
	require.NoError(t, got.err)

	return got
}

const chatPath = "/v1/chat/completions"

func chat(text string) string {
	return `{"model":"gpt-test","messages":[{"role":"user","content":"` + text + `"}]}`
}

func chatStream(text string) string {
	return `{"model":"gpt-test","stream":true,"messages":[{"role":"user","content":"` + text + `"}]}`
}

// decode decodes a response of one of the server's own endpoints.
func decode[T any](t *testing.T, a answer) T {
	t.Helper()

	var value T
	require.NoError(t, json.Unmarshal([]byte(a.body), &value), a.body)

	return value
}

type page struct {
	Entries []exchange.Entry
	Last    int64
	Dropped int64
}

type verdicts struct {
	Code   string
	Detail string
	Lanes  []mock.Verdict
}
