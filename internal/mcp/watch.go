package mcp

import (
	"context"
	"fmt"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy/internal/agent"
)

// monitorID replaces the execution's id in headers and in the cleanup.
const monitorID = "tarsy-health"

// A watch is one server that a Monitor watches. Its session belongs to the goroutine of run.
type watch struct {
	monitor *Monitor
	factory *Factory
	id      string
	limits  Limits

	session *session
	// reached is true once a session has been created.
	reached bool

	wake  chan struct{}
	stop  context.CancelCauseFunc
	ended chan struct{}
}

// run checks the server immediately and whenever it is woken, until ctx ends.
func (w *watch) run(ctx context.Context) {
	defer w.end()
	for {
		tools, err := w.check(ctx)
		if ctx.Err() != nil {
			return // interrupted: no information about the server
		}
		w.monitor.found(w, tools, err)
		select {
		case <-w.wake:
		case <-ctx.Done():
			return
		}
	}
}

// check lists the tools. It recreates a session that does not respond, once, before the server counts as failed.
func (w *watch) check(ctx context.Context) ([]agent.Tool, error) {
	if w.session != nil && !w.session.isOver() {
		tools, err := w.ping(ctx)
		if err == nil || ctx.Err() != nil {
			return tools, err
		}
		w.monitor.cfg.Logger.Info("mcp health check opens a new session", "mcp_server", w.id,
			"error", w.factory.received(w.id, w.session.link.explain(err.Error())))
	}
	w.closeSession()
	limit := w.limits.Init
	if w.reached {
		limit = w.limits.Reinit
	}
	var tools []agent.Tool
	fresh, err := w.factory.dial(ctx, w.target(), limit,
		func(ctx context.Context, client *mcpsdk.ClientSession) error {
			list, err := w.factory.readTools(ctx, w.id, client)
			tools = list.tools

			return err
		})
	if err != nil {
		return nil, err
	}
	w.session, w.reached = fresh, true

	return tools, nil
}

// ping uses the existing session.
func (w *watch) ping(ctx context.Context) ([]agent.Tool, error) {
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := w.monitor.cfg.Ping
	timer := w.monitor.cfg.Clock.AfterFunc(limit, func() { cancel(fmt.Errorf("no answer within %s: %w", limit, errTimeLimit)) })
	defer timer.Stop()
	list, err := w.factory.listTools(limited, w.id, w.session.client)
	if err != nil && limited.Err() != nil {
		return nil, context.Cause(limited)
	}

	return list.tools, err
}

func (w *watch) target() target { return target{server: w.id, execution: monitorID} }

func (w *watch) closeSession() {
	if w.session == nil {
		return
	}
	old := w.session
	w.session = nil
	if err := old.close(); err != nil {
		w.monitor.cfg.Logger.Warn("mcp session did not close", "mcp_server", w.id, "error", err)
	}
}

func (w *watch) end() {
	w.closeSession()
	if w.reached {
		w.factory.cleanUp(w.target())
	}
}
