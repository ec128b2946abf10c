package anthropic_test

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
	"tarsy.dev/tarsy/llm/anthropic"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reply is a response of the API, byte for byte.
type reply struct {
	status int
	header map[string]string
	body   string
}

// api answers requests with its replies in turn, and records the requests.
type api struct {
	*testing.T
	url string

	mu      sync.Mutex
	replies []reply
	headers []http.Header
	paths   []string
	bodies  []string
}

func newAPI(t *testing.T, replies ...reply) *api {
	t.Helper()

	a := &api{T: t, replies: replies}
	server := httptest.NewServer(http.HandlerFunc(a.answer))
	t.Cleanup(server.Close)
	a.url = server.URL

	return a
}

func (a *api) answer(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)

	a.mu.Lock()
	defer a.mu.Unlock()

	if len(a.bodies) == len(a.replies) {
		a.Error("one request too many")
		w.WriteHeader(http.StatusTeapot)

		return
	}

	next := a.replies[len(a.bodies)]
	a.bodies, a.headers, a.paths = append(a.bodies, string(body)), append(a.headers, r.Header.Clone()), append(a.paths, r.URL.Path)

	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")

	for name, value := range next.header {
		w.Header().Set(name, value)
	}

	if next.status != 0 {
		w.WriteHeader(next.status)
	}

	_, _ = io.WriteString(w, next.body)
}

// asked returns the body of request i as JSON.
func (a *api) asked(i int) map[string]any {
	a.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()

	var body map[string]any

	require.NoError(a, json.Unmarshal([]byte(a.bodies[i]), &body))

	return body
}

func (a *api) client() *anthropic.Client {
	a.Helper()

	transport := &http.Transport{}
	a.Cleanup(transport.CloseIdleConnections)

	client, err := anthropic.New(anthropic.Config{APIKey: "sk-ant-secret", BaseURL: a.url, HTTPClient: &http.Client{Transport: transport}})
	require.NoError(a, err)

	return client
}

// generate makes a call and returns the received chunks.
func (a *api) generate(req *llm.Request) ([]llm.Chunk, error) {
	a.Helper()

	var chunks []llm.Chunk

	for chunk, err := range a.client().Generate(a.Context(), req) {
		if err != nil {
			return chunks, err
		}

		chunks = append(chunks, chunk)
	}

	return chunks, nil
}

// sse returns a stream of events with the given data; the name of an event is its type.
func sse(events ...string) string {
	var stream strings.Builder

	for _, data := range events {
		var event struct {
			Type string `json:"type"`
		}
		if json.Unmarshal([]byte(data), &event) != nil {
			event.Type = "content_block_delta"
		}

		stream.WriteString("event: " + event.Type + "\ndata: " + data + "\n\n")
	}

	return stream.String()
}

// The events that begin and end most answers, from the API's documentation.
const (
	start = `{"type":"message_start","message":{"id":"msg_1nZdL29xx5MUA1yADyHTEsnR8uuvGzszyY","type":"message","role":"assistant","content":[],` +
		`"model":"claude-opus-4-5-20251101","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":25,"output_tokens":1}}}`
	ping = `{"type": "ping"}`
	stop = `{"type":"message_stop"}`
)

func ended(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":15}}`
}

func question() *llm.Request {
	return &llm.Request{Model: "claude-opus-4-5", Messages: []llm.Message{{Role: llm.RoleUser, Content: "Why?"}}}
}
