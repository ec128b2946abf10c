package mcp

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
)

// A Factory opens the tools of executions. It holds no sessions itself and is safe for concurrent use.
type Factory struct {
	cfg    Config
	limits Limits
	clock  clockwork.Clock
	logger *slog.Logger
}

// New creates a Factory. It does not connect.
func New(cfg Config) *Factory {
	f := &Factory{cfg: cfg, limits: cfg.Limits.withDefaults(), clock: cfg.Clock, logger: cfg.Logger}
	if f.clock == nil {
		f.clock = clockwork.NewRealClock()
	}
	if f.logger == nil {
		f.logger = slog.New(slog.DiscardHandler)
	}
	return f
}

// Open connects to the selected servers concurrently, and returns those of their tools that the rules allow, for the execution with
// this id. Unavailable reports servers that cannot be reached; only the end of ctx is an error.
func (f *Factory) Open(
	ctx context.Context, id string, selections []tarsy.MCPServerSelection, rules []agent.ToolRule,
) (agent.Tools, error) {
	tools, err := f.open(ctx, id, selections, rules)
	if err != nil {
		return nil, err
	}

	return tools, nil
}

// limitsOf returns the limits for a server.
func (f *Factory) limitsOf(serverID string) Limits {
	return f.limits.forServer(f.cfg.Servers[serverID].Transport.Timeout)
}

func (f *Factory) open(
	ctx context.Context, id string, selections []tarsy.MCPServerSelection, rules []agent.ToolRule,
) (*toolset, error) {
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	t := &toolset{factory: f, life: life, end: end}
	for _, selection := range merged(selections) {
		t.servers = append(t.servers, newServer(f, id, selection, rules))
	}

	var group sync.WaitGroup
	for _, s := range t.servers {
		group.Go(func() { s.start(ctx) })
	}
	group.Wait()

	if ctx.Err() != nil {
		return nil, errors.Join(contextError("open tools", ctx), t.Close())
	}

	return t, nil
}

// merged merges selections of the same server. Selecting all tools overrides a list.
func merged(selections []tarsy.MCPServerSelection) []tarsy.MCPServerSelection {
	var result []tarsy.MCPServerSelection
	for _, next := range selections {
		i := slices.IndexFunc(result, func(s tarsy.MCPServerSelection) bool { return s.Name == next.Name })
		switch {
		case i < 0:
			result = append(result, next)
		case len(next.Tools) == 0 || len(result[i].Tools) == 0:
			result[i].Tools = nil
		default:
			result[i].Tools = slices.Concat(result[i].Tools, next.Tools)
		}
	}

	return result
}
