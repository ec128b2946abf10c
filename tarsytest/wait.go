package tarsytest

import (
	"net/http"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/llm/script"
)

// patience is how long a wait lasts before it fails the test, unless Options.Patience is set: far longer than anything
// takes, scaled to the current speed of this machine.
var patience = slowness.Scale(20 * time.Second)

// WaitGate waits until a model call is held at the gate.
func (a *App) WaitGate(gate *script.Gate) {
	a.t.Helper()
	a.Await(gate.Reached(), "a call of the model at the gate")
}

// Await waits until a channel is closed or delivers a value.
func (a *App) Await(c <-chan struct{}, what string) {
	a.t.Helper()

	wait.ForWithin(a.t, a.patience, c, what)
}

// WaitAnswer polls a path until the response matches: for state that no event reports.
func (a *App) WaitAnswer(path, what string, fits func(Response) bool) Response {
	a.t.Helper()

	const pause = 5 * time.Millisecond

	timeout, again := time.NewTimer(a.patience), time.NewTicker(pause)
	defer timeout.Stop()
	defer again.Stop()

	for {
		answer := a.Do(http.MethodGet, path, nil)
		if fits(answer) {
			return answer
		}

		select {
		case <-again.C:
		case <-timeout.C:
			require.FailNow(a.t, "timed out waiting for "+what, "%s answered %d: %s", path, answer.Status, answer.Body)
		}
	}
}
