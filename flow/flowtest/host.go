// Package flowtest drives flows end to end without a terminal, a model API or Discord: it runs a program's own configuration
// with virtual parts at its edges and everything real inside. All checks of flow.Build apply.
package flowtest

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/program"
)

// Timeouts bounds how long a host waits. Each limit has a default.
type Timeouts struct {
	// Start is the limit for all daemons to run; 30 s by default.
	Start time.Duration
	// Stop is the limit for all daemons to stop; 10 s by default.
	Stop time.Duration
	// Assertion is the limit for each wait of a test, unless [Within] overrides it; 5 s by default.
	Assertion time.Duration
}

// Option changes how a host is built.
type Option func(*Host)

// WithConsole gives the program a virtual console.
func WithConsole() Option { return func(h *Host) { h.console = newConsole(h) } }

// WithLLM gives the program a virtual model that returns the responses enqueued by the test.
func WithLLM() Option { return func(h *Host) { h.llm = newLLM(h) } }

// WithTimeouts overrides the time limits; zero keeps the default.
func WithTimeouts(limits Timeouts) Option {
	return func(h *Host) {
		h.timeouts = Timeouts{
			Start:     orDefault(limits.Start, h.timeouts.Start),
			Stop:      orDefault(limits.Stop, h.timeouts.Stop),
			Assertion: orDefault(limits.Assertion, h.timeouts.Assertion),
		}
	}
}

func orDefault(value, fallback time.Duration) time.Duration {
	if value == 0 {
		return fallback
	}

	return value
}

// WithWindow replaces the windows of the program.
func WithWindow(window flow.Window) Option {
	return WithEnv(func(env *program.Env) { env.OverrideWindow = window })
}

// WithShatter replaces the shatters of the program.
func WithShatter(shatter flow.Shatter) Option {
	return WithEnv(func(env *program.Env) { env.OverrideShatter = shatter })
}

// WithClock replaces the clock of the program.
func WithClock(clock clockwork.Clock) Option {
	return WithEnv(func(env *program.Env) { env.Clock = clock })
}

// WithEnv changes the environment after the virtual parts are set.
func WithEnv(change func(*program.Env)) Option {
	return func(h *Host) { h.changes = append(h.changes, change) }
}

// Host runs one program in a test. Journals that the program would keep in files are kept in memory.
type Host struct {
	t        testing.TB
	timeouts Timeouts
	changes  []func(*program.Env)
	env      *program.Env
	flow     *flow.Flow

	console *Console
	llm     *LLM
	discord *Discord

	started, stopped bool
}

// New configures a program; an error in its declaration fails the test. The host is stopped when the test ends.
func New(tb testing.TB, configure program.Configure, options ...Option) *Host {
	tb.Helper()

	h := &Host{
		t:        tb,
		timeouts: Timeouts{Start: 30 * time.Second, Stop: 10 * time.Second, Assertion: 5 * time.Second},
		env:      &program.Env{Clock: clockwork.NewRealClock(), Logger: slog.New(slog.DiscardHandler), Model: "virtual"},
	}

	for _, option := range options {
		option(h)
	}

	if h.console != nil {
		h.env.In, h.env.Out, h.env.Err = h.console.in, h.console.out, h.console.err
	}

	if h.llm != nil {
		h.env.LLM = h.llm
	}

	if h.discord != nil {
		h.env.Discord = h.discord.access()
	}

	for _, change := range h.changes {
		change(h.env)
	}

	built, err := configure(h.env)
	if err != nil {
		tb.Fatalf("configure the program: %v", err)
	}

	h.flow = built

	tb.Cleanup(h.Stop)

	return h
}

// Start starts the flow and waits until all of its daemons run.
func (h *Host) Start() *Host {
	h.t.Helper()

	ctx, cancel := timeLimit(h.timeouts.Start)
	defer cancel()

	h.started = true

	err := h.flow.Start(ctx)
	if err != nil {
		h.t.Fatalf("%v", err)
	}

	return h
}

// Stop ends the inputs, stops the flow and fails the test if there were errors in the background. It is called when the test
// ends; a second call does nothing.
func (h *Host) Stop() {
	h.t.Helper()

	if h.stopped {
		return
	}

	h.stopped = true

	if h.console != nil {
		h.console.End()
	}

	if h.discord != nil {
		h.discord.end()
	}

	ctx, cancel := timeLimit(h.timeouts.Stop)
	defer cancel()

	if h.started {
		err := h.flow.Stop(ctx)
		if err != nil {
			h.t.Errorf("the flow ended with errors: %v", err)
		}
	}

	if h.discord != nil {
		h.discord.stop()
	}

	err := h.env.Close()
	if err != nil {
		h.t.Errorf("close the journals: %v", err)
	}

	h.reportUnexpected()
}

// reportUnexpected fails the test for calls that the virtual parts could not answer, even if the program recovered.
func (h *Host) reportUnexpected() {
	h.t.Helper()

	if h.llm != nil {
		for _, call := range h.llm.Unexpected() {
			h.t.Errorf("the model was called but no response was enqueued: %s", call)
		}
	}

	if h.discord != nil {
		for _, request := range h.discord.server.Unexpected() {
			h.t.Errorf("the virtual Discord got an unknown request: %s", request)
		}
	}
}

// now returns the time of the program's clock.
func (h *Host) now() time.Time { return h.env.Clock.Now() }

// Console returns the virtual console.
func (h *Host) Console() *Console {
	h.t.Helper()

	if h.console == nil {
		h.t.Fatalf("the virtual console is not configured: pass flowtest.WithConsole() to flowtest.New")
	}

	return h.console
}

// LLM returns the virtual model.
func (h *Host) LLM() *LLM {
	h.t.Helper()

	if h.llm == nil {
		h.t.Fatalf("the virtual model is not configured: pass flowtest.WithLLM() to flowtest.New")
	}

	return h.llm
}

// Discord returns the virtual Discord.
func (h *Host) Discord() *Discord {
	h.t.Helper()

	if h.discord == nil {
		h.t.Fatalf("the virtual Discord is not configured: pass flowtest.WithDiscord() to flowtest.New")
	}

	return h.discord
}

// Flow returns the flow that the program declared.
func (h *Host) Flow() *flow.Flow { return h.flow }

// Journal returns a reader of the journal of a branch.
func (h *Host) Journal(branch string) journal.Reader[flow.Entry] {
	h.t.Helper()

	var names []string

	for _, b := range h.flow.Branches() {
		if b.Name() == branch {
			return b.Journal()
		}

		names = append(names, b.Name())
	}

	h.t.Fatalf("there is no branch %q; there are: %s", branch, strings.Join(names, ", "))

	return nil
}

// WaitQuiet waits until the program has read all of its console input, has received everything written in Discord, and has
// handled everything that followed from it.
func (h *Host) WaitQuiet(options ...WaitOption) {
	h.t.Helper()

	ctx, cancel := h.assertion(options)
	defer cancel()

	if h.console != nil {
		err := h.console.in.waitRead(ctx)
		if err != nil {
			h.t.Fatalf("%v%s", err, h.problems())
		}
	}

	if h.discord != nil {
		err := h.discord.server.WaitReceived(ctx)
		if err != nil {
			h.t.Fatalf("%v%s", err, h.problems())
		}
	}

	err := h.flow.WaitIdle(ctx)
	if err != nil {
		h.t.Fatalf("the flow is still busy: %v%s", err, h.problems())
	}
}

// problems describes failed daemons, for the message of a failed assertion.
func (h *Host) problems() string {
	err := h.flow.Failures()
	if err == nil {
		return ""
	}

	return "\nfailed: " + err.Error()
}
