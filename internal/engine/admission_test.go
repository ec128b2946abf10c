package engine

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy"
)

// limitedIntake replaces the intake of a server that is not started with a limited one.
func limitedIntake(s *server, change func(*IntakeConfig)) *Intake {
	cfg := s.intake.cfg
	change(&cfg)

	return NewIntake(cfg)
}

// awaitHeld waits until an intake holds the given number of alerts.
func (h *fixture) awaitHeld(intake *Intake, alerts int) {
	h.t.Helper()

	for held := -1; held != alerts; held, _ = intake.admission.held() {
		require.NoError(h.t, h.ctx.Err(), "%d alerts are held", held)
		runtime.Gosched()
	}
}

// held returns how many alerts an intake holds, and their bytes.
func (a *admission) held() (alerts, bytes int) {
	a.mu.Lock()
	defer a.mu.Unlock()

	return a.alerts, a.bytes
}

// While the database is unavailable, intake holds alerts up to its limits and rejects the rest. The held alerts are stored when the
// database is back.
func TestAlertsOverMemoryLimitAreRefusedImmediately(t *testing.T) {
	t.Parallel()

	const (
		most    = 5
		size    = 1000
		refused = 200
	)

	for name, limits := range map[string]IntakeLimits{
		"by number": {MaxAlerts: most},
		"by bytes":  {MaxBytes: most*size + size/2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newFixture(t)
			intake := limitedIntake(h.open("a", nil), func(cfg *IntakeConfig) { cfg.Limits = limits })
			alert := tarsy.Alert{AlertType: "test", Data: strings.Repeat("x", size)}

			tx, err := h.sql.Begin(h.ctx)
			require.NoError(t, err)

			defer func() { _ = tx.Rollback(context.WithoutCancel(h.ctx)) }()

			_, err = tx.Exec(h.ctx, "LOCK TABLE sessions IN SHARE MODE")
			require.NoError(t, err)

			var (
				waiting errgroup.Group
				mu      sync.Mutex
				stored  []string
			)

			for range most {
				waiting.Go(func() error {
					session, err := intake.Submit(h.ctx, alert)

					mu.Lock()
					defer mu.Unlock()

					stored = append(stored, session.ID)

					return err
				})
			}

			h.awaitHeld(intake, most)

			for range refused {
				_, err := intake.Submit(h.ctx, alert)
				require.Equal(t, tarsy.CodeOverloaded, tarsy.CodeOf(err))
				require.EqualError(t, err, "Too many alerts are waiting to be stored. Try again later.")
			}

			_, bytes := intake.admission.held()
			require.Equal(t, most*size, bytes)
			require.NoError(t, tx.Rollback(h.ctx))
			require.NoError(t, waiting.Wait())

			var ids []string

			require.NoError(t, h.sql.QueryRow(h.ctx, `SELECT array_agg(id::text) FROM sessions`).Scan(&ids))
			require.ElementsMatch(t, stored, ids, "what was accepted is stored, what was refused is not")

			alerts, bytes := intake.admission.held()
			require.Zero(t, alerts)
			require.Zero(t, bytes)

			_, err = intake.Submit(h.ctx, alert)
			require.NoError(t, err, "there is room again")
		})
	}
}

func TestFullBacklogIsRefusedBeforeMasking(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.maxWaiting = 1
	masked := 0
	intake := limitedIntake(h.open("a", nil), func(cfg *IntakeConfig) {
		cfg.Mask = func(text string) string {
			masked++

			return text
		}
	})

	_, err := intake.Submit(h.ctx, tarsy.Alert{AlertType: "test", Data: "first"})
	require.NoError(t, err)

	before := masked
	_, err = intake.Submit(h.ctx, tarsy.Alert{AlertType: "test", Data: "second"})
	require.Equal(t, tarsy.CodeOverloaded, tarsy.CodeOf(err), "%v", err)
	require.Equal(t, before, masked)
}

// gatedMask keeps masking until the test opens the gate.
type gatedMask struct {
	entered, gate chan struct{}

	mu           sync.Mutex
	busy, atMost int
}

func (m *gatedMask) mask(text string) string {
	if text == "" {
		return text
	}

	m.mu.Lock()
	m.busy++
	m.atMost = max(m.atMost, m.busy)
	m.mu.Unlock()

	m.entered <- struct{}{}
	<-m.gate

	m.mu.Lock()
	m.busy--
	m.mu.Unlock()

	return text
}

func TestConcurrentMaskingIsLimited(t *testing.T) {
	t.Parallel()

	const maskers, alerts = 2, 10

	h := newFixture(t)
	mask := &gatedMask{entered: make(chan struct{}, alerts), gate: make(chan struct{})}
	intake := limitedIntake(h.open("a", nil), func(cfg *IntakeConfig) {
		cfg.Mask, cfg.Limits = mask.mask, IntakeLimits{Maskers: maskers}
	})

	var group errgroup.Group

	for range alerts {
		group.Go(func() error {
			_, err := intake.Submit(h.ctx, tarsy.Alert{AlertType: "test", Data: "text"})

			return err
		})
	}

	for range maskers {
		<-mask.entered
	}

	h.awaitHeld(intake, alerts)
	close(mask.gate)
	require.NoError(t, group.Wait())
	require.Equal(t, maskers, mask.atMost)
}

func TestWaitForMaskerIsBounded(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	clock := clockwork.NewFakeClock()
	mask := &gatedMask{entered: make(chan struct{}, 1), gate: make(chan struct{})}
	intake := limitedIntake(h.open("a", nil), func(cfg *IntakeConfig) {
		cfg.Mask, cfg.Clock, cfg.Limits = mask.mask, clock, IntakeLimits{Maskers: 1}
	})
	submit := func(ctx context.Context) chan error {
		done := make(chan error, 1)

		go func() {
			_, err := intake.Submit(ctx, tarsy.Alert{AlertType: "test", Data: "text"})
			done <- err
		}()

		return done
	}

	first := submit(h.ctx)
	<-mask.entered

	gone := errors.New("the caller is gone")
	ctx, cancel := context.WithCancelCause(h.ctx)
	abandoned := submit(ctx)

	require.NoError(t, clock.BlockUntilContext(h.ctx, 1))
	cancel(gone)
	require.ErrorIs(t, <-abandoned, gone)

	late := submit(h.ctx)

	require.NoError(t, clock.BlockUntilContext(h.ctx, 1))
	clock.Advance(defaultMaskWait)

	err := <-late
	require.Equal(t, tarsy.CodeOverloaded, tarsy.CodeOf(err))
	require.EqualError(t, err, "The server is busy checking other texts for secrets. Try again later.")

	close(mask.gate)
	require.NoError(t, <-first)

	var stored int

	require.NoError(t, h.sql.QueryRow(h.ctx, `SELECT count(*) FROM sessions`).Scan(&stored))
	require.Equal(t, 1, stored)
}
