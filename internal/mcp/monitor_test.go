package mcp_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/mcp"
)

// change is a call of a monitor's Changed.
type change struct {
	server string
	status mcp.Status
}

// watched is a monitor on a fake clock, with servers whose connections can be made to fail or hang.
type watched struct {
	*mcp.Monitor
	*memory

	clock   *clockwork.FakeClock
	changes chan change

	broken, hanging sync.Map
	// connecting receives the name of each server before the connection is made.
	connecting chan string
}

func newWatched(t *testing.T, names ...string) *watched {
	t.Helper()
	servers := make(map[string]*mcpsdk.Server)
	for _, name := range names {
		servers[name] = newServer()
		addTool(servers[name], "read", true, answering("done"))
		addTool(servers[name], "write", false, answering("done"))
	}
	w := &watched{
		memory: inMemory(servers), clock: clockwork.NewFakeClock(), changes: make(chan change, 10), connecting: make(chan string, 10),
	}
	w.Monitor = mcp.NewMonitor(mcp.MonitorConfig{
		Factory: mcp.New(mcp.Config{
			Transport: w.connect, Clock: w.clock, Limits: mcp.Limits{Exit: 50 * time.Millisecond},
			Mask: func(_, text string) (string, error) { return strings.ReplaceAll(text, "hunter2", "***"), nil },
		}),
		Servers: names,
		Changed: func(server string, status mcp.Status) { w.changes <- change{server, status} },
	})
	t.Cleanup(w.Stop)

	return w
}

func (w *watched) connect(ctx context.Context, id string) (mcpsdk.Transport, error) {
	// What a test changes after it knows of this connection applies to the next one.
	err, broken := w.broken.Load(id)
	_, hangs := w.hanging.Load(id)
	w.connecting <- id
	if broken {
		return nil, err.(error)
	}
	if hangs {
		reader, _ := io.Pipe() // never responds

		return &mcpsdk.IOTransport{Reader: reader, Writer: swallowing{io.Discard}}, nil
	}

	return w.transport(ctx, id)
}

// swallowing discards everything.
type swallowing struct{ io.Writer }

func (swallowing) Close() error { return nil }

// tick starts the next checks.
func (w *watched) tick() { w.clock.Advance(15 * time.Second) }

func TestMonitorChecksImmediatelyAndReportsFirstResult(t *testing.T) {
	t.Parallel()
	w := newWatched(t, "a", "b")
	w.broken.Store("b", errors.New("connection refused, password hunter2"))
	require.False(t, w.Healthy(), "not before the first check")
	require.Equal(t, map[string]mcp.Status{"a": {}, "b": {}}, w.Statuses())

	w.Start()
	got := map[string]mcp.Status{}
	for range 2 {
		next := <-w.changes
		got[next.server] = next.status
	}
	now := w.clock.Now()
	require.Equal(t, map[string]mcp.Status{
		"a": {Healthy: true, Checked: true, LastCheck: now, Tools: 2},
		"b": {Checked: true, LastCheck: now, Error: "make transport: connection refused, password ***"},
	}, got)
	require.Equal(t, got, w.Statuses())
	require.False(t, w.Healthy())
	require.Equal(t, []string{"a"}, slices.Collect(maps.Keys(w.Tools())))
	require.Equal(t, "read", w.Tools()["a"][0].Name)
	require.True(t, mcp.NewMonitor(mcp.MonitorConfig{Factory: mcp.New(mcp.Config{})}).Healthy(), "nothing to be ill")
}

func TestMonitorReportsOnlyChanges(t *testing.T) {
	t.Parallel()
	w := newWatched(t, "a")
	w.broken.Store("a", errors.New("refused"))
	w.Start()
	<-w.connecting
	require.False(t, (<-w.changes).status.Healthy)

	for range 3 {
		w.tick()
		<-w.connecting
	}
	w.broken.Delete("a")
	w.tick()
	recovered := <-w.changes
	require.True(t, recovered.status.Healthy)
	require.Empty(t, recovered.status.Error)
	require.True(t, w.Healthy())
	<-w.connecting

	w.broken.Store("a", errors.New("refused again"))
	w.cut()
	w.tick()
	ill := <-w.changes
	require.Equal(t, mcp.Status{
		Checked: true, Error: "make transport: refused again", LastCheck: w.clock.Now(), Tools: 2,
	}, ill.status)
	require.Len(t, w.Tools()["a"], 2, "what it offered last is still known")
	require.Empty(t, w.changes)
}

