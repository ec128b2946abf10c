package app

import (
	"context"
	"log/slog"
	"maps"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/mask"
	"tarsy.dev/tarsy/internal/metrics"
	"tarsy.dev/tarsy/internal/stream"
)

// newMetrics makes the metrics; names that may stand in their labels are those of the configuration.
func newMetrics(cfg *config.Config, version string, logger *slog.Logger) *metrics.Metrics {
	models := map[string]bool{}
	for _, provider := range cfg.LLMProviders {
		models[provider.Model] = true
	}

	return metrics.New(metrics.Config{
		Version: version, Logger: logger,
		Providers: slices.Collect(maps.Keys(cfg.LLMProviders)), Models: slices.Collect(maps.Keys(models)),
		Servers: append(slices.Collect(maps.Keys(cfg.MCPServers)), tarsy.OwnServer),
	})
}

// countStreams adds what is read when somebody scrapes.
func (a *App) countStreams(masker *mask.Masker, hub *stream.Hub, deltas *stream.Deltas, changes *feed) {
	a.metrics.AddMasker(masker.Masked)
	a.metrics.AddStreams(metrics.Streams{
		WebSockets: hub.WebSockets, EventStreams: hub.EventStreams, DroppedDeltas: deltas.Dropped, DroppedChanges: changes.dropped.Load,
	})
}

// readDatabase adds what is read from the database when somebody scrapes.
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
