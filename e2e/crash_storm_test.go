package e2e

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// trip reports when a number of LLM and tool calls have been made. A nil trip ignores calls.
type trip struct {
	mu      sync.Mutex
	left    int
	reached chan struct{}
}

// set restarts the count; the channel is closed by the n-th call.
func (s *trip) set(n int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.left, s.reached = n, make(chan struct{})

	return s.reached
}

// hit counts a call, and reports whether it came after the n-th one.
func (s *trip) hit() (late bool) {
	if s == nil {
		return false
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	if s.left--; s.left == 0 {
		close(s.reached)
	}

	return s.left < 0
}

// Many sessions run in parallel on a server that is killed several times, whatever they are doing at that moment. All
// complete, and nothing is lost or duplicated.
func TestSessionsSurviveManyKills(t *testing.T) {
	t.Parallel()

	const (
		sessions, kills = 10, 4
		// A session makes four LLM calls, so there are always enough left.
		most = sessions * 4 / kills
	)

	calls := &trip{}
	all := make([]*investigation, sessions)

	for n := range all {
		recipe := twoTools()
		recipe.calls = calls

		if n%2 == 0 {
			recipe.second = toolRestart
		}

		all[n] = newInvestigation(t, fmt.Sprintf("session %d", n), recipe)
	}

	// The lease is so short that it has expired when the next server starts.
	w := newWorld(t, worldOptions{Lease: 100 * time.Millisecond}, all...)

	for range kills {
		after := 1 + rand.IntN(most)
		reached := calls.set(after)
		server := w.Start()

		if all[0].SessionID == "" {
			for _, i := range all {
				w.SubmitAndWatch(i)
			}
		}

		await(t, reached, fmt.Sprintf("call %d", after))
		server.Kill()
	}

	calls.set(math.MaxInt)
	w.Start()

	for _, i := range all {
		i.Socket.WaitStatus("completed")
		w.requireTwoTools(t, i)

		for name, times := range i.Asked() {
			require.LessOrEqual(t, times, 1+kills, "LLM call %s", name)
		}

		requireCallsOnce(t, w, i)
	}
}

// requireCallsOnce checks that calls reached their tools under the ids that were recorded, and a writing call at most once.
func requireCallsOnce(t *testing.T, w *world, i *investigation) {
	t.Helper()

	ids, restarts := map[string]string{}, 0
	for _, interaction := range w.MCPInteractions(i.SessionID) {
		ids[interaction.ToolName] = interaction.ID
	}

	for _, call := range i.Desk.Seen() {
		require.Equal(t, ids[call.Tool], call.ID)

		if call.Tool == toolRestart {
			restarts++
		}
	}

	require.LessOrEqual(t, restarts, 1)
}
