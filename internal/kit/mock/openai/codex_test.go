package openai_test

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// codexTools returns the tools that Codex sends, and the other tools of the API.
func codexTools(t *testing.T) string {
	t.Helper()

	tools, err := os.ReadFile("testdata/codex_tools.json")
	require.NoError(t, err)

	return `,"tools":` + string(tools)
}

func TestToolsOfCodexAreAccepted(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: "ok"})
	status, _, answer := s.post(t, "/v1/responses", responseQuestion+codexTools(t)+`,
		"tool_choice":"auto","parallel_tool_calls":true,"reasoning":{"effort":"xhigh","summary":"auto","context":"all_turns"},"store":false,
		"include":["reasoning.encrypted_content"],"service_tier":"priority","prompt_cache_key":"k","text":{"verbosity":"low"},"client_metadata":{"a":"b"}}`)
	require.Equal(t, http.StatusOK, status, "%s", answer)

	asked := s.script.Calls()[0].Request

	var names []string
	for _, tool := range asked.Tools {
		names = append(names, tool.Name)
	}

	require.Equal(t, []string{
		"exec_command", "apply_patch", "spawn", "note", "tool_search", "shell", "local_shell", "apply_patch", "computer", "computer_use_preview",
	}, names)
	require.Equal(t, llm.NativeTools{GoogleSearch: true, CodeExecution: true}, asked.NativeTools)
	require.Empty(t, s.entries[0].Error)
}

func TestUnknownToolsAreJournaledAndNotRefused(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: "ok"})
	status, _, answer := s.post(t, "/v1/responses", responseQuestion+`,"tools":[
		{"type":"function","name":"a"},{"type":"teleport","tools":7},{"type":"namespace","name":"n","description":"N","tools":[{"type":"magic"}]}]}`)
	require.Equal(t, http.StatusOK, status, "%s", answer)
	require.Equal(t, "tools[1]: unknown type 'teleport'; tools[2].tools[0]: unknown type 'magic'", s.entries[0].Error)
	require.False(t, s.entries[0].Unexpected)
	require.Len(t, s.script.Calls()[0].Request.Tools, 1)
}

// codexInput is a conversation with every kind of item that Codex and the libraries send back.
const codexInput = `{"model":"gpt-5","input":[
	{"type":"additional_tools","role":"developer","tools":[{"type":"custom","name":"late","description":"Late.","format":{"type":"text"}}]},
	{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix it."}]},
	{"type":"reasoning","summary":[],"content":null,"encrypted_content":"sealed"},
	{"type":"custom_tool_call","status":"completed","call_id":"a","name":"apply_patch","input":"*** Begin Patch"},
	{"type":"custom_tool_call_output","call_id":"a","output":"Done."},
	{"type":"function_call","call_id":"b","name":"spawn","namespace":"agents","arguments":"{}"},
	{"type":"function_call_output","call_id":"b","output":[{"type":"input_text","text":"spawned"},{"type":"encrypted_content","encrypted_content":"x"}]},
	{"type":"local_shell_call","call_id":"c","status":"completed","action":{"type":"exec","command":["ls"]}},
	{"type":"function_call_output","call_id":"c","output":"a b"},
	{"type":"local_shell_call","id":"lsh_1","status":"completed","action":{"type":"exec","command":["ls"],"env":{}}},
	{"type":"local_shell_call_output","id":"lsh_1","output":"c d"},
	{"type":"shell_call","call_id":"d","action":{"commands":["ls"]},"status":"completed"},
	{"type":"shell_call_output","call_id":"d","output":[{"stdout":"x","stderr":"","outcome":{"type":"exit","exit_code":0}}]},
	{"type":"apply_patch_call","call_id":"e","status":"completed","operation":{"type":"delete_file","path":"a"}},
	{"type":"apply_patch_call_output","call_id":"e","status":"completed"},
	{"type":"tool_search_call","call_id":"f","status":"completed","execution":"client","arguments":{"query":"pods"}},
	{"type":"tool_search_output","call_id":"f","status":"completed","execution":"client","tools":[{"type":"function","name":"found","parameters":{"type":"object"}}]},
	{"type":"tool_search_call","execution":"server","arguments":{}},
	{"type":"tool_search_output","execution":"server","tools":[]},
	{"type":"computer_call","call_id":"g","id":"cu_1","action":{"type":"screenshot"},"pending_safety_checks":[],"status":"completed"},
	{"type":"computer_call_output","call_id":"g","output":{"type":"computer_screenshot","image_url":"https://a.test/1.png"}},
	{"type":"web_search_call","status":"completed","action":{"type":"search","query":"x"}},
	{"type":"image_generation_call","id":"ig_1","status":"completed","result":"aGk="},
	{"type":"mcp_list_tools","id":"m1","server_label":"a","tools":[]},
	{"type":"mcp_call","id":"m2","server_label":"a","name":"x","arguments":"{}","output":"y"},
	{"type":"file_search_call","id":"fs_1","status":"completed","queries":["x"]},
	{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Fixed."}],"phase":"commentary"},
	{"type":"compaction","encrypted_content":"x"},{"type":"context_compaction"},{"type":"compaction_trigger"},
	{"type":"agent_message","author":"a","recipient":"b","content":[{"type":"input_text","text":"And now?"}]}]`

