package engine

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
)

// Default limits on concurrent work of intake.
const (
	defaultMaxAlerts     = 4096
	defaultMaxAlertBytes = 64 << 20
	defaultMaskWait      = 5 * time.Second
	// minMaskers lets a small text pass while a large one is being masked, even on one CPU.
	minMaskers = 2
)

// IntakeLimits limits the concurrent work of intake; beyond them it returns CodeOverloaded. Zero means the default.
type IntakeLimits struct {
	// MaxAlerts and MaxBytes limit the number of alerts that are held in memory until they are stored, and the size of their texts.
	MaxAlerts int
	MaxBytes  int
	// Maskers is how many texts are masked concurrently, which takes CPU, and MaskWait how long a text waits to be masked.
	Maskers  int
	MaskWait time.Duration
}

// admission keeps intake within its limits. It never waits for the database.
type admission struct {
	limits  IntakeLimits
	clock   clockwork.Clock
	maskers chan struct{}

	mu            sync.Mutex
	alerts, bytes int
}

func newAdmission(limits IntakeLimits, clock clockwork.Clock) *admission {
	limits.MaxAlerts = cmp.Or(limits.MaxAlerts, defaultMaxAlerts)
	limits.MaxBytes = cmp.Or(limits.MaxBytes, defaultMaxAlertBytes)
	limits.Maskers = cmp.Or(limits.Maskers, max(minMaskers, runtime.GOMAXPROCS(0)))
	limits.MaskWait = cmp.Or(limits.MaskWait, defaultMaskWait)

	return &admission{limits: limits, clock: clock, maskers: make(chan struct{}, limits.Maskers)}
}

// enter counts an alert until leave is called, or rejects it immediately.
func (a *admission) enter(bytes int) (leave func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()

	if a.alerts == a.limits.MaxAlerts || a.bytes+bytes > a.limits.MaxBytes {
		return nil, tarsy.Errorf(tarsy.CodeOverloaded, "Too many alerts are waiting to be stored. Try again later.")
	}

	a.alerts++
	a.bytes += bytes

	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()

		a.alerts--
		a.bytes -= bytes
	}, nil
}

// mask calls f once fewer than Maskers others are masking. It gives up when ctx is done, or after MaskWait.
func (a *admission) mask(ctx context.Context, f func()) error {
	select {
	case a.maskers <- struct{}{}:
	default:
		if err := a.waitForMasker(ctx); err != nil {
			return err
		}
	}

	defer func() { <-a.maskers }()

	f()

	return nil
}

func (a *admission) waitForMasker(ctx context.Context) error {
	timer := a.clock.NewTimer(a.limits.MaskWait)
	defer timer.Stop()

	select {
	case a.maskers <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.Chan():
		return tarsy.Errorf(tarsy.CodeOverloaded, "The server is busy checking other texts for secrets. Try again later.")
	}
}
