package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"tarsy.dev/tarsy/internal/agent"
)

// toolset implements agent.Tools for one execution. Calls may be concurrent; Close interrupts them.
type toolset struct {
	factory *Factory
	servers []*server
	life    context.Context //nolint:containedctx // ends with Close
	end     context.CancelCauseFunc

	closing  sync.Once
	closeErr error
}

// List implements agent.Tools. The lists were read when the servers were opened. Only List reads those again that may have changed:
// between two calls of List a name refers to the same tool.
func (t *toolset) List(ctx context.Context) ([]agent.Tool, error) {
	if t.life.Err() != nil {
		return nil, errClosed
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(t.life, func() { cancel(errClosed) })()
	var group sync.WaitGroup
	for _, s := range t.servers {
		group.Go(func() { s.refresh(ctx) })
	}
	group.Wait()

	return t.all(), nil
}

func (t *toolset) all() []agent.Tool {
	var tools []agent.Tool
	for _, s := range t.servers {
		kept, _ := s.kept()
		tools = append(tools, kept...)
	}

	return tools
}

// Unavailable implements agent.Tools.
func (t *toolset) Unavailable() map[string]string {
	result := make(map[string]string)
	for _, s := range t.servers {
		if s.failed != nil {
			result[s.id] = t.factory.received(s.id, s.failed.Error())
		}
	}

	return result
}

// Missing implements agent.Tools.
func (t *toolset) Missing() map[string]string {
	result := make(map[string]string)
	for _, s := range t.servers {
		if _, missing := s.kept(); missing != "" {
			result[s.id] = t.factory.received(s.id, missing)
		}
	}

	return result
}

// Call implements agent.Tools.
func (t *toolset) Call(caller context.Context, call agent.Call) (agent.Result, error) {
	ctx, cancel := context.WithCancelCause(caller)
	defer cancel(nil)
	stop := context.AfterFunc(t.life, func() { cancel(errClosed) })
	defer stop()
	if t.life.Err() != nil {
		return agent.Result{}, errClosed
	}
	if caller.Err() != nil {
		return agent.Result{}, contextError("call tool", caller)
	}

	s, tool := t.find(call.Server, call.Tool)
	if s == nil {
		return t.refusal(call.Name, call.Shown), nil
	}
	if call.Once {
		tool.ReadOnly = false
	}
	read := parseArguments(call.Arguments, shapeOf(tool.Schema))
	if read.broken && !tool.ReadOnly {
		// Half of an argument list must not change anything.
		return agent.Result{Server: tool.Server, Tool: tool.Name, Content: usage(tool), IsError: true}, nil
	}

	return s.call(ctx, tool, call.ID, read)
}

// Close implements agent.Tools. It can be called more than once, and while calls are in progress.
func (t *toolset) Close() error {
	t.closing.Do(func() {
		t.end(errClosed)
		errs := make([]error, len(t.servers))
		var group sync.WaitGroup
		for i, s := range t.servers {
			group.Go(func() { errs[i] = s.close() })
		}
		group.Wait()
		t.closeErr = errors.Join(errs...)
	})

	return t.closeErr
}

// contextError returns an error for the end of ctx from which both its error and its cause can be recognised.
func contextError(doing string, ctx context.Context) error { //nolint:revive // what was being done reads first
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) {
		return fmt.Errorf("%s: %w: %w", doing, ctx.Err(), cause)
	}

	return fmt.Errorf("%s: %w", doing, ctx.Err())
}
