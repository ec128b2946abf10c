package mcp_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/mcp"
)

// fragile is a server with a reader and a writer whose connection is cut in the middle of the first calls.
func fragile(losses int32) (*memory, *atomic.Int32) {
	server, calls := newServer(), &atomic.Int32{}
	m := inMemory(map[string]*mcpsdk.Server{"srv": server})
	handler := func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		if calls.Add(1) <= losses {
			m.cut()
		}

		return text("done"), nil
	}
	addTool(server, "read", true, handler)
	addTool(server, "write", false, handler)

	return m, calls
}

func TestReadOnLostSessionIsRetriedOnce(t *testing.T) {
	t.Parallel()
	m, calls := fragile(1)
	tools := open(t, mcp.Config{Transport: m.transport, Limits: fast}, tarsy.MCPServerSelection{Name: "srv"})
	require.Equal(t, agent.Result{Server: "srv", Tool: "read", Content: "done", Attempts: 2}, call(t, tools, "srv__read", ""))
	require.EqualValues(t, 2, calls.Load())
	require.Equal(t, 2, m.opened())
}

func TestReadIsNotRetriedTwice(t *testing.T) {
	t.Parallel()
	m, calls := fragile(5)
	tools := open(t, mcp.Config{Transport: m.transport, Limits: fast}, tarsy.MCPServerSelection{Name: "srv"})
	result := call(t, tools, "srv__read", "")
	require.True(t, result.IsError)
	require.False(t, result.Unknown)
	require.Equal(t, 2, result.Attempts)
	require.EqualValues(t, 2, calls.Load())
}

func TestWriteOnLostSessionHasUnknownOutcome(t *testing.T) {
	t.Parallel()
	m, calls := fragile(1)
	tools := open(t, mcp.Config{Transport: m.transport, Limits: fast}, tarsy.MCPServerSelection{Name: "srv"})
	result := call(t, tools, "srv__write", "")
	require.True(t, result.IsError)
	require.True(t, result.Unknown)
	require.Equal(t, 1, result.Attempts)
	require.Contains(t, result.Content, "outcome unknown, check before repeating")
	require.EqualValues(t, 1, calls.Load(), "never made twice")

	again := call(t, tools, "srv__write", "")
	require.Equal(t, "done", again.Content, "the next call has a session again")
}

func TestCallsLosingOneSessionShareReconnect(t *testing.T) {
	t.Parallel()
	const callers = 8
	server := newServer()
	m := inMemory(map[string]*mcpsdk.Server{"srv": server})
	var calls atomic.Int32
	addTool(server, "read", true, func(ctx context.Context, _ *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		switch n := calls.Add(1); {
		case n < callers:
			<-ctx.Done() // until the connection is gone
		case n == callers:
			m.cut()
		}

		return text("done"), nil
	})
	tools := open(t, mcp.Config{Transport: m.transport, Limits: fast}, tarsy.MCPServerSelection{Name: "srv"})

	var group sync.WaitGroup
	results := make([]agent.Result, callers)
	for i := range callers {
		group.Go(func() { results[i], _ = tools.Call(t.Context(), agent.Call{Server: "srv", Tool: "read"}) })
	}
	group.Wait()
	for _, result := range results {
		require.Equal(t, agent.Result{Server: "srv", Tool: "read", Content: "done", Attempts: 2}, result)
	}
	require.Equal(t, 2, m.opened(), "one session for all of them")
}

// instantClock does not wait, and records the requested waits.
type instantClock struct {
	clockwork.Clock

	mu    sync.Mutex
	waits []time.Duration
}

func (c *instantClock) NewTimer(d time.Duration) clockwork.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, d)

	return c.Clock.NewTimer(0)
}

func TestReconnectPauseIsRandomWithinBounds(t *testing.T) {
	t.Parallel()
	const losses = 50
	clock := &instantClock{Clock: clockwork.NewRealClock()}
	m, _ := fragile(1 << 20)
	tools := open(t, mcp.Config{Transport: m.transport, Clock: clock}, tarsy.MCPServerSelection{Name: "srv"})
	for range losses {
		require.True(t, call(t, tools, "srv__read", "").IsError)
	}
	different := map[time.Duration]bool{}
	for _, wait := range clock.waits {
		require.GreaterOrEqual(t, wait, 250*time.Millisecond)
		require.Less(t, wait, 750*time.Millisecond)
		different[wait] = true
	}
	require.GreaterOrEqual(t, len(clock.waits), losses)
	require.Greater(t, len(different), losses/2)
}

func TestProtocolErrorIsNotRetried(t *testing.T) {
	t.Parallel()
	for _, code := range []int64{
		jsonrpc.CodeParseError, jsonrpc.CodeInvalidRequest, jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidParams, jsonrpc.CodeInternalError,
	} {
		server, calls := newServer(), &atomic.Int32{}
		handler := func(context.Context, *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
			calls.Add(1)

			return nil, &jsonrpc.Error{Code: code, Message: "no"}
		}
		addTool(server, "read", true, handler)
		tools := openOne(t, server, mcp.Config{Limits: fast})
		result := call(t, tools, "srv__read", "")
		require.True(t, result.IsError)
		require.Equal(t, 1, result.Attempts)
		require.EqualValues(t, 1, calls.Load(), "code %d", code)
	}
}

