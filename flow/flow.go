package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/flow/journal"
)

// stopTimeout bounds how long Run waits for daemons to stop.
const stopTimeout = 10 * time.Second

// Flow is a validated declaration. It can be started once.
type Flow struct {
	branches []*Branch
	rules    []Rule
	statuses journal.Journal[StatusChange]
	ledger   *ledger
	pumps    []*pump
	inputs   []*Daemon
	daemons  []*Daemon // in start order
}

func newFlow(branches []*Branch, rules []Rule) *Flow {
	f := &Flow{
		branches: branches, rules: rules,
		statuses: journal.NewMemory[StatusChange](clockwork.NewRealClock()),
	}

	for _, branch := range branches {
		for _, port := range branch.ports {
			if port.direction == consumed {
				f.pumps = append(f.pumps, portPump(port))
			}
		}
	}

	for _, branch := range branches {
		if pump := routesPump(branch, rules); pump != nil {
			f.pumps = append(f.pumps, pump)
		}
	}

	f.ledger = newLedger(f.pumps)

	// Consumers start before inputs, so that nothing has to wait for them, and stop after them.
	for _, pump := range f.pumps {
		pump.ledger = f.ledger
		f.daemons = append(f.daemons, NewDaemon(pump.name, f.statuses, pump.run))
	}

	for _, branch := range branches {
		branch.ledger = f.ledger

		for _, input := range branch.inputs {
			f.inputs = append(f.inputs, NewDaemon(input.name, f.statuses, input.run))
		}
	}

	f.daemons = append(f.daemons, f.inputs...)

	return f
}

// Daemons returns all daemons of the flow, in start order.
func (f *Flow) Daemons() []*Daemon { return slices.Clone(f.daemons) }

// Statuses returns the journal of the daemons' status changes.
func (f *Flow) Statuses() journal.Reader[StatusChange] { return f.statuses }

// Branches returns the branches of the flow, in declaration order.
func (f *Flow) Branches() []*Branch { return slices.Clone(f.branches) }

// Start starts all daemons and waits until they are running. Entries already in the journals are not handled. If the context
// ends first, or a daemon fails, the error lists the daemons that are not running and their statuses; the flow must be stopped
// in any case.
func (f *Flow) Start(ctx context.Context) error {
	for _, pump := range f.pumps {
		head, err := pump.branch.journal.Head(ctx)
		if err != nil {
			return fmt.Errorf("read the journal of %s: %w", pump.branch.name, err)
		}

		pump.after = head
		f.ledger.pass(pump, head)
	}

	for _, daemon := range f.daemons {
		daemon.Start(ctx)
	}

	for _, daemon := range f.daemons {
		err := daemon.WaitFor(ctx, StatusRunning)
		if err != nil {
			return fmt.Errorf("the flow did not start: %w\nnot running: %s", err, f.notRunning())
		}
	}

	return nil
}

func (f *Flow) notRunning() string {
	var states []string

	for _, daemon := range f.daemons {
		if status := daemon.Status(); status != StatusRunning {
			states = append(states, fmt.Sprintf("%s (%s)", daemon.Name(), status))
		}
	}

	return strings.Join(states, ", ")
}

// Stop stops the daemons in reverse start order and waits for each, but no longer than ctx. The error names the daemons that
// did not stop and includes the failures of all.
func (f *Flow) Stop(ctx context.Context) error {
	var errs []error

	for _, daemon := range slices.Backward(f.daemons) {
		errs = append(errs, daemon.Stop(ctx))
	}

	return errors.Join(append(errs, f.Failures())...)
}

// Failures joins the failures of all daemons; nil if none failed.
func (f *Flow) Failures() error {
	var errs []error
	for _, daemon := range f.daemons {
		errs = append(errs, daemon.Err())
	}

	return errors.Join(errs...)
}

// WaitIdle waits until every entry produced so far, and everything that followed from it, has been handled. It returns early
// with the error if a daemon fails.
func (f *Flow) WaitIdle(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	go func() { // ends with the context above
		err := f.waitFailure(ctx)
		if err != nil {
			cancel(err)
		}
	}()

	return f.ledger.waitIdle(ctx)
}

// waitFailure returns an error as soon as a daemon fails, and nil when the context ends.
func (f *Flow) waitFailure(ctx context.Context) error {
	for record, err := range f.statuses.Tail(ctx, 0) {
		if err != nil {
			return nil // the context ended
		}

		if record.Entry.Status == StatusFailed {
			return fmt.Errorf("%s failed: %s", record.Entry.Daemon, record.Entry.Error)
		}
	}

	return nil
}

// waitInputs returns nil when every input has completed.
func (f *Flow) waitInputs(ctx context.Context) error {
	if len(f.inputs) == 0 {
		<-ctx.Done()

		return context.Cause(ctx)
	}

	for _, input := range f.inputs {
		err := input.WaitFor(ctx, StatusCompleted)
		if err != nil {
			return err
		}
	}

	return nil
}

// Run starts the flow and stops it when the context ends, a daemon fails, or all inputs have completed and their entries are
// handled. The end of the context is not an error.
func (f *Flow) Run(ctx context.Context) error {
	work, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	err := f.Start(work)
	if err == nil {
		go func() { // ends with the context above
			failure := f.waitFailure(work)
			if failure != nil {
				cancel(failure)
			}
		}()

		if f.waitInputs(work) == nil {
			_ = f.ledger.waitIdle(work) // a failure is reported by Stop
		}
	}

	stopping, done := context.WithTimeoutCause(context.WithoutCancel(ctx), stopTimeout,
		fmt.Errorf("no answer within %s", stopTimeout))
	defer done()

	stopErr := f.Stop(stopping)
	if err != nil && ctx.Err() == nil {
		return errors.Join(err, stopErr)
	}

	return stopErr
}
