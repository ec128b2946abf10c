package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// barrier is reusable: join blocks until size callers have joined.
type barrier struct {
	size int

	mu      sync.Mutex
	waiting int
	whole   chan struct{}
}

func newBarrier(size int) *barrier { return &barrier{size: size, whole: make(chan struct{})} }

func (b *barrier) join(ctx context.Context) error {
	b.mu.Lock()
	whole := b.whole
	b.waiting++

	if b.waiting == b.size {
		close(whole)
		b.waiting, b.whole = 0, make(chan struct{})
	}
	b.mu.Unlock()

	select {
	case <-whole:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// marked returns the marker of the alert that a text is about.
func marked(text string) string {
	_, rest, _ := strings.Cut(text, "marker-")

	return "marker-" + rest[:3]
}

// echo calls the tool with the marker that it was asked about, and then answers with it.
func echo(req *llm.Request, _ int) script.Reply {
	last := req.Messages[len(req.Messages)-1]
	marker := marked(last.Content)

	if len(req.Tools) > 0 && last.Role != llm.RoleTool {
		return tool("echo", fmt.Sprintf(`{"marker":%q,"by":%q}`, marker, req.Agent))
	}

	return says(fmt.Sprintf("%s on %s", req.Agent, marker))
}

// Twenty sessions, ten in parallel, on two servers, each with two agents with tools, a synthesis, a summary and a question:
// what each is asked, sees and answers is only its own.
func TestConcurrentSessionsDoNotLeak(t *testing.T) {
	t.Parallel()

	const (
		sessions, workers, atOnce = 20, 5, 10
		config                    = `
agents:
  Logs: {mcp_servers: [test-mcp]}
  Metrics: {mcp_servers: [test-mcp]}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: look, agents: [{name: Logs}, {name: Metrics}]}]
    chat: {enabled: true}
queue: {worker_count: %d, max_concurrent_sessions: %d}
`
	)

	everybody := newBarrier(atOnce)
	tools := tarsytest.NewMCPServer("test-mcp", tarsytest.Tool{
		Name: "echo", ReadOnly: true, Handle: func(ctx context.Context, arguments map[string]any) (string, error) {
			text := fmt.Sprintf("result of %s for %s", arguments["marker"], arguments["by"])
			if arguments["by"] == "Logs" {
				return text, everybody.join(ctx)
			}

			return text, nil
		},
	})
	model := script.New(script.Options{})
	model.RouteFunc(func(*llm.Request) bool { return true }, echo)

	options := tarsytest.Options{
		Database: pgtest.New(t), Script: model, MCP: []*tarsytest.MCPServer{tools}, Config: fmt.Sprintf(config, workers, atOnce),
	}
	servers := []*tarsytest.App{tarsytest.New(t, options), tarsytest.New(t, options)}
	ids, sockets := make([]string, sessions), make([][]*tarsytest.Socket, sessions)

	var group sync.WaitGroup

	for i := range sessions {
		group.Go(func() {
			ids[i] = servers[i%2].Submit("test", fmt.Sprintf("alert of marker-%02d-", i))
			sockets[i] = []*tarsytest.Socket{servers[0].Watch(ids[i]), servers[1].Watch(ids[i])}
			sockets[i][0].WaitStatus("completed")

			stage := servers[i%2].Ask(ids[i], fmt.Sprintf("what of marker-%02d-?", i)).StageID
			sockets[i][0].WaitStage(stage)
			sockets[i][1].WaitStage(stage)
		})
	}

	group.Wait()

	markers := map[string]string{}

	for i, id := range ids {
		markers[id] = fmt.Sprintf("marker-%02d-", i)
		requireOwn(t, servers[i%2], id, markers[id], sockets[i])
	}

	for _, c := range model.Calls() {
		raw, err := json.Marshal(c.Request.Messages)
		require.NoError(t, err)
		requireMarked(t, string(raw), markers[c.Request.SessionID])
	}

	for _, c := range tools.Calls() {
		require.NotEmpty(t, c.ID)
	}

	require.Len(t, model.Calls(), sessions*8)
	require.Len(t, tools.Calls(), sessions*3)
	requireReleased(t, servers[0])
}

// requireOwn checks that a session is only about its own alert, wherever it is read.
func requireOwn(t *testing.T, app *tarsytest.App, id, marker string, sockets []*tarsytest.Socket) {
	t.Helper()

	session := app.Session(id)
	require.Equal(t, tarsy.SessionCompleted, session.Status, session.ErrorMessage)
	require.Equal(t, "SynthesisAgent on "+marker, session.FinalAnalysis)
	require.Equal(t, "ExecSummaryAgent on "+marker, session.ExecutiveSummary)

	for _, path := range []string{"", "/timeline", "/trace"} {
		requireMarked(t, string(app.Do(http.MethodGet, "/api/v1/sessions/"+id+path, nil).Body), marker)
	}

	requireMarked(t, fmt.Sprint(app.Messages(id), app.LLMInteractions(id), app.MCPInteractions(id)), marker)

	journal := requireJournal(t, app, id)
	for _, e := range journal {
		requireMarked(t, string(e.Payload), marker)
	}

	for _, socket := range sockets {
		requireSeen(t, socket, journal)

		for _, e := range socket.Events() {
			requireMarked(t, string(e.Raw), marker)

			if session, ok := e.Fields["session_id"]; ok {
				require.Equal(t, id, session)
			}
		}
	}
}

// requireMarked checks that a text contains no other marker.
func requireMarked(t *testing.T, text, marker string) {
	t.Helper()
	require.Equal(t, strings.Count(text, "marker-"), strings.Count(text, marker), "only %s belongs here: %s", marker, text)
}
