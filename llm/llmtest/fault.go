package llmtest

import (
	"strings"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// faultCases returns cases with incomplete streams. None of them may pass for a shorter answer.
func faultCases() map[string]func(*fixture) {
	cases := map[string]func(*fixture){}

	for name, kind := range map[string]script.FaultKind{
		"a dropped connection": script.FaultDrop, "a malformed stream": script.FaultMalformed, "a truncated stream": script.FaultTruncate,
	} {
		for when, after := range map[string]int{"before the first chunk": 0, "in mid-stream": 3} {
			cases[name+" "+when+" is an error that may pass"] = func(f *fixture) { fault(f, kind, after) }
		}
	}

	cases["a stream that is cut within parallel tool calls is an error"] = cutCalls

	return cases
}

func fault(f *fixture, kind script.FaultKind, after int) {
	const text = "one two three four five"

	f.script.Add(script.Reply{Text: text, Err: &script.Fault{Kind: kind}, AfterChunks: after}, script.Reply{Text: "asked again"})

	response, chunks, err := f.generate(f.request())
	require.Error(f, err, "%+v", chunks)

	e := llm.AsError(err)
	require.Equal(f, llm.ClassTransient, e.Class, "%+v", e)
	require.True(f, e.Retryable)
	f.requireAdvice(e, "")
	require.True(f, strings.HasPrefix(text, response.Text), "%q", response.Text)
	require.Zero(f, response.End, "no end was reached")
	require.Equal(f, 1, f.script.CallCount(), "a client does not try again by itself")
}

func cutCalls(f *fixture) {
	f.script.Add(script.Reply{ToolCalls: []llm.ToolCall{
		{Name: "cluster__get_pods", Arguments: `{"namespace":"shop"}`}, {Name: "cluster__get_events", Arguments: `{"namespace":"shop"}`},
	}, Err: &script.Fault{Kind: script.FaultTruncate}, AfterChunks: 1})

	_, _, err := f.generate(f.toolRequest())
	require.Error(f, err)
	require.Equal(f, llm.ClassTransient, llm.AsError(err).Class)
}
