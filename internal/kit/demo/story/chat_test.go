package story_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/demo/story"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// chatPrompt returns the prompt of the agent that answers questions.
func chatPrompt(about example, analysis, question string) string {
	return prompt(about, "## What happened\n\n"+analysis) + "\n\nQuestion:\n\n" + question
}

func TestEveryStoryAnswersQuestionsFromCluster(t *testing.T) {
	t.Parallel()

	session, client := connect(t), story.Client(script.Pace{})

	for _, about := range investigated(t) {
		analysis := play(t, client, session, stories()[about.Name].agents[0], prompt(about, ""))
		if about.Name == team {
			analysis = playTeam(t, client, session, prompt(about, ""), stories()[about.Name].agents)
		}

		given := map[string]bool{}

		for _, question := range []string{"Why did this happen?", "What should I do now?", "Is it still happening?"} {
			answer := play(t, client, session, "ChatAgent", chatPrompt(about, analysis.result, question))
			require.Len(t, answer.tools, 1, "%s: %s", about.Name, question)
			require.NotEmpty(t, answer.turns[0].Thinking)
			require.NotEmpty(t, answer.result)

			for _, detail := range details(answer.result) {
				require.Contains(t, about.Data+analysis.seen+answer.seen, detail, "%s: nothing has shown %s", about.Name, detail)
			}

			given[answer.result] = true
		}

		require.Len(t, given, 3, "%s: each question has its own answer", about.Name)
	}
}

func TestQuestionsMatchSeveralPhrasings(t *testing.T) {
	t.Parallel()

	session, client, about := connect(t), story.Client(script.Pace{}), exampleOf(t, "oom-kill")

	for question, wanted := range map[string]string{
		"why?": "keeps every price", "What was the root cause?": "keeps every price", "why is it still slow": "keeps every price",
		"what should we do": "Roll back now", "How do I fix it?": "Roll back now", "what next": "Roll back now", "Can I do anything now?": "Roll back now",
		"is it over?": "**Yes.**", "still happening?": "**Yes.**", "has it recovered": "**Yes.**",
		"what is the capital of France": "I cannot answer that", "": "I cannot answer that",
	} {
		require.Contains(t, play(t, client, session, "ChatAgent", chatPrompt(about, "", question)).result, wanted, question)
	}
}

func TestUnknownQuestionIsAnsweredWithKnownTopics(t *testing.T) {
	t.Parallel()

	session, client := connect(t), story.Client(script.Pace{})

	known := play(t, client, session, "ChatAgent", chatPrompt(exampleOf(t, "crash-loop"), "", "Who are you?"))
	require.Empty(t, known.tools)
	require.Contains(t, known.result, "Is it **still happening**?")
	require.Contains(t, known.result, "misspelled the database host", "what is known of the alert is said all the same")

	stranger := play(t, client, session, "ChatAgent", "the coffee machine is on fire\n\nQuestion:\n\nwhy?")
	require.Empty(t, stranger.tools)
	require.Contains(t, stranger.result, "Nothing was investigated here")
}

func TestQuestionWithoutToolsIsAnsweredDirectly(t *testing.T) {
	t.Parallel()

	for _, purpose := range []tarsy.InteractionType{tarsy.InteractionIteration, tarsy.InteractionForcedConclusion} {
		said := generate(t, story.Client(script.Pace{}), &llm.Request{
			Agent: "ChatAgent", Purpose: string(purpose),
			Messages: []llm.Message{{Role: llm.RoleUser, Content: chatPrompt(exampleOf(t, "oom-kill"), "", "why?")}},
		})
		require.Empty(t, said.ToolCalls)
		require.Contains(t, said.Text, "keeps every price")
	}
}
