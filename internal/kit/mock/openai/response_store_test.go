package openai_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// madeResponse has the fields of a response that a later request needs.
type madeResponse struct {
	ID                 string `json:"id"`
	PreviousResponseID string `json:"previous_response_id"`
	Output             []struct {
		ID   string `json:"id"`
		Type string `json:"type"`
	} `json:"output"`
}

// make requests a response, whole or streamed.
func (s *server) make(t *testing.T, stream bool, fields string) madeResponse {
	t.Helper()

	status, _, answer := s.post(t, "/v1/responses", fmt.Sprintf(`{"model":"m","stream":%t,%s}`, stream, fields))
	require.Equal(t, http.StatusOK, status, "%s", answer)

	if stream {
		_, last, ok := strings.Cut(string(answer), `data: {"type":"response.completed"`)
		require.True(t, ok, "%s", answer)

		answer = []byte(`{"type":"x"` + strings.TrimSpace(last))
		wrapped := struct{ Response json.RawMessage }{}
		require.NoError(t, json.Unmarshal(answer, &wrapped))
		answer = wrapped.Response
	}

	var made madeResponse
	require.NoError(t, json.Unmarshal(answer, &made))

	return made
}

func callReply() script.Reply {
	return script.Reply{Thinking: "Hm.", Text: "I look.", Signature: "sealed", ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "get_pods", Arguments: `{"namespace":"shop"}`}}}
}

// requireConversation checks the conversation that the script sees when the call of callReply has its result.
func requireConversation(t *testing.T, messages []llm.Message) {
	t.Helper()

	require.Len(t, messages, 3)
	require.Equal(t, llm.Message{Role: llm.RoleUser, Content: "Why?"}, messages[0])
	require.Equal(t, "I look.", messages[1].Content)
	require.Equal(t, []llm.ToolCall{{ID: "call_1", Name: "get_pods", Arguments: `{"namespace":"shop"}`}}, messages[1].ToolCalls)
	require.JSONEq(t, `"sealed"`, string(messages[1].Signature.Data))
	require.Equal(t, llm.Message{Role: llm.RoleTool, Content: "ok", ToolCallID: "call_1", ToolName: "get_pods"}, messages[2])
}

const callResult = `{"type":"function_call_output","call_id":"call_1","output":"ok"}`

func TestResponseContinuesPreviousOne(t *testing.T) {
	t.Parallel()

	for _, stream := range []bool{false, true} {
		s := serve(t, callReply(), script.Reply{Text: "They run."}, script.Reply{Text: "Bye."})

		first := s.make(t, stream, `"instructions":"Be short.","input":"Why?"`)
		second := s.make(t, stream, `"previous_response_id":"`+first.ID+`","input":[`+callResult+`]`)
		require.Equal(t, first.ID, second.PreviousResponseID)

		third := s.make(t, stream, `"previous_response_id":"`+second.ID+`","input":"Thanks."`)
		require.Equal(t, second.ID, third.PreviousResponseID)

		calls := s.script.Calls()
		requireConversation(t, calls[1].Request.Messages)

		last := calls[2].Request.Messages
		requireConversation(t, last[:3])
		require.Equal(t, []llm.Message{{Role: llm.RoleAssistant, Content: "They run."}, {Role: llm.RoleUser, Content: "Thanks."}}, last[3:])
	}
}

func TestItemReferencesResolveWithinRun(t *testing.T) {
	t.Parallel()

	for _, stream := range []bool{false, true} {
		s := serve(t, callReply(), script.Reply{Text: "They run."})
		first := s.make(t, stream, `"input":"Why?"`)
		require.Len(t, first.Output, 3)

		references := []string{`{"role":"user","content":"Why?"}`}
		for _, item := range first.Output {
			references = append(references, fmt.Sprintf(`{"type":"item_reference","id":%q}`, item.ID))
		}

		// The type can be omitted.
		references[1] = fmt.Sprintf(`{"id":%q}`, first.Output[0].ID)

		s.make(t, stream, `"input":[`+strings.Join(append(references, callResult), ",")+`]`)
		requireConversation(t, s.script.Calls()[1].Request.Messages)
	}
}

func TestUnstoredResponsesAreNotKept(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: "a"})
	made := s.make(t, false, `"store":false,"input":"Why?"`)

	for body, param := range map[string]string{
		`"previous_response_id":"` + made.ID + `","input":"And?"`:              "previous_response_id",
		`"input":[{"type":"item_reference","id":"` + made.Output[0].ID + `"}]`: "input[0]",
	} {
		status, _, answer := s.post(t, "/v1/responses", `{"model":"m",`+body+`}`)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, string(answer), `"param":"`+param+`"`)
		require.Contains(t, string(answer), "'store'")
	}
}

func TestReasoningReferenceNeedsItsFollower(t *testing.T) {
	t.Parallel()

	s := serve(t, callReply())
	made := s.make(t, false, `"input":"Why?"`)
	status, _, answer := s.post(t, "/v1/responses", `{"model":"m","input":[{"type":"item_reference","id":"`+made.Output[0].ID+`"},{"role":"user","content":"And?"}]}`)
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, string(answer), "without its required following item")
}
