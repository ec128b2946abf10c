package flow

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"tarsy.dev/tarsy/flow/journal"
)

// Run is the work of a daemon. It calls ready once it is operational, and returns when its context ends or there is nothing
// more to do.
type Run func(ctx context.Context, ready func()) error

// Status is the lifecycle state of a daemon.
type Status string

// The statuses of a daemon. The last three are final.
const (
	StatusNew       Status = "new"
	StatusStarting  Status = "starting"
	StatusRunning   Status = "running"
	StatusCompleted Status = "completed" // its work returned on its own
	StatusStopped   Status = "stopped"   // its work ended because it was stopped
	StatusFailed    Status = "failed"
)

func (s Status) final() bool { return s == StatusCompleted || s == StatusStopped || s == StatusFailed }

// StatusChange is the entry that a daemon writes on each status change.
type StatusChange struct {
	Daemon string `json:"daemon"`
	Status Status `json:"status"`
	// Error is the error of a failed daemon.
	Error string `json:"error,omitempty"`
}

// Daemon is background work that runs from Start until it completes or Stop is called. It is safe for concurrent use.
type Daemon struct {
	name     string
	run      Run
	statuses journal.Journal[StatusChange]

	ended chan struct{} // closed after the final status was written

	mu      sync.Mutex
	status  Status
	reached map[Status]bool
	err     error
	cancel  context.CancelCauseFunc // nil before Start
	changed chan struct{}           // closed on the next status change
}

// NewDaemon returns a daemon that writes its status changes to a journal.
func NewDaemon(name string, statuses journal.Journal[StatusChange], run Run) *Daemon {
	return &Daemon{
		name: name, run: run, statuses: statuses,
		ended: make(chan struct{}), status: StatusNew, reached: map[Status]bool{StatusNew: true}, changed: make(chan struct{}),
	}
}

// Name returns the name of the daemon as used in statuses and errors.
func (d *Daemon) Name() string { return d.name }

// Status returns the current status.
func (d *Daemon) Status() Status {
	d.mu.Lock()
	defer d.mu.Unlock()

	return d.status
}

// Err returns the error of a failed daemon, and nil otherwise.
func (d *Daemon) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()

	if d.err == nil {
		return nil
	}

	return fmt.Errorf("%s: %w", d.name, d.err)
}

// errStopped is the cancellation cause of a stopped daemon's context.
var errStopped = errors.New("the daemon was stopped")

// Start starts the work. The work's context keeps the values of ctx but not its cancellation; Stop cancels it. A daemon starts
// at most once, and not after Stop.
func (d *Daemon) Start(ctx context.Context) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))

	d.mu.Lock()
	start := d.status == StatusNew
	if start {
		d.status, d.cancel = StatusStarting, cancel
	}
	d.mu.Unlock()

	if !start {
		cancel(nil)

		return
	}

	d.change(StatusStarting, nil)

	go func() {
		defer cancel(nil)
		defer close(d.ended)

		err := d.work(ctx)

		switch {
		case context.Cause(ctx) != nil && (err == nil || isCancellation(err)):
			d.change(StatusStopped, nil)
		case err != nil:
			d.change(StatusFailed, err)
		default:
			d.change(StatusCompleted, nil)
		}
	}()
}

func isCancellation(err error) bool {
	return errors.Is(err, errStopped) || errors.Is(err, context.Canceled)
}

// work runs the daemon and turns a panic into an error.
func (d *Daemon) work(ctx context.Context) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			err = fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
		}
	}()

	return d.run(ctx, sync.OnceFunc(func() { d.change(StatusRunning, nil) }))
}

// change sets the status and writes it to the journal. If the write fails, so does the daemon.
func (d *Daemon) change(status Status, failure error) {
	entry := StatusChange{Daemon: d.name, Status: status}
	if failure != nil {
		entry.Error = failure.Error()
	}

	_, err := d.statuses.Append(context.Background(), entry)

	d.mu.Lock()
	defer d.mu.Unlock()

	d.status = status
	d.reached[status] = true
	d.err = errors.Join(d.err, failure, err)

	close(d.changed)
	d.changed = make(chan struct{})
}

// Stop cancels the work and waits until it has ended, or until ctx ends; the error then names the daemon. It can be called at
// any time and more than once.
func (d *Daemon) Stop(ctx context.Context) error {
	d.mu.Lock()
	cancel := d.cancel
	unstarted := d.status == StatusNew
	if unstarted {
		d.status = StatusStopped
	}
	d.mu.Unlock()

	if unstarted {
		d.change(StatusStopped, nil)
	}

	if cancel == nil {
		return nil
	}

	cancel(errStopped)

	select {
	case <-d.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s did not stop: %w", d.name, context.Cause(ctx))
	}
}

// WaitFor waits until the daemon has reached a status, even if it has left that status since. It returns an error as soon as
// the status can no longer be reached.
func (d *Daemon) WaitFor(ctx context.Context, status Status) error {
	for {
		d.mu.Lock()
		present, reached, changed, failure := d.status, d.reached[status], d.changed, d.err
		d.mu.Unlock()

		switch {
		case reached:
			return nil
		case present.final() && failure != nil:
			return fmt.Errorf("%s failed: %w", d.name, failure)
		case present.final():
			return fmt.Errorf("%s is %s and will not be %s", d.name, present, status)
		}

		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%s is %s, not %s: %w", d.name, present, status, context.Cause(ctx))
		}
	}
}
