package story_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/demo/story"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// reactInstructions returns the instructions of an agent that uses the text protocol.
func reactInstructions(t *testing.T, session *mcp.ClientSession) string {
	t.Helper()

	text := "You are an SRE.\n\n## Tools\n"
	for _, tool := range tools(t, session) {
		text += fmt.Sprintf("\ncluster.%s: %s\n  arguments: {}\n", strings.TrimPrefix(tool.Name, wirePrefix), tool.Description)
	}

	return text + "\nThought: what you want to know\nAction: the name of one tool\nAction Input: its arguments\n\nFinal Answer: your answer"
}

var action = regexp.MustCompile(`(?s)^Thought: (.+)\nAction: cluster\.(\w+)\nAction Input: (\{.*\})$`)

// playReact runs an agent that uses the text protocol.
func playReact(t *testing.T, client llm.Client, session *mcp.ClientSession, user string) (result string, used []string) {
	t.Helper()

	messages := []llm.Message{{Role: llm.RoleSystem, Content: reactInstructions(t, session)}, {Role: llm.RoleUser, Content: user}}

	for range maxTurns {
		said := generate(t, client, &llm.Request{Agent: "Investigator", Purpose: string(tarsy.InteractionIteration), Messages: messages})
		require.Empty(t, said.ToolCalls)
		require.Empty(t, said.Thinking, "thoughts are part of the text")

		if _, answer, ok := strings.Cut(said.Text, "\nFinal Answer: "); ok {
			return answer, used
		}

		found := action.FindStringSubmatch(said.Text)
		require.NotNil(t, found, said.Text)

		used = append(used, found[2])
		seen := use(t, session, llm.ToolCall{Name: wirePrefix + found[2], Arguments: found[3]})
		messages = append(messages, llm.Message{Role: llm.RoleAssistant, Content: said.Text}, llm.Message{Role: llm.RoleUser, Content: "Observation: " + seen})
	}

	require.Fail(t, "the story does not end")

	return "", nil
}

func TestEveryStoryRunsInTextProtocol(t *testing.T) {
	t.Parallel()

	session, client := connect(t), story.Client(script.Pace{})

	for _, about := range investigated(t) {
		if about.Name == team {
			continue
		}

		result, used := playReact(t, client, session, prompt(about, ""))
		whole := play(t, client, session, "Investigator", prompt(about, ""))
		require.Equal(t, whole.result, result)
		require.Equal(t, whole.tools, used, "the same steps, one at a time")
	}

	result, used := playReact(t, client, session, "the coffee machine is on fire")
	require.Contains(t, result, "Nothing was investigated")
	require.Equal(t, []string{"list_namespaces"}, used)
}
