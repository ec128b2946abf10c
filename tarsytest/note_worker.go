package tarsytest

import (
	"context"
)

// StartWorkers begins to run background jobs on a server that was booted with Options.WorkersOff.
func (a *App) StartWorkers() {
	a.t.Helper()

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	a.app.StartJobs(ctx)
}
