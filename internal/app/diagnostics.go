package app

import (
	"context"
	"maps"
	"runtime"
	"slices"

	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/mask"
)

// withheld replaces a text that could not be checked for secrets.
const withheld = "[withheld: the text could not be checked for secrets]"

// diagnostics returns a function that reads the state of the server. It reports what cannot be read as missing.
func (a *App) diagnostics() func(context.Context) api.Diagnostics {
	return func(ctx context.Context) api.Diagnostics {
		var memory runtime.MemStats

		runtime.ReadMemStats(&memory)

		found := api.Diagnostics{
			StartedAt: a.startedAt,
			Runtime: api.RuntimeState{
				GoVersion: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Goroutines: runtime.NumGoroutine(),
				HeapBytes: memory.HeapAlloc, SysBytes: memory.Sys,
			},
			Migrations: []api.Migration{}, Servers: []api.AnnouncedServer{}, Pools: a.poolStates(), Missing: []api.MissingDiagnostic{},
			MCPServers: a.mcpStatuses(),
		}

		a.diagnoseDatabase(ctx, &found)

		found.Errors = a.options.errors.masked(a.current().masker)

		return found
	}
}

// masked returns the log lines with secrets masked.
func (l *errorLog) masked(masker *mask.Masker) []api.LoggedError {
	lines := l.all()
	masked := make([]api.LoggedError, 0, len(lines))

	for _, line := range lines {
		text, err := masker.Result("", line.text)
		if err != nil {
			text = withheld
		}

		masked = append(masked, api.LoggedError{Time: calendar.Time(line.at), Text: text})
	}

	return masked
}

// diagnoseDatabase adds the diagnostics from the database.
func (a *App) diagnoseDatabase(ctx context.Context, found *api.Diagnostics) {
	missing := func(what string, err error) {
		a.logger.WarnContext(ctx, "diagnostics are incomplete", "missing", what, "error", err)
		found.Missing = append(found.Missing, api.MissingDiagnostic{What: what, Reason: "the database did not answer; the log has the error"})
	}

	if migrations, err := a.db.AppliedMigrations(ctx); err != nil {
		missing("migrations", err)
	} else {
		for _, m := range migrations {
			found.Migrations = append(found.Migrations, api.Migration(m))
		}
	}

	if servers, err := a.db.Servers(ctx); err != nil {
		missing("servers", err)
	} else {
		for _, s := range servers {
			s.Has = append([]string{}, s.Has...)
			found.Servers = append(found.Servers, api.AnnouncedServer(s))
		}
	}

	if load, err := a.db.Workload(ctx); err != nil {
		missing("queue", err)
	} else {
		found.Queue = api.QueueState{
			Pending: load.Pending, InProgress: load.InProgress, Cancelling: load.Cancelling, Waiting: load.Waiting, OldestWaiting: load.OldestWaiting,
		}
	}
}

func (a *App) poolStates() []api.PoolState {
	stats := a.db.PoolStats()
	pools := make([]api.PoolState, 0, len(stats))

	for _, name := range slices.Sorted(maps.Keys(stats)) {
		s := stats[name]
		pools = append(pools, api.PoolState{
			Name: name, Max: s.MaxConns(), Acquired: s.AcquiredConns(), Idle: s.IdleConns(), Acquires: s.AcquireCount(), EmptyAcquires: s.EmptyAcquireCount(),
		})
	}

	return pools
}
