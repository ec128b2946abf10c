package mcp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/telemetry"
)

// CallIDKey is the key in `_meta` for a call's id.
const CallIDKey = "tarsy.dev/call-id"

// server is one MCP server as one execution uses it.
type server struct {
	factory *Factory
	id      string
	// execution is the id of the execution that owns the sessions.
	execution string
	// selected are the names of the tools that the alert selected; none means all.
	selected []string
	rules    []agent.ToolRule
	limits   Limits

	// failed is set by start, then only read.
	failed error

	// mu guards tools and missing, which describes the tools that the execution should have but does not. start sets them, and refresh
	// replaces them.
	mu      sync.Mutex
	tools   []agent.Tool
	missing string

	// called is true if a call was made since the tool list was read.
	called atomic.Bool

	// turn is the lock of session and closed: a channel, so that waiting for it ends with a context.
	turn    chan struct{}
	session *session
	closed  bool
}

func newServer(f *Factory, execution string, selection tarsy.MCPServerSelection, rules []agent.ToolRule) *server {
	return &server{
		factory:   f,
		id:        selection.Name,
		execution: execution,
		selected:  selection.Tools,
		rules:     rules,
		limits:    f.limitsOf(selection.Name),
		turn:      make(chan struct{}, 1),
	}
}

func (s *server) target() target { return target{server: s.id, execution: s.execution} }

// start connects and reads the tool list. An error is stored in failed. The model sees only the tools that it keeps, and calls are
// routed only to these.
func (s *server) start(ctx context.Context) {
	s.session, s.failed = s.factory.dial(ctx, s.target(), s.limits.Init,
		func(ctx context.Context, client *mcpsdk.ClientSession) error {
			list, err := s.factory.readTools(ctx, s.id, client)
			if err == nil {
				s.keep(list)
			}

			return err
		})
	if s.failed != nil {
		s.set(nil, "")
	}
}

// keep stores the tools of a server's list that this execution can use, and what it lacks.
func (s *server) keep(list toolList) {
	listed, missing := len(list.tools)+list.withheld, ""
	tools := allowed(list.tools, s.rules...)
	if listed > 0 && len(tools) == 0 {
		missing = fmt.Sprintf("the configuration allows none of its %d tools", listed)
	}
	if len(s.selected) == 0 {
		s.set(tools, missing)

		return
	}
	lost := slices.DeleteFunc(slices.Clone(s.selected), func(name string) bool {
		return slices.ContainsFunc(tools, func(t agent.Tool) bool { return t.Name == name })
	})
	for i, name := range lost {
		if !toolName.MatchString(name) {
			lost[i] = "(invalid name)" // the alert's text goes to the model
		}
	}
	if len(lost) > 0 {
		missing = "the alert selected tools that are not available: " + short(strings.Join(lost, ", "))
	}
	s.set(slices.DeleteFunc(tools, func(t agent.Tool) bool { return !slices.Contains(s.selected, t.Name) }), missing)
}

func (s *server) set(tools []agent.Tool, missing string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tools, s.missing = tools, missing
}

// kept returns the tools, which are never modified, and what is missing.
func (s *server) kept() (tools []agent.Tool, missing string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.tools, s.missing
}

// current returns a session that is neither closed, as far as known, nor broken. If there is none it creates one; concurrent callers
// wait and share it.
func (s *server) current(ctx context.Context, broken *session) (*session, error) {
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.turn }()

	if s.closed {
		return nil, errClosed
	}
	old := s.session
	if old != nil && old != broken && !old.isOver() {
		return old, nil
	}
	if old != nil {
		s.session = nil
		if err := old.close(); err != nil {
			s.factory.logger.WarnContext(ctx, "broken mcp session did not close", "mcp_server", s.id, "error", err)
		}
	}
	// A server that was reachable before may be restarting. Do not wait for one that was already unreachable, or every call to it would
	// take that long.
	fresh, err := s.recreate(ctx, old != nil)
	if err != nil {
		return nil, err
	}
	s.session = fresh
	// Another server may run there now, and the announcements of the old session are lost.
	fresh.changed.Store(fresh.announces())
	s.factory.logger.InfoContext(ctx, "mcp session recreated", "mcp_server", s.id)

	return fresh, nil
}

// redialPause is the time between two attempts to reach a server that may be restarting.
const redialPause = 250 * time.Millisecond

// recreate creates a session within the limit. If wait is true it retries while connections are refused.
func (s *server) recreate(ctx context.Context, wait bool) (*session, error) {
	if err := s.sleep(ctx, s.backoff()); err != nil {
		return nil, err
	}
	deadline := s.factory.clock.Now().Add(s.limits.Reinit)
	for {
		fresh, err := s.factory.dial(ctx, s.target(), deadline.Sub(s.factory.clock.Now()), nil)
		if err == nil || !wait || !refusedConnection(err) || deadline.Sub(s.factory.clock.Now()) <= redialPause {
			return fresh, err
		}
		if err := s.sleep(ctx, redialPause); err != nil {
			return nil, err
		}
	}
}

