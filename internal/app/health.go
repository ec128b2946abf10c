package app

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/mcp"
)

// health watches the MCP servers that chains use, and turns their state into warnings and readiness.
type health struct {
	monitor *mcp.Monitor

	mu sync.Mutex
	// waited maps the servers that a strict start still waits for to their state. A server that has answered once is not waited for again:
	// a later failure is a warning, and no reason to take this server out of service.
	waited map[string]string
	// complete ends the step of the start that waits for the servers; nil if there is none.
	complete func()
}

// begin starts the step that waits for MCP servers, if the start is strict.
func (h *health) begin(step func(string) func()) {
	h.mu.Lock()
	defer h.mu.Unlock()

	if len(h.waited) > 0 {
		h.complete = step("waiting for MCP servers to answer: " + strings.Join(slices.Sorted(maps.Keys(h.waited)), ", "))
	}
}

// end stops waiting because the server stops.
func (h *health) end() {
	h.mu.Lock()
	defer h.mu.Unlock()

	if h.complete != nil {
		h.complete()
		h.complete = nil
	}
}

// watchMCP creates the monitor. Start starts it.
func (a *App) watchMCP() {
	s := a.current()
	used := s.chains.MCPServers()
	a.health.waited = map[string]string{}

	if a.options.Config.System.MCPStartup == config.MCPStartupStrict {
		for _, id := range used {
			a.health.waited[id] = "is being checked"
		}
	}

	a.health.monitor = mcp.NewMonitor(mcp.MonitorConfig{
		Factory: s.tools, Servers: used, Clock: a.clock, Logger: a.logger, Changed: a.mcpChanged,
	})
}

func (a *App) mcpChanged(id string, status mcp.Status) {
	if status.Healthy {
		a.warnings.clear(categoryMCP, id)
	} else {
		a.warnings.set(categoryMCP, id, "MCP server "+id+" cannot be reached: "+status.Error, "", status.LastCheck)
	}

	if a.health.found(id, status.Healthy) {
		a.engine.Wake()
	}
}

// forget stops waiting for servers that the configuration no longer uses. It reports whether this completed a strict start.
func (h *health) forget(used []string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()

	waited := len(h.waited)
	maps.DeleteFunc(h.waited, func(id, _ string) bool { return !slices.Contains(used, id) })

	if waited == 0 || len(h.waited) > 0 {
		return false
	}

	if h.complete != nil {
		h.complete()
		h.complete = nil
	}

	return true
}

// found records the result of a check. It reports whether this completed a strict start.
func (h *health) found(id string, healthy bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()

	_, waited := h.waited[id]

	switch {
	case waited && healthy:
		delete(h.waited, id)

		if len(h.waited) == 0 && h.complete != nil {
			h.complete()
			h.complete = nil
		}

		return len(h.waited) == 0
	case waited:
		h.waited[id] = "cannot be reached"
	}

	return false
}

// started reports whether a strict start no longer waits for MCP servers.
func (h *health) started() bool {
	h.mu.Lock()
	defer h.mu.Unlock()

	return len(h.waited) == 0
}

// readiness returns nil if the server can receive work.
func (a *App) readiness() error {
	if !a.ready.Load() {
		return tarsy.Errorf(tarsy.CodeShuttingDown, "The server is starting or stopping.")
	}

	if err := a.dbWatch.readiness(); err != nil {
		return err
	}

	a.health.mu.Lock()
	defer a.health.mu.Unlock()

	if len(a.health.waited) == 0 {
		return nil
	}

	var missing []string
	for _, id := range slices.Sorted(maps.Keys(a.health.waited)) {
		missing = append(missing, id+" "+a.health.waited[id])
	}

	return tarsy.Errorf(tarsy.CodeUnavailable, "the server becomes ready when every MCP server has responded once: %s", strings.Join(missing, ", "))
}

// mcpStatuses returns the monitor's state for people.
func (a *App) mcpStatuses() []api.MCPServerStatus {
	statuses := a.health.monitor.Statuses()
	all := make([]api.MCPServerStatus, 0, len(statuses))

	for _, id := range slices.Sorted(maps.Keys(statuses)) {
		s := statuses[id]
		shown := api.MCPServerStatus{ID: id, Healthy: s.Healthy, Checked: s.Checked, Error: s.Error, ToolCount: s.Tools}

		if s.Checked {
			at := calendar.Time(s.LastCheck)
			shown.LastCheck = &at
		}

		all = append(all, shown)
	}

	return all
}
