package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Sessions of three parallel stages, each with a question after it, run on a server that is killed again and again,
// whatever they are doing just then. Whenever that is, each comes to the end of one that nobody disturbed, word for
// word.
func TestParallelChainsSurviveManyKills(t *testing.T) {
	t.Parallel()

	const (
		sessions, kills = 4, 6
		// A session makes sixteen LLM calls before its question, so there are always enough of them left.
		most = sessions * 16 / kills
	)

	calls := &trip{}
	plot := parallelChain()
	plot.calls = calls

	undisturbed := newQuest(t, "undisturbed", parallelChain())
	all := []*quest{undisturbed}

	for n := range sessions {
		all = append(all, newQuest(t, fmt.Sprintf("session %d", n), plot))
	}

	// So short that it has run out when the next server is there.
	w := newQuests(t, worldOptions{Lease: 100 * time.Millisecond}, all...)

	for range kills {
		after := 1 + rand.IntN(most)
		reached := calls.set(after)
		server := w.Start()

		for _, q := range all[1:] {
			if q.SessionID == "" {
				w.Send(q)
			} else if q.Question.StageID == "" && w.Session(q.SessionID).Status.Terminal() {
				w.Put(q)
			}
		}

		await(t, reached, fmt.Sprintf("call %d", after))
		server.Kill()
	}

	calls.set(math.MaxInt)
	w.Start()
	w.Send(undisturbed)

	for _, q := range all {
		w.Await(q)
		requireSeen(t, q.Socket, requireJournal(t, w.App, q.SessionID))
	}

	want := w.story(undisturbed)

	for _, q := range all[1:] {
		require.Equal(t, want, w.story(q), q.id)
		require.Len(t, w.LLMInteractions(q.SessionID), len(chainCalls()), "each finished LLM call once")
	}

	requireReleased(t, w.App)
}
