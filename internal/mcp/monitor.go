package mcp

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/agent"
)

const (
	defaultInterval = 15 * time.Second
	defaultPing     = 5 * time.Second
	// maxStatusBytes is how much of an error a Status keeps.
	maxStatusBytes = 2048
)

var (
	errMonitorStopped = errors.New("the health monitor is stopped")
	errNotWatched     = errors.New("the configuration of the server has changed")
)

// MonitorConfig configures a Monitor. Only Factory is required.
type MonitorConfig struct {
	Factory *Factory
	// Servers are the ids of the servers to watch.
	Servers []string
	// Interval is the time between two checks, 15 s by default; Ping limits one check, 5 s by default. Creating a new session has the
	// limits of the Factory.
	Interval, Ping time.Duration
	Clock          clockwork.Clock
	Logger         *slog.Logger
	// Changed is called with the first result of each server, and each time that it turns healthy or unhealthy. Calls for one server
	// are sequential, calls for several concurrent. It must not call Stop.
	Changed func(server string, status Status)
}

// Status is the result of the last check of a server.
type Status struct {
	Healthy bool
	// Checked is false until the first check has finished.
	Checked bool
	// Error is why the server is unhealthy, masked.
	Error     string
	LastCheck time.Time
	// Tools is how many tools the server listed in its last response.
	Tools int
}

// A Monitor watches MCP servers over its own sessions, which it does not share with executions. Each server has its own goroutine, so
// that one that hangs does not delay the others.
type Monitor struct {
	cfg MonitorConfig

	// running is held by Start, Stop and Reconfigure, so that a concurrent Stop also waits for one in progress.
	running sync.Mutex
	stop    func()

	mu       sync.Mutex
	statuses map[string]Status
	tools    map[string][]agent.Tool

	// watches are the active watches, by server. Changing them requires both running and mu; wake and tick need only mu.
	ctx     context.Context //nolint:containedctx // of the watches, from Start to Stop
	watches map[string]*watch
	group   sync.WaitGroup
}

// NewMonitor creates a Monitor. It watches nothing before Start.
func NewMonitor(cfg MonitorConfig) *Monitor {
	cfg.Interval = orDefault(cfg.Interval, defaultInterval)
	cfg.Ping = orDefault(cfg.Ping, defaultPing)
	if cfg.Clock == nil {
		cfg.Clock = cfg.Factory.clock
	}
	if cfg.Logger == nil {
		cfg.Logger = cfg.Factory.logger
	}
	if cfg.Changed == nil {
		cfg.Changed = func(string, Status) {}
	}
	m := &Monitor{cfg: cfg, statuses: make(map[string]Status), tools: make(map[string][]agent.Tool), watches: make(map[string]*watch)}
	for _, id := range cfg.Servers {
		m.statuses[id] = Status{}
	}

	return m
}

// Start starts watching; the first check does not wait for a tick. It has no effect on a running Monitor, and a stopped one can be
// started again.
func (m *Monitor) Start() {
	m.running.Lock()
	defer m.running.Unlock()
	if m.stop != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	ticker := m.cfg.Clock.NewTicker(m.cfg.Interval)
	m.ctx = ctx
	for id := range m.Statuses() {
		m.begin(id)
	}
	m.group.Go(func() {
		defer ticker.Stop()
		m.tick(ctx, ticker)
	})
	m.stop = func() {
		cancel(errMonitorStopped)
		m.group.Wait()
		m.ctx = nil
		m.mu.Lock()
		defer m.mu.Unlock()
		clear(m.watches)
	}
}

// Reconfigure changes the watched servers and how they are reached. The session of a server that is removed, or is reached in another
// way, is closed; an unchanged server keeps its session and its status.
func (m *Monitor) Reconfigure(factory *Factory, servers []string) {
	m.running.Lock()
	defer m.running.Unlock()
	before := m.cfg.Factory
	m.mu.Lock()
	m.cfg.Factory = factory
	for _, id := range servers {
		if _, watched := m.statuses[id]; watched && !sameServer(before, factory, id) {
			delete(m.statuses, id)
		}
	}
	var gone, begun []string
	for id := range m.statuses {
		if !slices.Contains(servers, id) {
			delete(m.statuses, id)
		}
	}
	for id := range m.watches {
		if _, stays := m.statuses[id]; !stays {
			gone = append(gone, id)
		}
	}
	m.mu.Unlock()

	for _, id := range gone {
		m.end(id)
	}

	m.mu.Lock()
	for id := range m.tools {
		if _, stays := m.statuses[id]; !stays {
			delete(m.tools, id)
		}
	}
	for _, id := range servers {
		if _, watched := m.statuses[id]; !watched {
			m.statuses[id] = Status{}
			begun = append(begun, id)
		}
	}
	m.mu.Unlock()

	if m.ctx == nil {
		return
	}
	for _, id := range begun {
		m.begin(id)
	}
}

