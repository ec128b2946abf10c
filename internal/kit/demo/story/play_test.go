package story_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/demo/cluster"
	"tarsy.dev/tarsy/llm"
)

// wirePrefix precedes the names of the MCP server's tools.
const wirePrefix = "cluster__"

// connect returns a session with the demo's cluster.
func connect(t *testing.T) *mcp.ClientSession {
	t.Helper()

	clientEnd, serverEnd := mcp.NewInMemoryTransports()

	server, err := cluster.NewServer().Connect(t.Context(), serverEnd, nil)
	require.NoError(t, err)

	client := mcp.NewClient(&mcp.Implementation{Name: "story-test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), clientEnd, nil)
	require.NoError(t, err)

	t.Cleanup(func() {
		require.NoError(t, session.Close())
		_ = server.Wait() // It ends because the client disconnected, and may return an error.
	})

	return session
}

// tools returns the cluster's tools as a model sees them.
func tools(t *testing.T, session *mcp.ClientSession) []llm.Tool {
	t.Helper()

	var tools []llm.Tool

	for tool, err := range session.Tools(t.Context(), nil) {
		require.NoError(t, err)

		schema, err := json.Marshal(tool.InputSchema)
		require.NoError(t, err)

		tools = append(tools, llm.Tool{Name: wirePrefix + tool.Name, Description: tool.Description, Schema: schema})
	}

	return tools
}

// use makes one scripted tool call, which must succeed, and returns the tool's output.
func use(t *testing.T, session *mcp.ClientSession, call llm.ToolCall) string {
	t.Helper()

	var arguments map[string]any
	require.NoError(t, json.Unmarshal([]byte(call.Arguments), &arguments))

	name, ok := strings.CutPrefix(call.Name, wirePrefix)
	require.True(t, ok, call.Name)

	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: arguments})
	require.NoError(t, err, "%s %s", call.Name, call.Arguments)

	var text strings.Builder

	for _, content := range result.Content {
		if part, ok := content.(*mcp.TextContent); ok {
			text.WriteString(part.Text)
		}
	}

	require.False(t, result.IsError, "%s %s: %s", call.Name, call.Arguments, text.String())
	require.NotEmpty(t, text.String(), "%s %s", call.Name, call.Arguments)

	return text.String()
}

// played is the outcome of one stage.
type played struct {
	result string
	// calls maps the number of each call to its arguments and output.
	calls    map[string]string
	tools    []string
	messages []llm.Message
	turns    []llm.Response
	// seen is the output of all tools.
	seen string
}

// maxTurns stops a test whose story does not end.
const maxTurns = 10

// play runs the loop of the first stage's first agent.
func play(t *testing.T, client llm.Client, session *mcp.ClientSession, agent, user string) played {
	t.Helper()

	return playAs(t, client, session, agent, user, 1, 1)
}

// playAs runs an agent's loop from the user message to the agent's result. Calls are numbered by the indexes of stage and
// agent, as the engine numbers them.
func playAs(t *testing.T, client llm.Client, session *mcp.ClientSession, agent, user string, stageIndex, agentIndex int) played {
	t.Helper()

	bound := tools(t, session)
	stage := played{calls: map[string]string{}, messages: []llm.Message{
		{Role: llm.RoleSystem, Content: "You are an SRE."},
		{Role: llm.RoleUser, Content: user},
	}}

	for range maxTurns {
		response := generate(t, client, &llm.Request{
			Agent: agent, Purpose: string(tarsy.InteractionIteration), Messages: stage.messages, Tools: bound,
		})
		stage.turns = append(stage.turns, response)
		stage.messages = append(stage.messages,
			llm.Message{Role: llm.RoleAssistant, Content: response.Text, ToolCalls: response.ToolCalls})

		if len(response.ToolCalls) == 0 {
			stage.result = response.Text

			return stage
		}

		for _, call := range response.ToolCalls {
			said := use(t, session, call)
			stage.seen += said + "\n"
			stage.tools = append(stage.tools, strings.TrimPrefix(call.Name, wirePrefix))
			number := tarsy.CallNumber(stageIndex, agentIndex, len(stage.tools))
			stage.calls[number] = call.Arguments + "\n" + said
			stage.messages = append(stage.messages,
				llm.Message{Role: llm.RoleTool, Content: tarsy.CallMark(number) + "\n" + said, ToolCallID: call.ID, ToolName: call.Name})
		}
	}

	require.Fail(t, "the story does not end")

	return stage
}

func generate(t *testing.T, client llm.Client, req *llm.Request) llm.Response {
	t.Helper()

	response, err := llm.Collect(client.Generate(context.WithoutCancel(t.Context()), req), nil)
	require.NoError(t, err)

	return response
}

// prompt returns a user message like those that agents get: runbook, alert, and what earlier stages found.
func prompt(about example, earlier string) string {
	return "## Runbook\n\n" + about.Runbook + "\n\n## Alert\n\n<alert>\n" + about.Data + "\n</alert>\n\n" + earlier
}

// exampleOf returns the alert of a story.
func exampleOf(t *testing.T, name string) example {
	t.Helper()

	all := examples(t)
	i := slices.IndexFunc(all, func(e example) bool { return e.Name == name })
	require.GreaterOrEqual(t, i, 0, "there is no story %s", name)

	return all[i]
}
