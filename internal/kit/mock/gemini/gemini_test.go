package gemini_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/internal/kit/mock/gemini"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server is the API on its own port.
type server struct {
	*httptest.Server
	script *script.Script
	mu     sync.Mutex
	// seen are the requests that the script has received.
	seen []llm.Request
}

func serve(t *testing.T, replies ...script.Reply) *server {
	t.Helper()

	s := &server{script: script.New(script.Options{})}
	s.script.RouteFunc(func(*llm.Request) bool { return true }, func(req *llm.Request, n int) script.Reply {
		s.mu.Lock()
		defer s.mu.Unlock()

		s.seen = append(s.seen, *req)
		if n < len(replies) {
			return replies[n]
		}

		return script.Reply{Text: "ok"}
	})

	cfg := &exchange.Config{
		Lane: func(*http.Request) (string, *script.Script, *llm.Error) { return "", s.script, nil },
		Done: func(*exchange.Exchange) {},
		Now:  func() time.Time { return time.Unix(0, 0) },
	}
	api := exchange.API{Name: gemini.Name, Routes: gemini.Routes(), Error: gemini.Error}
	mux := http.NewServeMux()

	for _, route := range api.Routes {
		mux.Handle(route.Pattern, cfg.Handler(api, route.Handle))
	}

	s.Server = httptest.NewServer(mux)
	t.Cleanup(func() {
		s.Close()
		s.Client().CloseIdleConnections()
	})

	return s
}

// post sends body and returns the response.
func (s *server) post(t *testing.T, path, body string) (*http.Response, string) {
	t.Helper()

	resp, err := s.Client().Post(s.URL+path, "application/json", strings.NewReader(body))
	require.NoError(t, err)

	defer resp.Body.Close()

	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)

	return resp, string(text)
}

// asked returns the only request that the script has received.
func (s *server) asked(t *testing.T) llm.Request {
	t.Helper()

	s.mu.Lock()
	defer s.mu.Unlock()

	require.Len(t, s.seen, 1)

	return s.seen[0]
}

var responseID = regexp.MustCompile(`"responseId":"([A-Za-z0-9_-]{23})"`)

// noID replaces the IDs of answers, which are derived from the request, and checks that there is only one.
func noID(t *testing.T, text string) string {
	t.Helper()

	ids := map[string]bool{}
	for _, match := range responseID.FindAllStringSubmatch(text, -1) {
		ids[match[1]] = true
	}

	require.Len(t, ids, 1, "all events of an answer have the same id")

	return responseID.ReplaceAllString(text, `"responseId":"ID"`)
}

const (
	path   = "/v1beta/models/gemini-2.5-flash:generateContent"
	events = "/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
	array  = "/v1beta/models/gemini-2.5-flash:streamGenerateContent"

	hello = `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"thinkingConfig":{"includeThoughts":true}}}`
)
