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

// trip tells when a number of LLM and tool calls was made. A nil trip notices nothing.
type trip struct {
	mu      sync.Mutex
	left    int
	reached chan struct{}
}

// set starts counting again; the channel is closed by the n-th call.
func (s *trip) set(n int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.left, s.reached = n, make(chan struct{})

	return s.reached
}

// hit counts a call. It reports whether it came after the last that was counted for.
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

// Many sessions run at once on a server that is killed again and again, whatever they are doing just then. Whenever
// that is, they complete, and nothing of them is lost or doubled.
func TestSessionsSurviveManyKills(t *testing.T) {
	t.Parallel()

	const (
		sessions, kills = 10, 4
		// A session makes four LLM calls, so there are always enough of them left.
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

	// So short that it has run out when the next server is there.
	w := newWorld(t, worldOptions{Lease: 100 * time.Millisecond}, all...)

	for range kills {
		after := 1 + rand.IntN(most)
		reached := calls.set(after)
		server := w.Start()

		if all[0].SessionID == "" {
			for _, i := range all {
				w.Begin(i)
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

// requireCallsOnce checks that calls reached their tools under the ids that were written down, and one that writes
// not more than once.
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
