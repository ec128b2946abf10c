package app

import (
	"context"
	"log/slog"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/metrics"
	"tarsy.dev/tarsy/internal/stream"
)

// newMetrics creates the metrics. Only names from the configuration can appear in their labels.
func newMetrics(cfg *config.Config, version string, logger *slog.Logger) *metrics.Metrics {
	providers, models, servers := configLabels(cfg)

	return metrics.New(metrics.Config{Version: version, Logger: logger, Providers: providers, Models: models, Servers: servers})
}

// countStreams adds metrics that are read at scrape time.
func (a *App) countStreams(hub *stream.Hub, deltas *stream.Deltas, changes *feed) {
	a.metrics.AddMasker(func() (texts, results int64) { return a.current().masker.Masked() })
	a.metrics.AddStreams(metrics.Streams{
		WebSockets: hub.WebSockets, EventStreams: hub.EventStreams, DroppedDeltas: deltas.Dropped, DroppedChanges: changes.dropped.Load,
	})
}

// readDatabase adds metrics that are read from the database at scrape time.
func (a *App) readDatabase() {
	a.metrics.AddDatabase(metrics.Database{
		Pools: a.db.PoolStats,
		Workload: func(ctx context.Context) (metrics.Workload, error) {
			found, err := a.db.Workload(ctx)
			if err != nil {
				return metrics.Workload{}, err
			}

			load := metrics.Workload{
				Waiting: found.Waiting, WaitingApprovals: found.WaitingApprovals, Unnumbered: found.Unnumbered,
				Paused: map[tarsy.PauseKind]bool{tarsy.PauseIntake: found.IntakePaused, tarsy.PauseClaiming: found.ClaimingPaused},
				Sessions: map[tarsy.SessionStatus]int{
					tarsy.SessionPending: found.Pending, tarsy.SessionInProgress: found.InProgress, tarsy.SessionCancelling: found.Cancelling,
				},
			}

			if found.OldestWaiting != nil {
				load.OldestAge = max(a.clock.Now().Sub(*found.OldestWaiting), 0)
			}

			return load, nil
		},
	})
}
