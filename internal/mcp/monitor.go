package mcp

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/agent"
)

const (
	defaultInterval = 15 * time.Second
	defaultPing     = 5 * time.Second
	// maxStatusBytes is how much of an error a status keeps.
	maxStatusBytes = 2048
)

var errMonitorStopped = errors.New("the health monitor is stopped")

// MonitorConfig is what a Monitor needs. Only Factory is required.
type MonitorConfig struct {
	Factory *Factory
	// Servers are the ids of the servers to watch.
	Servers []string
	// Interval is the time between two checks, 15 s unless set; Ping bounds one, 5 s unless set. Making a new session
	// has the limits of the Factory.
	Interval, Ping time.Duration
	Clock          clockwork.Clock
	Logger         *slog.Logger
	// Changed is told the first result of each server, and each time that it turns healthy or unhealthy. Calls for one
	// server come one after the other, calls for several at once. It must not call Stop.
	Changed func(server string, status Status)
}

// Status is what the last check of a server found.
type Status struct {
	Healthy bool
	// Checked is false before the first check has ended.
	Checked bool
	// Error is why the server is not healthy, masked.
	Error     string
	LastCheck time.Time
	// Tools is how many tools the server offered when it last answered.
	Tools int
}

// A Monitor watches MCP servers over sessions of its own, which no execution shares. Each server has its goroutine, so that
// one that hangs delays no other.
type Monitor struct {
	cfg MonitorConfig

	// running is held by Start and Stop, so that whoever stops also waits for a stop that is under way.
	running sync.Mutex
	stop    func()

	mu       sync.Mutex
	statuses map[string]Status
	tools    map[string][]agent.Tool
}

// NewMonitor makes a Monitor. It watches nothing before Start.
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
	m := &Monitor{cfg: cfg, statuses: make(map[string]Status), tools: make(map[string][]agent.Tool)}
	for _, id := range cfg.Servers {
		m.statuses[id] = Status{}
	}

	return m
}

// Start begins to watch; the first check does not wait for a tick. A Monitor that runs is left as it is, one that was stopped
// may be started again.
func (m *Monitor) Start() {
	m.running.Lock()
	defer m.running.Unlock()
	if m.stop != nil {
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	ticker := m.cfg.Clock.NewTicker(m.cfg.Interval)
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer ticker.Stop()
		m.run(ctx, ticker)
	}()
	m.stop = func() {
		cancel(errMonitorStopped)
		<-done
	}
}

// Stop ends checks that are under way, closes the sessions and waits for all of it. It may be called at any time and more
// than once. What the last checks found stays.
func (m *Monitor) Stop() {
	m.running.Lock()
	defer m.running.Unlock()
	if m.stop != nil {
		m.stop()
		m.stop = nil
	}
}

// Statuses is what the last checks found, for every server that is watched.
func (m *Monitor) Statuses() map[string]Status {
	m.mu.Lock()
	defer m.mu.Unlock()

	return maps.Clone(m.statuses)
}

// Tools are the tools that each server offered when it last answered.
func (m *Monitor) Tools() map[string][]agent.Tool {
	m.mu.Lock()
	defer m.mu.Unlock()
	result := make(map[string][]agent.Tool, len(m.tools))
	for id, tools := range m.tools {
		result[id] = slices.Clone(tools)
	}

	return result
}

// Healthy reports whether every server was checked and answered.
func (m *Monitor) Healthy() bool {
	for _, status := range m.Statuses() {
		if !status.Healthy {
			return false
		}
	}

	return true
}

// run wakes the watches with every tick. One that is still busy checks again as soon as it can.
func (m *Monitor) run(ctx context.Context, ticker clockwork.Ticker) {
	var group sync.WaitGroup
	defer group.Wait()
	var wakes []chan struct{}
	for id := range m.Statuses() {
		w := &watch{monitor: m, id: id, limits: m.cfg.Factory.limitsOf(id)}
		wake := make(chan struct{}, 1)
		wakes = append(wakes, wake)
		group.Go(func() { w.run(ctx, wake) })
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.Chan():
		}
		for _, wake := range wakes {
			select {
			case wake <- struct{}{}:
			default:
			}
		}
	}
}

// found records a result and tells it if it is news.
func (m *Monitor) found(id string, tools []agent.Tool, err error) {
	now := m.cfg.Clock.Now()
	m.mu.Lock()
	before := m.statuses[id]
	status := Status{Healthy: err == nil, Checked: true, LastCheck: now, Tools: before.Tools}
	if err == nil {
		m.tools[id] = tools
		status.Tools = len(tools)
	} else {
		status.Error = cut(m.cfg.Factory.received(id, err.Error()), maxStatusBytes)
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
