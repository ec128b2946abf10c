package app

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/background"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/postgres/outbox"
	"tarsy.dev/tarsy/internal/postgres/private"
)

const (
	// checkEvery is how often the database is checked, and checkTimeout how long a check may take, in real time.
	checkEvery   = 3 * time.Second
	checkTimeout = 5 * time.Second
)

// openDatabase opens the database, starting a private one if no URL is given, and migrates it.
func (a *App) openDatabase(ctx context.Context) error {
	url, err := a.databaseURL(ctx)
	if err != nil {
		return err
	}

	cfg := a.options.Config

	a.db, err = postgres.Open(ctx, postgres.Config{
		URL: url, Migrate: true, Wait: a.options.DatabaseWait, Progress: a.options.Progress, Step: a.Step,
		Clock: a.clock, Logger: a.logger, PollEvery: cfg.Queue.PollInterval, PollJitter: cfg.Queue.PollIntervalJitter,
		ReadTimeout: cfg.System.QueryTimeout, MaxWaiting: cfg.Queue.MaxWaitingSessions, SeverityAgeing: cfg.Queue.SeverityAgeing,
		DatabaseTime: a.databaseTime, StepsPerCommit: a.options.StepsPerCommit, Committed: a.committed,
	})
	if err != nil {
		return err
	}

	a.clock = a.db.Clock()
	a.accounts, a.outbox = account.New(a.db), outbox.New(a.db)

	a.onStop("the database", func(context.Context) error { a.db.Stop(); return nil })

	a.dbWatch = &databaseWatch{check: a.db.Check, changed: a.databaseChanged, logger: a.logger}
	a.onStop("checks of the database", func(context.Context) error { a.dbWatch.Stop(); return nil })

	return nil
}

// databaseURL returns the address of the database.
func (a *App) databaseURL(ctx context.Context) (string, error) {
	if a.options.DatabaseURL != "" {
		return a.options.DatabaseURL, nil
	}

	server, err := private.Open(ctx, private.Config{
		Dir: a.options.DataDir, BinDir: a.options.PGBinDir, Progress: a.options.Progress, Logger: a.logger,
	})
	if err != nil {
		return "", err
	}

	a.onStop("the private PostgreSQL", server.Stop)
	server.Supervise(func(err error) { a.failed <- err }) // called at most once

	return server.URL(), nil
}

// databaseChanged sets a warning while the database is unavailable.
func (a *App) databaseChanged(err error) {
	a.warnings.clear(categoryDatabase, a.serverID)

	if err != nil {
		a.warnings.set(categoryDatabase, a.serverID, postgres.Problem(err), "The server is not ready until it works again.", a.clock.Now())
	}
}

// databaseWatch checks the database in the background, so that probes are answered immediately, however long the
// database takes, and many probes cost nothing.
type databaseWatch struct {
	background.Task

	check   func(context.Context) error
	changed func(error)
	logger  *slog.Logger

	mu      sync.Mutex
	failure error
}

func (w *databaseWatch) run(ctx context.Context) {
	background.Every(ctx, checkEvery, checkTimeout, func(within context.Context) {
		if err := w.check(within); ctx.Err() == nil {
			w.note(err)
		}
	})
}

// note records the result of a check, and reports when the database fails and when it recovers.
func (w *databaseWatch) note(err error) {
	w.mu.Lock()
	before := w.failure
	w.failure = err
	w.mu.Unlock()

	switch {
	case err != nil && before == nil:
		w.logger.Error("database unavailable, server not ready", "error", err)
	case err == nil && before != nil:
		w.logger.Info("database available again")
	}

	if err != nil || before != nil {
		w.changed(err)
	}
}

// readiness returns why the database keeps the server from being ready, or nil.
func (w *databaseWatch) readiness() error {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.failure == nil {
		return nil
	}

	return tarsy.Errorf(tarsy.CodeUnavailable, "%s", postgres.Problem(w.failure))
}
