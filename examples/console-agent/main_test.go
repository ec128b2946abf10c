package main

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow/agent"
	"tarsy.dev/tarsy/flow/flowtest"
)

func start(t *testing.T) *flowtest.Host {
	t.Helper()

	return flowtest.New(t, configure, flowtest.WithConsole(), flowtest.WithLLM()).Start()
}

func TestConsoleAgentPrintsTheWholeResponse(t *testing.T) {
	t.Parallel()

	host := start(t)
	host.LLM().EnqueueThoughts([]string{"Who ", "asks?"}, []string{"I am a ", "helpful assistant.\n\n", "Ask me."})

	host.Console().Send("Who are you?")
	require.Equal(t, []string{"[assistant]: I am a helpful assistant.", "", "Ask me."}, host.Console().CollectUntilQuiet())
	require.Equal(t, []string{"Who are you?"}, host.LLM().Prompts())
	require.Equal(t, "Who asks?", flowtest.Entries[agent.Thought](host, "agent")[0].Text, "thoughts are kept, not printed")
}

func TestConsoleAgentDoesNotAnswerEmptyInput(t *testing.T) {
	t.Parallel()

	host := start(t)
	host.Console().Send("")
	host.Console().AssertQuiet()
	require.Empty(t, host.LLM().Requests())
}

func TestConsoleAgentReportsAModelThatFails(t *testing.T) {
	t.Parallel()

	host := start(t)
	host.LLM().EnqueueFailure(errors.New("quota exceeded"))
	host.Console().Send("Hello")
	require.Equal(t, "[error]: quota exceeded", host.Console().WaitError())

	host.LLM().Enqueue("Back again.")
	host.Console().Send("Hello?")
	require.Equal(t, "[assistant]: Back again.", host.Console().WaitLine())
}

func TestConsoleAgentDeclaresItsFlow(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, configure, flowtest.WithConsole(), flowtest.WithLLM())
	flowtest.Golden(t, "flow.mmd", []byte(host.Flow().Mermaid()))
}
