package sdktest_test

import (
	"encoding/json"
	"os"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// calledTools returns calls of every kind of tool that a caller runs.
func calledTools() script.Reply {
	return script.Reply{ToolCalls: []llm.ToolCall{
		{ID: "c1", Name: "exec_command", Arguments: `{"cmd":"ls"}`},
		{ID: "c2", Name: "apply_patch", Arguments: "*** Begin Patch\n*** End Patch with a long text\n"},
		{ID: "c3", Name: "spawn", Arguments: `{}`},
		{ID: "c4", Name: "agents.note", Arguments: "remember"},
		{ID: "c5", Name: "shell", Arguments: `{"commands":["ls"]}`},
		{ID: "c6", Name: "local_shell", Arguments: `{"type":"exec","command":["ls"],"env":{}}`},
		{ID: "c7", Name: "tool_search", Arguments: `{"query":"pods"}`},
	}}
}

// requireCalls checks the output of calledTools.
func requireCalls(t *testing.T, output []responses.ResponseOutputItemUnion) {
	t.Helper()

	require.Len(t, output, 7)
	require.JSONEq(t, `{"cmd":"ls"}`, output[0].AsFunctionCall().Arguments)

	patch := output[1].AsCustomToolCall()
	require.Equal(t, "apply_patch", patch.Name)
	require.Equal(t, "c2", patch.CallID)
	require.Equal(t, "*** Begin Patch\n*** End Patch with a long text\n", patch.Input)

	require.Equal(t, "spawn", output[2].AsFunctionCall().Name)
	require.Equal(t, "agents", output[2].AsFunctionCall().Namespace)
	require.Equal(t, "note", output[3].AsCustomToolCall().Name)
	require.Equal(t, "agents", output[3].AsCustomToolCall().Namespace)
	require.Equal(t, []string{"ls"}, output[4].AsShellCall().Action.Commands)
	require.Equal(t, []string{"ls"}, output[5].AsLocalShellCall().Action.Command)
	require.Equal(t, "c7", output[6].AsToolSearchCall().CallID)
	require.Equal(t, map[string]any{"query": "pods"}, output[6].AsToolSearchCall().Arguments)
}

// codexParams returns parameters with the tools that Codex sends, and the other tools of the API.
func codexParams(t *testing.T) responses.ResponseNewParams {
	t.Helper()

	params := responseParams()

	tools, err := os.ReadFile("../testdata/codex_tools.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(tools, &params.Tools))

	return params
}

func TestCallsHaveTheFormOfTheirTools(t *testing.T) {
	t.Parallel()

	s := serve(t, calledTools())
	client := s.sdk()
	response, err := client.Responses.New(t.Context(), codexParams(t))
	require.NoError(t, err)
	requireCalls(t, response.Output)
}

func TestStreamedCallsHaveTheFormOfTheirTools(t *testing.T) {
	t.Parallel()

	s := serve(t, calledTools())
	client := s.sdk()
	stream := client.Responses.NewStreaming(t.Context(), codexParams(t))

	var (
		inputs = map[string]string{}
		items  []responses.ResponseOutputItemUnion
		last   *responses.Response
	)

	for stream.Next() {
		switch e := stream.Current().AsAny().(type) {
		case responses.ResponseCustomToolCallInputDeltaEvent:
			inputs[e.ItemID] += e.Delta
		case responses.ResponseCustomToolCallInputDoneEvent:
			require.Equal(t, inputs[e.ItemID], e.Input)
		case responses.ResponseOutputItemDoneEvent:
			items = append(items, e.Item)
		case responses.ResponseCompletedEvent:
			last = &e.Response
		case nil:
			require.Fail(t, "the library does not know "+stream.Current().Type)
		}
	}

	require.NoError(t, stream.Err())
	require.Len(t, inputs, 2)
	require.Equal(t, "remember", inputs[items[3].ID])
	requireCalls(t, items)
	requireCalls(t, last.Output)
}

func TestChatCompletionCallsCustomTools(t *testing.T) {
	t.Parallel()

	reply := script.Reply{ToolCalls: []llm.ToolCall{{ID: "a", Name: "note", Arguments: "a text that is sent in several pieces"}}}
	s := serve(t, reply, script.Reply{Text: "ok"})
	client := s.sdk()
	params := chatParams()
	params.Tools = []sdk.ChatCompletionToolUnionParam{sdk.ChatCompletionCustomTool(sdk.ChatCompletionCustomToolCustomParam{Name: "note"})}

	completion, err := client.Chat.Completions.New(t.Context(), params)
	require.NoError(t, err)

	call := completion.Choices[0].Message.ToolCalls[0].AsCustom()
	require.Equal(t, "note", call.Custom.Name)
	require.Equal(t, "a text that is sent in several pieces", call.Custom.Input)

	params.Messages = append(params.Messages, completion.Choices[0].Message.ToParam(), sdk.ToolMessage("noted", "a"))
	_, err = client.Chat.Completions.New(t.Context(), params)
	require.NoError(t, err)
	require.Equal(t, "note", s.script.Calls()[1].Request.Messages[2].ToolName)
}
