package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/flowtest"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func start(t *testing.T, options ...flowtest.Option) *flowtest.Host {
	t.Helper()

	return flowtest.New(t, configure, append(options, flowtest.WithConsole(), flowtest.WithLLM())...).Start()
}

func TestParagraphsArePrintedWhenTheyAreComplete(t *testing.T) {
	t.Parallel()

	gate := script.NewGate()
	host := start(t)
	host.LLM().Add(script.Reply{
		Chunks: []llm.Chunk{
			llm.ThinkingChunk{Text: "Two paragraphs."},
			llm.TextChunk{Text: "First para"}, llm.TextChunk{Text: "graph.\n\nSec"}, llm.TextChunk{Text: "ond paragraph."},
		},
		Gate: gate, GateAfter: 3,
	})

	host.Console().Send("Write")
	require.Equal(t, []string{"[thinking]: Two paragraphs.", "[assistant]: First paragraph."}, host.Console().Collect(2),
		"while the model is still writing")
	gate.Open()
	require.Equal(t, []string{"[assistant]: Second paragraph."}, host.Console().CollectUntilQuiet())
}

func TestWindowIsReplacedInATest(t *testing.T) {
	t.Parallel()

	host := start(t, flowtest.WithWindow(flow.WindowMaxLength(6)))
	host.LLM().EnqueueStream("Hello", " ", "World", "!")
	host.Console().Send("Say hello")
	require.Equal(t, []string{"[assistant]: Hello ", "[assistant]: World!"}, host.Console().CollectUntilQuiet())
}

func TestConsoleAgentStreamingDeclaresItsFlow(t *testing.T) {
	t.Parallel()

	host := flowtest.New(t, configure, flowtest.WithConsole(), flowtest.WithLLM())
	flowtest.Golden(t, "flow.mmd", []byte(host.Flow().Mermaid()))
}