func TestSessionIsRecreatedAfterPauseWithinLimit(t *testing.T) {
	t.Parallel()
	clock := clockwork.NewFakeClock()
	m, _ := fragile(1)
	var opened atomic.Int32
	hang := make(chan struct{})
	cfg := mcp.Config{
		Clock: clock,
		Transport: func(ctx context.Context, id string) (mcpsdk.Transport, error) {
			if opened.Add(1) == 2 {
				close(hang)
				reader, writer := io.Pipe()

				return &mcpsdk.IOTransport{Reader: reader, Writer: writer}, nil
			}

			return m.transport(ctx, id)
		},
	}
	tools := open(t, cfg, tarsy.MCPServerSelection{Name: "srv"})

	results := make(chan agent.Result, 1)
	go func() {
		result, _ := tools.Call(t.Context(), agent.Call{Server: "srv", Tool: "read"})
		results <- result
	}()
	require.NoError(t, clock.BlockUntilContext(t.Context(), 2), "the call's limit and the pause")
	clock.Advance(250*time.Millisecond - 1)
	require.EqualValues(t, 1, opened.Load(), "never sooner than 250 ms")
	clock.Advance(500*time.Millisecond + 1)
	<-hang
	require.NoError(t, clock.BlockUntilContext(t.Context(), 2), "the call's limit and that of the session")
	clock.Advance(10 * time.Second)
	result := <-results
	require.True(t, result.IsError)
	require.False(t, result.Unknown)
	require.Contains(t, result.Content, "no session within 10s")
}

// hanging is a server whose tools never respond; it reports when they are called and when they are cancelled.
func hanging() (server *mcpsdk.Server, called, cancelled chan struct{}) {
	server, called, cancelled = newServer(), make(chan struct{}, 1), make(chan struct{}, 1)
	handler := func(ctx context.Context, _ *mcpsdk.CallToolRequest) (*mcpsdk.CallToolResult, error) {
		called <- struct{}{}
		<-ctx.Done()
		cancelled <- struct{}{}

		return nil, ctx.Err()
	}
	addTool(server, "read", true, handler)
	addTool(server, "write", false, handler)

	return server, called, cancelled
}

func TestHangingCallTimesOutAndServerIsNotified(t *testing.T) {
	t.Parallel()
	for name, unknown := range map[string]bool{"read": false, "write": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := clockwork.NewFakeClock()
			server, called, cancelled := hanging()
			tools := openOne(t, server, mcp.Config{Clock: clock})
			results := make(chan agent.Result, 1)
			go func() {
				result, _ := tools.Call(t.Context(), agent.Call{Server: "srv", Tool: name})
				results <- result
			}()
			<-called
			clock.Advance(90 * time.Second)
			result := <-results
			require.True(t, result.IsError)
			require.Equal(t, 1, result.Attempts, "a time-out is not repeated")
			require.Equal(t, unknown, result.Unknown)
			require.Contains(t, result.Content, "timed out after 90s")
			require.Equal(t, unknown, strings.Contains(result.Content, "outcome unknown"))
			<-cancelled
		})
	}
}

func TestCallerCancellationIsError(t *testing.T) {
	t.Parallel()
	server, called, cancelled := hanging()
	tools := openOne(t, server, mcp.Config{})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("session cancelled by alice")
	errs := make(chan error, 1)
	go func() {
		_, err := tools.Call(ctx, agent.Call{Server: "srv", Tool: "write"})
		errs <- err
	}()
	<-called
	cancel(why)
	err := <-errs
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, err, why)
	<-cancelled

	_, err = tools.Call(ctx, agent.Call{Server: "srv", Tool: "write"})
	require.ErrorIs(t, err, why, "and nothing is sent after it")
}

func TestServerThatStopsReadingCannotBlockCaller(t *testing.T) {
	t.Parallel()
	clock := clockwork.NewFakeClock()
	stuck := make(chan struct{})
	raw := &rawServer{onCall: func(string) []string {
		close(stuck) // and read no more

		return nil
	}, calls: 1}
	tools := open(t, mcp.Config{Clock: clock, Transport: raw.transport}, tarsy.MCPServerSelection{Name: "raw"})

	results := make(chan agent.Result, 2)
	invoke := func() {
		result, _ := tools.Call(t.Context(), agent.Call{Server: "raw", Tool: "write"})
		results <- result
	}
	go invoke()
	<-stuck
	go invoke() // its write blocks: nothing reads
	require.NoError(t, clock.BlockUntilContext(t.Context(), 2))
	clock.Advance(90 * time.Second)
	for range 2 {
		require.Contains(t, (<-results).Content, "timed out after 90s")
	}
}

func TestCloseInterruptsCallsAndIsIdempotent(t *testing.T) {
	t.Parallel()
	server, called, cancelled := hanging()
	tools := openOne(t, server, mcp.Config{})
	errs := make(chan error, 1)
	go func() {
		_, err := tools.Call(t.Context(), agent.Call{Server: "srv", Tool: "write"})
		errs <- err
	}()
	<-called
	require.NoError(t, tools.Close())
	require.Error(t, <-errs)
	<-cancelled
	require.NoError(t, tools.Close())

	_, err := tools.Call(t.Context(), agent.Call{Server: "srv", Tool: "read"})
	require.Error(t, err)
	_, err = tools.List(t.Context())
	require.Error(t, err)
}

func TestOpenEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cfg := mcp.Config{Transport: func(context.Context, string) (mcpsdk.Transport, error) {
		cancel()
		reader, writer := io.Pipe()

		return &mcpsdk.IOTransport{Reader: reader, Writer: writer}, nil
	}}
	tools, err := mcp.New(cfg).Open(ctx, executionID, []tarsy.MCPServerSelection{{Name: "hangs"}}, nil)
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, tools == nil, "no typed nil") //nolint:testifylint // Nil would accept one
}