func TestItemsOfCodexAreAccepted(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{ToolCalls: []llm.ToolCall{{ID: "h", Name: "late", Arguments: "text"}}})
	status, _, answer := s.post(t, "/v1/responses", codexInput+"}")
	require.Equal(t, http.StatusOK, status, "%s", answer)
	require.Contains(t, string(answer), `"type":"custom_tool_call","status":"completed","input":"text","call_id":"h","name":"late"`)

	asked := s.script.Calls()[0].Request
	require.Equal(t, "late", asked.Tools[0].Name)
	require.Equal(t, "found", asked.Tools[1].Name)
	require.Equal(t, llm.Message{
		Role: llm.RoleAssistant, Signature: &llm.Signature{By: "wire", Data: json.RawMessage(`"sealed"`)},
		ToolCalls: []llm.ToolCall{{ID: "a", Name: "apply_patch", Arguments: "*** Begin Patch"}},
	}, asked.Messages[1])

	results := map[string]string{}
	for _, message := range asked.Messages {
		if message.Role == llm.RoleTool {
			results[message.ToolCallID+" "+message.ToolName] = message.Content
		}
	}

	require.Equal(t, map[string]string{
		"a apply_patch": "Done.", "b spawn": "spawned[encrypted_content]", "c local_shell": "a b", "lsh_1 local_shell": "c d",
		"d shell":       `[{"stdout":"x","stderr":"","outcome":{"type":"exit","exit_code":0}}]`,
		"e apply_patch": "", "f tool_search": `[{"type":"function","name":"found","parameters":{"type":"object"}}]`,
		"g computer": `{"type":"computer_screenshot","image_url":"https://a.test/1.png"}`,
	}, results)
	require.Equal(t, "And now?", asked.Messages[len(asked.Messages)-1].Content)
}

func TestCustomCallsNeedTheirOutputs(t *testing.T) {
	t.Parallel()

	for message, input := range map[string]string{
		"No tool output found for function call a":                                 `{"type":"custom_tool_call","call_id":"a","name":"x","input":"y"}`,
		"No tool call found for custom tool call output with call_id b":            `{"type":"custom_tool_call_output","call_id":"b","output":"y"}`,
		"'input[0]' is a custom tool call without call_id or name":                 `{"type":"custom_tool_call","name":"x","input":"y"}`,
		"Missing required parameter: 'input[1].output'":                            `{"type":"shell_call","call_id":"a","action":{}},{"type":"shell_call_output","call_id":"a"}`,
		"Invalid value for 'input[1].output': expected a string or an array of co": `{"type":"custom_tool_call","call_id":"a","name":"x","input":"y"},{"type":"custom_tool_call_output","call_id":"a","output":7}`,
	} {
		status, _, answer := serve(t).post(t, "/v1/responses", `{"model":"m","input":[`+input+`]}`)
		require.Equal(t, http.StatusBadRequest, status, message)
		require.Contains(t, string(answer), message)
	}
}

func TestCustomCallIsContinuedByPreviousResponse(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{ToolCalls: []llm.ToolCall{{ID: "a", Name: "note", Arguments: "text"}, {ID: "b", Name: "shell", Arguments: "{}"}}}, script.Reply{Text: "ok"})
	_, _, answer := s.post(t, "/v1/responses", responseQuestion+codexTools(t)+"}")

	var first struct {
		ID string `json:"id"`
	}

	require.NoError(t, json.Unmarshal(answer, &first))

	status, _, answer := s.post(t, "/v1/responses", `{"model":"gpt-5","previous_response_id":"`+first.ID+`","input":[
		{"type":"custom_tool_call_output","call_id":"a","output":"noted"},{"type":"shell_call_output","call_id":"b","output":[]}]}`)
	require.Equal(t, http.StatusOK, status, "%s", answer)

	messages := s.script.Calls()[1].Request.Messages
	require.Equal(t, []llm.ToolCall{{ID: "a", Name: "note", Arguments: "text"}, {ID: "b", Name: "shell", Arguments: "{}"}}, messages[1].ToolCalls)
	require.Equal(t, "noted", messages[2].Content)
}

func TestChatStreamsCallsOfCustomTools(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{ToolCalls: []llm.ToolCall{{ID: "a", Name: "note", Arguments: "a text that is sent in several pieces"}}})
	_, _, stream := s.post(t, "/v1/chat/completions", chatQuestion+`,"stream":true,"tools":[{"type":"custom","custom":{"name":"note"}}]}`)
	require.Contains(t, string(stream), `{"index":0,"id":"a","type":"custom","custom":{"name":"note","input":""}}`)
	require.Contains(t, string(stream), `{"index":0,"custom":{"input":"everal pieces"}}`)
}