func TestMonitorReusesSessionAndReplacesLostOne(t *testing.T) {
	t.Parallel()
	w := newWatched(t, "a")
	w.Start()
	require.True(t, (<-w.changes).status.Healthy)
	require.Equal(t, "a", <-w.connecting)

	var ticks int
	for ; ticks < 3; ticks++ {
		w.tick()
		waitChecked(t, w, "a")
	}
	require.Equal(t, 1, w.opened(), "one session for all checks")

	w.cut()
	w.tick()
	<-w.connecting
	waitChecked(t, w, "a")
	require.True(t, w.Healthy(), "a session that was lost and is there again is no failure")
	require.Equal(t, 2, w.opened())
	require.Empty(t, w.changes)
}

// waitChecked waits for the check at the current time.
func waitChecked(t *testing.T, w *watched, id string) {
	t.Helper()
	wait.Until(t, "the check of "+id, func() bool { return w.Statuses()[id].LastCheck.Equal(w.clock.Now()) })
}

func TestHangingServerDelaysNeitherOthersNorStop(t *testing.T) {
	t.Parallel()
	w := newWatched(t, "good", "hangs")
	w.hanging.Store("hangs", true)
	w.Start()
	require.Equal(t, "good", (<-w.changes).server)
	w.tick()
	waitChecked(t, w, "good")
	require.Equal(t, mcp.Status{}, w.Statuses()["hangs"], "it has 30 s to begin with")
	w.Stop()
	require.Empty(t, w.changes, "a check that is cut off is no result")
	require.False(t, w.Healthy())
}

// tickingClock records the requested tick intervals and time limits.
type tickingClock struct {
	clockwork.Clock

	intervals, limits chan time.Duration
}

func (c *tickingClock) NewTicker(d time.Duration) clockwork.Ticker {
	c.intervals <- d

	return c.Clock.NewTicker(d)
}

func (c *tickingClock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	c.limits <- d

	return c.Clock.AfterFunc(d, f)
}

func TestMonitorChecksEvery15SecondsWith5SecondTimeout(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "read", true, answering("done"))
	fake := clockwork.NewFakeClock()
	clock := &tickingClock{Clock: fake, intervals: make(chan time.Duration, 1), limits: make(chan time.Duration, 10)}
	monitor := mcp.NewMonitor(mcp.MonitorConfig{
		Factory: mcp.New(mcp.Config{Clock: clock, Transport: inMemory(map[string]*mcpsdk.Server{"srv": server}).transport}),
		Servers: []string{"srv"},
	})
	monitor.Start()
	defer monitor.Stop()
	require.Equal(t, 15*time.Second, <-clock.intervals)
	require.Equal(t, 30*time.Second, <-clock.limits, "a first session has longer")
	wait.Until(t, "the monitor to be healthy", monitor.Healthy)
	fake.Advance(15 * time.Second)
	require.Equal(t, 5*time.Second, <-clock.limits)
}

func TestUnresponsiveServerIsUnhealthyAfterItsLimits(t *testing.T) {
	t.Parallel()
	clock := clockwork.NewFakeClock()
	stuck := make(chan struct{})
	var lists, connections atomic.Int32
	raw := &rawServer{onList: func() bool {
		if lists.Add(1) == 2 {
			close(stuck)
		}

		return lists.Load() < 2
	}}
	changes := make(chan mcp.Status, 2)
	monitor := mcp.NewMonitor(mcp.MonitorConfig{
		Factory: mcp.New(mcp.Config{
			Clock: clock, Limits: mcp.Limits{Exit: 50 * time.Millisecond},
			Transport: func(ctx context.Context, id string) (mcpsdk.Transport, error) {
				connections.Add(1)

				return raw.transport(ctx, id)
			},
		}),
		Servers: []string{"raw"}, Interval: time.Hour,
		Changed: func(_ string, status mcp.Status) { changes <- status },
	})
	monitor.Start()
	defer monitor.Stop()
	require.True(t, (<-changes).Healthy)

	clock.Advance(time.Hour)
	<-stuck
	clock.Advance(5*time.Second - 1)
	require.EqualValues(t, 1, connections.Load(), "a ping has 5 s")
	clock.Advance(1)
	wait.Until(t, "the second connection", func() bool { return connections.Load() == 2 })
	require.NoError(t, clock.BlockUntilContext(t.Context(), 2), "the ticker and the limit of the new session")
	clock.Advance(10 * time.Second)
	require.Equal(t, "no session within 10s: time limit reached", (<-changes).Error)
	require.EqualValues(t, 2, connections.Load(), "created again once")
}