// backoff returns a random pause, so that the many executions that lost one server do not reconnect simultaneously.
func (s *server) backoff() time.Duration {
	wait := s.limits.BackoffMin
	if spread := s.limits.BackoffMax - s.limits.BackoffMin; spread > 0 {
		wait += rand.N(spread) //nolint:gosec // no secret
	}

	return wait
}

func (s *server) sleep(ctx context.Context, wait time.Duration) error {
	if wait <= 0 {
		return nil
	}
	timer := s.factory.clock.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.Chan():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// call makes the call within its time limit: once, or a second time on a new session if the first attempt had no effect.
func (s *server) call(ctx context.Context, tool agent.Tool, callID string, read arguments) (agent.Result, error) {
	limited, cancel := context.WithCancelCause(telemetry.WithRow(ctx, callID))
	defer cancel(nil)
	timer := s.factory.clock.AfterFunc(s.limits.Call, func() { cancel(errTimeLimit) })
	defer timer.Stop()

	result := agent.Result{Server: s.id, Tool: tool.Name}
	var broken *session
	for retried := false; ; retried = true {
		current, err := s.current(limited, broken)
		if err != nil {
			return s.failure(ctx, limited, result, tool, failure{kind: unreachable, again: result.Attempts > 0, err: err})
		}
		s.called.Store(true)
		p := &probe{}
		p.sent.Store(!current.link.probed)
		answer, err := current.client.CallTool(withProbe(limited, p), &mcpsdk.CallToolParams{
			Meta:      callMeta(limited, callID),
			Name:      tool.Name,
			Arguments: read.object,
		})
		if p.mayHaveActed() {
			result.Attempts++
		}
		if err == nil {
			if whole := cutFrom(answer); whole > 0 {
				result.Content = s.factory.receivedPart(s.id, textOf(answer), whole)
			} else {
				result.Content = s.factory.received(s.id, textOf(answer))
			}
			result.IsError = answer.IsError

			return explained(result, tool, read), nil
		}
		broke := failure{kind: classify(err, p), acted: p.mayHaveActed(), err: err, explain: current.link.explain}
		if limited.Err() == nil && !retried && broke.mayRepeat(tool) {
			broken = current
			s.factory.logger.InfoContext(ctx, "retrying the mcp call on a new session", "mcp_server", s.id, "tool", tool.Name)

			continue
		}

		result, err = s.failure(ctx, limited, result, tool, broke)
		if err == nil && broke.kind == answered {
			result = explained(result, tool, read)
		}

		return result, err
	}
}

// progressTokenKey is the key in `_meta` that requests progress reports for a call. Some servers, and proxies in front of them, keep a
// connection open only if something is sent on it.
const progressTokenKey = "progressToken"

// callMeta identifies the call and its trace to the server.
func callMeta(ctx context.Context, callID string) mcpsdk.Meta {
	meta := mcpsdk.Meta{CallIDKey: callID, progressTokenKey: callID}
	if parent := telemetry.TraceparentOf(ctx); parent != "" {
		meta[telemetry.Traceparent] = parent
	}

	return meta
}

// explained adds to the error of a tool how its arguments were parsed, if that may be the cause.
func explained(result agent.Result, tool agent.Tool, read arguments) agent.Result {
	if result.IsError && read.guessed {
		result.Content += reading(tool, read.object)
	}

	return result
}

// failure converts an error into a result for the model. Only the end of the caller's own context is an error.
func (s *server) failure(
	ctx, limited context.Context, result agent.Result, tool agent.Tool, broke failure,
) (agent.Result, error) {
	if ctx.Err() != nil {
		return agent.Result{}, contextError("call "+tool.WireName(), ctx)
	}
	if errors.Is(context.Cause(limited), errTimeLimit) {
		broke.kind = timedOut
	}
	result.IsError = true
	result.Unknown = broke.outcomeUnknown(tool)
	result.Content = s.factory.received(s.id, broke.text(tool, s.limits.Call, result.Unknown))

	return result, nil
}

// close ends the session. No new one is created afterwards.
func (s *server) close() error {
	// A holder of the turn works under a context that the toolset has ended.
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.closed = true
	if s.failed == nil {
		defer s.factory.cleanUp(s.target())
	}
	if s.session == nil {
		return nil
	}
	old := s.session
	s.session = nil
	if err := old.close(); err != nil {
		return fmt.Errorf("close mcp server %s: %w", s.id, err)
	}

	return nil
}
