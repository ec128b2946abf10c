package story_test

import (
	"context"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/demo/story"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// requireRightMarks checks that every mark refers to a call, and that the calls cited on a line have shown what the line
// claims, unless the alert has. It returns the number of lines with marks.
func requireRightMarks(t *testing.T, text, user string, calls map[string]string) int {
	t.Helper()

	marks := 0

	for line := range strings.Lines(text) {
		cited := tarsy.CitedCalls(line)
		if len(cited) == 0 {
			continue
		}

		marks++

		var shown strings.Builder

		for _, call := range cited {
			require.Contains(t, calls, call, "there is no such call: %s", line)
			shown.WriteString(calls[call])
		}

		// A claim that is taken from the alert needs no call.
		for _, claim := range append(details(line), quotes(line)...) {
			require.Contains(t, shown.String()+user, claim, "the calls have not shown %q: %s", claim, line)
		}
	}

	return marks
}

// quotes returns the code spans of a line that quote data, not tool names or single words.
func quotes(line string) []string {
	var found []string

	for _, match := range regexp.MustCompile("`([A-Za-z]+[_=-][^`]*|[0-9a-f]{10})`").FindAllStringSubmatch(line, -1) {
		if !strings.HasPrefix(match[1], "get_") && !strings.HasPrefix(match[1], "describe_") && !strings.HasPrefix(match[1], "kubectl") {
			found = append(found, match[1])
		}
	}

	return found
}

func TestEveryDemoCitationNamesSupportingCall(t *testing.T) {
	t.Parallel()

	for _, about := range investigated(t) {
		t.Run(about.Name, func(t *testing.T) {
			t.Parallel()

			client, session := story.Client(script.Pace{}), connect(t)
			agents, user := stories()[about.Name].agents, prompt(about, "")
			calls, stages := map[string]string{}, len(agents)

			if about.Name == team {
				whole := playTeam(t, client, session, user, agents)
				calls, stages = whole.calls, 2
				require.GreaterOrEqual(t, requireRightMarks(t, whole.result, user, calls), 6)
			} else {
				for i, agent := range agents {
					stage := playAs(t, client, session, agent, user, i+1, 1)
					maps.Copy(calls, stage.calls)
					require.NotZero(t, requireRightMarks(t, stage.result, user, calls))

					user += "\n\n" + stage.result
				}
			}

			for n, question := range []string{"Why did this happen?", "What should I do now?", "Is it still happening?"} {
				answer := playAs(t, client, session, "ChatAgent", chatPrompt(about, "", question), stages+1+n, 1)
				maps.Copy(calls, answer.calls)
				require.NotZero(t, requireRightMarks(t, answer.result, user, calls), question)
				require.Contains(t, tarsy.CitedCalls(answer.result), tarsy.CallNumber(stages+1+n, 1, 1), "it cites what it has just seen")
				require.NotContains(t, answer.result, "[this call]")
			}
		})
	}
}

func TestAnswerWithoutCallHasNoCitations(t *testing.T) {
	t.Parallel()

	said := generate(t, story.Client(script.Pace{}), &llm.Request{
		Agent: "ChatAgent", Purpose: string(tarsy.InteractionForcedConclusion),
		Messages: []llm.Message{{Role: llm.RoleUser, Content: chatPrompt(exampleOf(t, "oom-kill"), "", "is it still so?")}},
	})
	require.NotContains(t, said.Text, "call]")
	require.NotContains(t, said.Text, " .")
}

func TestFailingStoryInvestigatesBeforeProviderRefuses(t *testing.T) {
	t.Parallel()

	client, session, about := story.Client(script.Pace{}), connect(t), exampleOf(t, failing)
	messages := []llm.Message{{Role: llm.RoleUser, Content: prompt(about, "")}}
	bound := tools(t, session)
	looks := 0

	for {
		response, err := llm.Collect(client.Generate(context.WithoutCancel(t.Context()), &llm.Request{
			Agent: "Investigator", Purpose: string(tarsy.InteractionIteration), Messages: messages, Tools: bound,
		}), nil)
		if err != nil {
			require.Equal(t, llm.ClassSafety, llm.AsError(err).Class)
			require.False(t, llm.AsError(err).Retryable)

			break
		}

		require.NotEmpty(t, response.ToolCalls, "it must not come to an analysis")
		messages = append(messages, llm.Message{Role: llm.RoleAssistant, Content: response.Text, ToolCalls: response.ToolCalls})

		for _, call := range response.ToolCalls {
			looks++
			messages = append(messages, llm.Message{Role: llm.RoleTool, Content: use(t, session, call), ToolCallID: call.ID, ToolName: call.Name})
		}
	}

	require.Equal(t, 3, looks)

	for _, question := range []string{"Why did this happen?", "What should I do now?", "Is it still happening?"} {
		answer := playAs(t, client, session, "ChatAgent", chatPrompt(about, "", question), 2, 1)
		require.Len(t, answer.tools, 1)
		require.Contains(t, tarsy.CitedCalls(answer.result), "2.1.1")
	}
}