// sameServer reports whether two factories reach a server in the same way.
func sameServer(before, after *Factory, id string) bool {
	return reflect.DeepEqual(before.cfg.Servers[id], after.cfg.Servers[id])
}

// begin starts the watch of a server. The caller holds running.
func (m *Monitor) begin(id string) {
	ctx, cancel := context.WithCancelCause(m.ctx)
	w := &watch{
		monitor: m, factory: m.cfg.Factory, id: id, limits: m.cfg.Factory.limitsOf(id),
		wake: make(chan struct{}, 1), stop: cancel, ended: make(chan struct{}),
	}
	m.mu.Lock()
	m.watches[id] = w
	m.mu.Unlock()
	m.group.Go(func() {
		defer close(w.ended)
		defer cancel(nil)
		w.run(ctx)
	})
}

// end stops the watch of a server and waits until its session is closed. The caller holds running.
func (m *Monitor) end(id string) {
	m.mu.Lock()
	w := m.watches[id]
	delete(m.watches, id)
	m.mu.Unlock()
	w.stop(errNotWatched)
	<-w.ended
}

// Stop ends checks in progress, closes the sessions and waits for both. It can be called at any time and more than once. The results of
// the last checks are kept.
func (m *Monitor) Stop() {
	m.running.Lock()
	defer m.running.Unlock()
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
}

// Statuses returns the results of the last checks, for every watched server.
func (m *Monitor) Statuses() map[string]Status {
	m.mu.Lock()
	defer m.mu.Unlock()

	return maps.Clone(m.statuses)
}

// Tools returns the tools that each server listed in its last response.
func (m *Monitor) Tools() map[string][]agent.Tool {
	m.mu.Lock()
	defer m.mu.Unlock()
	result := make(map[string][]agent.Tool, len(m.tools))
	for id, tools := range m.tools {
		result[id] = slices.Clone(tools)
	}

	return result
}

// Healthy reports whether every server was checked and is healthy.
func (m *Monitor) Healthy() bool {
	for _, status := range m.Statuses() {
		if !status.Healthy {
			return false
		}
	}

	return true
}

// tick wakes the watches at every tick. A busy one checks again as soon as it can.
func (m *Monitor) tick(ctx context.Context, ticker clockwork.Ticker) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.Chan():
		}
		m.mu.Lock()
		watches := slices.Collect(maps.Values(m.watches))
		m.mu.Unlock()
		for _, w := range watches {
			select {
			case w.wake <- struct{}{}:
			default:
			}
		}
	}
}

// found records a result and reports a change.
func (m *Monitor) found(w *watch, tools []agent.Tool, err error) {
	id, now := w.id, m.cfg.Clock.Now()
	m.mu.Lock()
	if m.watches[id] != w { // reconfigured in the meantime
		m.mu.Unlock()

		return
	}
	before := m.statuses[id]
	status := Status{Healthy: err == nil, Checked: true, LastCheck: now, Tools: before.Tools}
	if err == nil {
		m.tools[id] = tools
		status.Tools = len(tools)
	} else {
		status.Error = cut(w.factory.received(id, err.Error()), maxStatusBytes)
	}
	m.statuses[id] = status
	m.mu.Unlock()

	if before.Checked && before.Healthy == status.Healthy {
		return
	}
	if status.Healthy {
		m.cfg.Logger.Info("mcp server is healthy", "mcp_server", id, "tools", status.Tools)
	} else {
		m.cfg.Logger.Warn("mcp server is not healthy", "mcp_server", id, "error", status.Error)
	}
	m.cfg.Changed(id, status)
}
