package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Sessions of three parallel stages, each with a question after it, run on a server that is killed several times, whatever
// they are doing at that moment. Each ends like a session without kills, word for word.
func TestParallelChainsSurviveManyKills(t *testing.T) {
	t.Parallel()

	const (
		sessions, kills = 4, 6
		// A session makes sixteen LLM calls before its question, so there are always enough left.
		most = sessions * 16 / kills
	)

	calls := &trip{}
	recipe := parallelChain()
	recipe.calls = calls

	undisturbed := newInvestigation(t, "undisturbed", parallelChain())
	all := []*investigation{undisturbed}

	for n := range sessions {
		all = append(all, newInvestigation(t, fmt.Sprintf("session %d", n), recipe))
	}

	// The lease is so short that it has expired when the next server starts.
	w := newWorld(t, worldOptions{Lease: 100 * time.Millisecond}, all...)

	for range kills {
		after := 1 + rand.IntN(most)
		reached := calls.set(after)
		server := w.Start()

		for _, i := range all[1:] {
			if i.SessionID == "" {
				w.SubmitAndWatch(i)
			} else if i.Question.StageID == "" && w.Session(i.SessionID).Status.Terminal() {
				w.Question(i)
			}
		}

		await(t, reached, fmt.Sprintf("call %d", after))
		server.Kill()
	}

	calls.set(math.MaxInt)
	w.Start()
	w.SubmitAndWatch(undisturbed)

	for _, i := range all {
		w.Await(i)
		requireSeen(t, i.Socket, requireJournal(t, w.App, i.SessionID))
	}

	want := w.record(undisturbed)

	for _, i := range all[1:] {
		require.Equal(t, want, w.record(i), i.id)
		require.Len(t, scriptedCalls(w.App, i.SessionID), len(chainCalls()), "each finished LLM call once")
	}

	requireReleased(t, w.App)
}