func TestMonitorCanStopAnytimeAndRestart(t *testing.T) {
	t.Parallel()
	w := newWatched(t, "a")
	w.Stop()
	w.Stop()
	for i := range 3 {
		w.Start()
		w.Start()
		<-w.connecting
		if i == 0 {
			<-w.changes
		}
		var group sync.WaitGroup
		for range 3 {
			group.Go(w.Stop)
		}
		group.Wait()
	}
	require.Empty(t, w.connecting, "started once each time")
	wait.Until(t, "the sessions to end", func() bool { return len(slices.Collect(w.servers["a"].Sessions())) == 0 })
}

func TestStopWaitsForInterruptedChecks(t *testing.T) {
	t.Parallel()
	connecting, finished := make(chan struct{}), &atomic.Bool{}
	monitor := mcp.NewMonitor(mcp.MonitorConfig{
		Servers: []string{"slow"},
		Factory: mcp.New(mcp.Config{Transport: func(ctx context.Context, _ string) (mcpsdk.Transport, error) {
			close(connecting)
			<-ctx.Done()
			runtime.Gosched()
			finished.Store(true)

			return nil, ctx.Err()
		}}),
	})
	monitor.Start()
	<-connecting
	monitor.Stop()
	require.True(t, finished.Load())
}

func TestMonitorSessionIsNotSharedWithExecutions(t *testing.T) {
	t.Parallel()
	server := newServer()
	addTool(server, "read", true, answering("done"))
	m := inMemory(map[string]*mcpsdk.Server{"srv": server})
	factory := mcp.New(mcp.Config{Transport: m.transport, Limits: fast})
	first := make(chan mcp.Status, 1)
	monitor := mcp.NewMonitor(mcp.MonitorConfig{
		Factory: factory, Servers: []string{"srv"}, Changed: func(_ string, s mcp.Status) { first <- s },
	})
	monitor.Start()
	require.True(t, (<-first).Healthy)
	tools, err := factory.Open(t.Context(), executionID, []tarsy.MCPServerSelection{{Name: "srv"}}, nil)
	require.NoError(t, err)
	require.Equal(t, 2, m.opened())
	monitor.Stop()
	require.Equal(t, "done", call(t, tools, "srv__read", "").Content)
	require.NoError(t, tools.Close())
}

func TestReconfiguredMonitorKeepsUnchangedServers(t *testing.T) {
	t.Parallel()
	w := newWatched(t, "same", "moved", "gone", "new")
	server := func(url string) mcp.ServerConfig {
		return mcp.ServerConfig{Transport: mcp.Transport{Type: mcp.TransportHTTP, URL: url}}
	}
	factory := func(servers map[string]mcp.ServerConfig) *mcp.Factory {
		return mcp.New(mcp.Config{Servers: servers, Transport: w.connect, Clock: w.clock, Limits: mcp.Limits{Exit: 50 * time.Millisecond}})
	}
	before := factory(map[string]mcp.ServerConfig{"same": server("http://same"), "moved": server("http://moved"), "gone": server("http://gone")})
	w.Reconfigure(before, []string{"same", "moved", "gone"}) // before Start it only stores them
	w.Start()
	for range 3 {
		require.True(t, (<-w.changes).status.Healthy)
	}
	for len(w.connecting) > 0 {
		<-w.connecting
	}

	after := factory(map[string]mcp.ServerConfig{"same": server("http://same"), "moved": server("http://elsewhere"), "new": server("http://new")})
	w.Reconfigure(after, []string{"same", "moved", "new"})

	var connected []string
	for range 2 {
		found := <-w.changes
		require.True(t, found.status.Healthy)
		connected = append(connected, found.server)
	}
	require.ElementsMatch(t, []string{"moved", "new"}, connected)
	require.ElementsMatch(t, []string{"same", "moved", "new"}, slices.Collect(maps.Keys(w.Statuses())))
	require.ElementsMatch(t, []string{"same", "moved", "new"}, slices.Collect(maps.Keys(w.Tools())))
	require.True(t, w.Statuses()["same"].Checked, "what is known of it stays")
	w.Stop()
	require.Empty(t, w.changes)
}
