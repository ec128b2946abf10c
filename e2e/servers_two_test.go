package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// pair returns a recipe with one stage of two agents, its synthesis, and a chat.
func pair() recipe {
	return recipe{
		agents: "  Logs: {custom_instructions: Read the logs.}\n  Metrics: {custom_instructions: Read the metrics.}\n",
		chain:  "chat: {enabled: true}, stages: [{name: look, agents: [{name: Logs}, {name: Metrics}]}]",
	}
}

// Two servers run, with a reader on each. The first server runs an investigation; the question is asked at the second.
// Whichever answers it is killed in the middle of the text, and the other one answers it again. The readers see all of it
// live.
func TestTwoServers(t *testing.T) {
	t.Parallel()

	// In the middle of the text: two chunks of thinking come before it.
	const midText = 5

	i := newInvestigation(t, "watched", pair())
	logs, metrics := i.HoldCall("Logs 2", midText), i.HoldCall("Metrics 2", midText)
	answer, again := i.HoldCall("ChatAgent 2", midText), i.HoldCall("ChatAgent 2", midText)
	w := newWorld(t, worldOptions{}, i)
	a := w.Start()

	w.SubmitAndWatch(i)
	await(t, logs.Reached(), "the middle of the first agent's text")
	await(t, metrics.Reached(), "the middle of the second agent's text")

	b := w.Start()
	readers := map[string]*tarsytest.Socket{a.ServerID: w.At(a).Watch(i.SessionID), b.ServerID: w.At(b).Watch(i.SessionID)}

	for _, reader := range readers {
		reader.Wait("the first agent's text so far", showing("This is Logs "))
		reader.Wait("the second agent's text so far", showing("This is Metrics "))
	}

	logs.Open()
	metrics.Open()

	for _, reader := range readers {
		reader.WaitStatus("completed")
	}

	require.Equal(t, a.ServerID, w.Session(i.SessionID).PodID)

	i.Question = w.At(b).Ask(i.SessionID, "is it still slow?")
	await(t, answer.Reached(), "the middle of the answer")

	for _, reader := range readers {
		reader.Wait("the answer so far", showing("This is ChatAgent "))
	}

	killed, other := a, b
	if w.Session(i.SessionID).PodID == b.ServerID {
		killed, other = b, a
	}

	requireTakeover(t, killed, again)

	// The investigation had the first fence, the first attempt at the answer the second.
	reader, shows := readers[other.ServerID], showing("This is ChatAgent ")
	reader.Wait("the answer from its beginning, by the other server", func(e tarsytest.Event) bool {
		return e.Fields["fence"] == 3.0 && shows(e)
	})
	again.Open()
	reader.WaitStage(i.Question.StageID)
	w.Await(i)
	require.Equal(t, other.ServerID, w.Session(i.SessionID).PodID)
	w.requireInvestigation(t, i, map[string]int{
		"Logs 1": 1, "Logs 2": 1, "Metrics 1": 1, "Metrics 2": 1, "SynthesisAgent 1": 1, callSummary: 1, "ChatAgent 1": 1, "ChatAgent 2": 1,
	}, []string{"ChatAgent 2"}, nil)
	requireSeen(t, reader, w.Journal(i.SessionID))
}

// requireTakeover kills a server, and checks that another one soon takes over its work.
func requireTakeover(t *testing.T, killed *process, again *script.Gate) {
	t.Helper()
	killed.Kill()

	start := time.Now()

	await(t, again.Reached(), "the other server to ask again")

	took := time.Since(start)
	t.Logf("taken over %s after the kill, with a lease of %s", took.Round(time.Millisecond), lease)
	require.Less(t, took, lease+slowness.Scale(5*time.Second))
}
