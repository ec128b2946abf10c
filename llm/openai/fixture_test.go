package openai_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secretKey = "sk-proj-0123456789abcdef"

// server answers every request with the same bytes, and records the last request.
type server struct {
	*httptest.Server
	request *http.Request
	body    []byte
}

func serve(t *testing.T, status int, contentType, answer string) *server {
	t.Helper()

	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.request = r
		s.body, _ = io.ReadAll(r.Body)

		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)

	return s
}

// stream answers with events, in the form in which servers send them.
func stream(t *testing.T, events ...string) *server {
	t.Helper()

	var answer strings.Builder
	for _, event := range events {
		answer.WriteString("data: " + event + "\n\n")
	}

	return serve(t, http.StatusOK, "text/event-stream", answer.String())
}

func (s *server) client(t *testing.T, api string) *openai.Client {
	t.Helper()

	client, err := openai.New(openai.Config{BaseURL: s.URL + "/v1", APIKey: secretKey, API: api})
	require.NoError(t, err)

	return client
}

// ask makes a call and returns the answer and its chunks.
func (s *server) ask(t *testing.T, api string, req *llm.Request) (llm.Response, []llm.Chunk, error) {
	t.Helper()

	var chunks []llm.Chunk

	response, err := llm.Collect(s.client(t, api).Generate(t.Context(), req), func(chunk llm.Chunk) error {
		chunks = append(chunks, chunk)

		return nil
	})

	return response, chunks, err
}

// fails makes a call that must fail.
func (s *server) fails(t *testing.T, api string) *llm.Error {
	t.Helper()

	_, _, err := s.ask(t, api, question())
	require.Error(t, err)

	return llm.AsError(err)
}

// sent returns the body of the last request.
func (s *server) sent(t *testing.T) map[string]any {
	t.Helper()

	var body map[string]any

	require.NoError(t, json.Unmarshal(s.body, &body), "%s", s.body)

	return body
}

// sentJSON returns a field of the last request's body.
func (s *server) sentJSON(t *testing.T, field string) string {
	t.Helper()

	value, err := json.Marshal(s.sent(t)[field])
	require.NoError(t, err)

	return string(value)
}

func question() *llm.Request {
	return &llm.Request{Model: "gpt-5", Messages: []llm.Message{{Role: llm.RoleUser, Content: "What is wrong?"}}}
}

// conversation returns a question with earlier messages.
func conversation() *llm.Request {
	req := question()
	req.Messages = []llm.Message{
		{Role: llm.RoleSystem, Content: "Be brief."},
		{Role: llm.RoleUser, Content: "What is wrong?"},
		{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{
			{ID: "call_1", Name: "cluster.get_pods", Arguments: `{"namespace":"shop"}`}, {ID: "call_2", Name: "get_events", Arguments: "not json"},
		}},
		{Role: llm.RoleTool, Content: "no pods", ToolCallID: "call_1", ToolName: "cluster.get_pods"},
		{Role: llm.RoleTool, Content: "", ToolCallID: "call_2", ToolName: "get_events"},
		{Role: llm.RoleAssistant},
		{Role: llm.RoleAssistant, Content: "Nothing."},
		{Role: llm.RoleUser, Content: "Sure?"},
	}
	req.Tools = []llm.Tool{{Name: "cluster.get_pods", Description: "Lists pods.", Schema: json.RawMessage(`{"properties":{"n":{"maximum":9223372036854775807}}}`)}}

	return req
}

// closedSchema is a schema that the API can enforce.
const closedSchema = `{"type":"object","properties":{"score":{"type":"integer"}},"required":["score"],"additionalProperties":false}`
