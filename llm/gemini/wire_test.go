package gemini_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/gemini"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "AIza-a-key-of-a-test"

// wire is a server that sends what a test specifies, and records the requests.
type wire struct {
	*httptest.Server
	mu       sync.Mutex
	requests []request
}

type request struct {
	Path   string
	Header http.Header
	Body   string
}

func serve(t *testing.T, handler http.HandlerFunc) *wire {
	t.Helper()

	w := &wire{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)

		w.mu.Lock()
		w.requests = append(w.requests, request{Path: r.URL.RequestURI(), Header: r.Header, Body: string(body)})
		w.mu.Unlock()

		handler(rw, r)
	}))
	t.Cleanup(w.Close)

	return w
}

// answering sends events, with the line endings of the real API.
func answering(t *testing.T, events ...string) *wire {
	t.Helper()

	return serve(t, func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Type", "text/event-stream")

		for _, event := range events {
			_, _ = io.WriteString(rw, "data: "+event+"\r\n\r\n")
		}
	})
}

// failing sends an error.
func failing(t *testing.T, status int, header map[string]string, body string) *wire {
	t.Helper()

	return serve(t, func(rw http.ResponseWriter, _ *http.Request) {
		for name, value := range header {
			rw.Header().Set(name, value)
		}

		rw.Header().Set("Content-Type", "application/json; charset=UTF-8")
		rw.WriteHeader(status)
		_, _ = io.WriteString(rw, body)
	})
}

func (w *wire) client(t *testing.T) llm.Client {
	t.Helper()

	return newClient(t, gemini.Config{APIKey: key, BaseURL: w.URL})
}

// generate makes a call and returns all of its chunks.
func (w *wire) generate(t *testing.T, req *llm.Request) ([]llm.Chunk, error) {
	t.Helper()

	var chunks []llm.Chunk

	_, err := llm.Collect(w.client(t).Generate(t.Context(), req), func(chunk llm.Chunk) error {
		chunks = append(chunks, chunk)

		return nil
	})

	return chunks, err
}

// sent returns the body of the only request.
func (w *wire) sent(t *testing.T) map[string]any {
	t.Helper()

	w.mu.Lock()
	defer w.mu.Unlock()

	require.Len(t, w.requests, 1)

	var body map[string]any

	require.NoError(t, json.Unmarshal([]byte(w.requests[0].Body), &body))

	return body
}

// at returns the value at a path such as "contents.0.parts".
func at(t *testing.T, value any, path string) any {
	t.Helper()

	for name := range strings.SplitSeq(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			index := int(name[0] - '0')
			require.Greater(t, len(v), index, path)
			value = v[index]
		default:
			require.Failf(t, "no such value", "%s in %v", path, value)
		}
	}

	return value
}

func jsonOf(t *testing.T, value any) string {
	t.Helper()

	text, err := json.Marshal(value)
	require.NoError(t, err)

	return string(text)
}

func ask(messages ...llm.Message) *llm.Request {
	if len(messages) == 0 {
		messages = []llm.Message{{Role: llm.RoleUser, Content: "What is wrong?"}}
	}

	return &llm.Request{Model: "gemini-2.5-flash", Messages: messages}
}

// done is the shortest complete answer.
const done = `{"candidates":[{"content":{"parts":[{"text":"ok"}],"role":"model"},"finishReason":"STOP","index":0}]}`
