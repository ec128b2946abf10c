package app

import (
	"context"
	"slices"
	"strings"
	"sync"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/config"
)

// warnings are what an operator should know. They are not kept over a restart. One category and server has one.
type warnings struct {
	mu  sync.Mutex
	all []api.Warning
}

func (w *warnings) set(warning api.Warning) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.all = slices.DeleteFunc(w.all, func(o api.Warning) bool {
		return o.Category == warning.Category && o.ServerID == warning.ServerID && o.Message == warning.Message
	})
	w.all = append(w.all, warning)
}

func (w *warnings) list() []api.Warning {
	w.mu.Lock()
	defer w.mu.Unlock()

	return slices.Clone(w.all)
}

// readiness tells whether the server may be sent work.
func (a *App) readiness() error {
	if !a.ready.Load() {
		return tarsy.Errorf(tarsy.CodeShuttingDown, "the server is starting or stopping")
	}

	if a.options.Config.System.MCPStartup != config.MCPStartupStrict {
		return nil
	}

	if failed := a.warnings.servers(categoryMCP); len(failed) > 0 {
		return tarsy.Errorf(tarsy.CodeUnavailable, "these MCP servers failed their check at start: %s", strings.Join(failed, ", "))
	}

	return nil
}

const (
	categoryMCP    = "mcp_health"
	categoryConfig = "configuration"
)

func (w *warnings) servers(category string) []string {
	var ids []string

	for _, o := range w.list() {
		if o.Category == category {
			ids = append(ids, o.ServerID)
		}
	}

	return ids
}

// checkMCP tries all MCP servers that chains use, beside everything else. Strict installations stay unready while
// the check runs.
func (a *App) checkMCP() {
	for _, w := range a.options.Config.Warnings {
		a.warnings.set(api.Warning{ID: tarsy.NewID(), Category: categoryConfig, Message: w.String(), CreatedAt: a.clock.Now().UTC()})
	}

	used := a.options.Config.UsedMCPServers()
	if len(used) == 0 {
		return
	}

	if a.options.Config.System.MCPStartup == config.MCPStartupStrict {
		for _, id := range used {
			a.warnings.set(a.mcpWarning(id, "is being checked"))
		}
	}

	ctx, cancel := context.WithCancel(context.Background())
	a.onStop("the check of MCP servers", func(context.Context) error { cancel(); return nil }) //nolint:nlreturn // one thought

	a.checking.Go(func() {
		defer cancel()

		for id, err := range a.factory.Check(ctx, used) {
			a.warnings.clear(categoryMCP, id)

			if err != nil && ctx.Err() == nil {
				a.warnings.set(a.mcpWarning(id, "cannot be reached: "+err.Error()))
				a.logger.Warn("an MCP server cannot be reached", "mcp_server", id, "error", err)
			}
		}
	})
}

func (a *App) mcpWarning(id, what string) api.Warning {
	return api.Warning{
		ID: tarsy.NewID(), Category: categoryMCP, ServerID: id, Message: "MCP server " + id + " " + what, CreatedAt: a.clock.Now().UTC(),
	}
}

func (w *warnings) clear(category, serverID string) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.all = slices.DeleteFunc(w.all, func(o api.Warning) bool { return o.Category == category && o.ServerID == serverID })
}
