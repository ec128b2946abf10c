package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/agent"
	"tarsy.dev/tarsy/flow/flowtest"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/program"
)

func start(t *testing.T, options ...flowtest.Option) *flowtest.Host {
	t.Helper()

	return flowtest.New(t, configure, append(options, flowtest.WithDiscord(), flowtest.WithLLM())...).Start()
}

func TestAgentAnswersInDiscord(t *testing.T) {
	t.Parallel()

	host := start(t)
	host.LLM().EnqueueThoughts([]string{"Hm."}, []string{"First ", "paragraph.\n\n", "Second", " one."})
	host.Discord().Say("general", "alice", "<@bot> Who are you?")

	host.Discord().WaitSent("the response", flowtest.Content("First paragraph.\n\nSecond one."))
	require.Len(t, host.Discord().Sent(), 1)
	require.Equal(t, []string{"alice: Who are you?"}, host.LLM().Prompts())
}

func TestAgentDoesNotAnswerAMentionWithoutText(t *testing.T) {
	t.Parallel()

	host := start(t)
	host.Discord().Say("general", "alice", "<@bot>")
	host.Discord().AssertQuiet()
	require.Empty(t, host.LLM().Requests())
}

func TestModelThatFailsIsNoEndOfTheConversation(t *testing.T) {
	t.Parallel()

	host := start(t)
	host.LLM().EnqueueFailure(errors.New("quota exceeded"))
	host.Discord().Say("general", "alice", "Hello")
	host.Discord().WaitSent("the apology", flowtest.Content("I cannot answer now. Please try again later."))

	host.LLM().Enqueue("Back again.")
	host.Discord().Say("general", "alice", "Hello?")
	host.Discord().WaitSent("the response", flowtest.Content("Back again."))
}

func TestAgentRemembersTheConversationAfterARestart(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	inFiles := flowtest.WithEnv(func(env *program.Env) {
		env.OpenJournal = func(string) (journal.Journal[flow.Entry], error) {
			return journal.OpenFile[flow.Entry](journal.FileConfig{Dir: dir})
		}
	})

	first := start(t, inFiles)
	first.LLM().Enqueue("I will remember.")
	first.Discord().Say("general", "alice", "My name is Alice.")
	first.Discord().WaitSent("the response", flowtest.Content("I will remember."))
	first.WaitEntry("agent", flowtest.Expect[agent.StreamCompleted]("the end of the response"))
	first.Stop()

	second := start(t, inFiles)
	second.LLM().Enqueue("Alice.")
	second.Discord().Say("general", "alice", "What is my name?")
	second.Discord().WaitSent("the response", flowtest.Content("Alice."))

	var contents []string
	for _, message := range second.LLM().Requests()[0].Messages[1:] {
		contents = append(contents, message.Content)
	}

	require.Equal(t, []string{"alice: My name is Alice.", "I will remember.", "alice: What is my name?"}, contents)
	require.Equal(t, []string{"Alice."}, second.Discord().Contents(), "what was handled is not handled again")
}

func TestDiscordAgentDeclaresItsFlow(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, configure, flowtest.WithDiscord(), flowtest.WithLLM())
	flowtest.Golden(t, "flow.mmd", []byte(host.Flow().Mermaid()))
}
