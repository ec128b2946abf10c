package e2e

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/tarsytest"
)

// turnstile is a model that lets one call through at a time, when the test says so, and counts how many are in it.
type turnstile struct {
	entered, leave chan struct{}

	mu           sync.Mutex
	inside, most int
}

func newTurnstile() *turnstile {
	const room = 1000

	return &turnstile{entered: make(chan struct{}, room), leave: make(chan struct{}, room)}
}

func (m *turnstile) count(change int) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.inside += change
	m.most = max(m.most, m.inside)
}

func (m *turnstile) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if req.Purpose == string(tarsy.InteractionExecutiveSummary) {
			yield(llm.TextChunk{Text: "Summed up."}, nil)

			return
		}

		m.count(1)
		defer m.count(-1)

		m.entered <- struct{}{}

		select {
		case <-m.leave:
			yield(llm.TextChunk{Text: "Analysed."}, nil)
		case <-ctx.Done():
			yield(nil, context.Cause(ctx))
		}
	}
}

// As many sessions run as the smaller limit allows: when one ends the next begins, and never is there one too many.
func TestLimitsAreExact(t *testing.T) {
	t.Parallel()

	const sessions, limit = 8, 3

	for name, queue := range map[string]string{
		"by workers":             "{worker_count: 3, max_concurrent_sessions: 20}",
		"by concurrent sessions": "{worker_count: 20, max_concurrent_sessions: 3}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			model := newTurnstile()
			app := tarsytest.New(t, tarsytest.Options{LLM: model, Config: "queue: " + queue + "\n" + oneAgent})

			var ids []string
			for i := range sessions {
				ids = append(ids, app.Submit("test", fmt.Sprintf("alert %d", i)))
			}

			for range limit {
				app.Await(model.entered, "a session to begin")
			}

			for ended := range sessions {
				waiting := max(sessions-limit-ended, 0)
				running := min(limit, sessions-ended)
				app.WaitAnswer("/health", fmt.Sprintf("%d waiting and %d running", waiting, running), func(r tarsytest.Response) bool {
					return strings.Contains(string(r.Body), fmt.Sprintf(`"queue":{"waiting":%d,"leased":%d}`, waiting, running))
				})

				model.leave <- struct{}{}

				if waiting > 0 {
					app.Await(model.entered, "the next session to begin")
				}
			}

			for _, id := range ids {
				app.WaitFor(id, tarsy.SessionCompleted)
			}

			require.Equal(t, limit, model.most)
			require.Empty(t, model.entered)
			requireReleased(t, app)
		})
	}
}

// Twenty at once, each with a tool call: what each sees, says and tells is its own.
func TestConcurrentSessionsDoNotLeak(t *testing.T) {
	t.Parallel()

	const sessions = 20

	marker := func(i int) string { return fmt.Sprintf("marker-%02d-", i) }

	// Nobody goes on before all have begun.
	var all sync.WaitGroup

	all.Add(sessions)

	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{
		Name: "echo", ReadOnly: true, Handle: func(_ context.Context, arguments map[string]any) (string, error) {
			all.Done()
			all.Wait()

			return fmt.Sprintf("result of %s", arguments["marker"]), nil
		},
	})
	app := tarsytest.New(t, tarsytest.Options{
		LLM: echoModel{}, MCP: []*tarsytest.MCPServer{kubernetes},
		Config: fmt.Sprintf("queue: {worker_count: %d, max_concurrent_sessions: %d}\n%s", sessions, sessions, kubernetesAgent),
	})

	var group sync.WaitGroup

	ids, sockets := make([]string, sessions), make([]*tarsytest.Socket, sessions)

	for i := range sessions {
		group.Go(func() {
			ids[i] = app.Submit("test", "alert of "+marker(i))
			sockets[i] = app.Watch(ids[i])
		})
	}

	group.Wait()

	for i, id := range ids {
		sockets[i].WaitStatus("completed")

		session := app.Session(id)
		require.Equal(t, "analysis of "+marker(i), session.FinalAnalysis)
		require.Equal(t, "summary of "+marker(i), session.ExecutiveSummary)

		seen := string(app.Do(http.MethodGet, "/api/v1/sessions/"+id, nil).Body) +
			string(app.Do(http.MethodGet, "/api/v1/sessions/"+id+"/timeline", nil).Body) +
			fmt.Sprint(app.Messages(id), app.LLMInteractions(id), app.MCPInteractions(id))

		for _, e := range sockets[i].Events() {
			seen += string(e.Raw)
		}

		require.Equal(t, strings.Count(seen, "marker-"), strings.Count(seen, marker(i)), "only its own")
	}

	requireReleased(t, app)
}

// echoModel calls the tool with the marker that it was asked about, and then speaks of that.
type echoModel struct{}

func (echoModel) Generate(_ context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		last := req.Messages[len(req.Messages)-1]
		_, rest, _ := strings.Cut(last.Content, "marker-")
		marker := "marker-" + rest[:3]

		switch {
		case req.Purpose == string(tarsy.InteractionExecutiveSummary):
			yield(llm.TextChunk{Text: "summary of " + marker}, nil)
		case last.Role == llm.RoleTool:
			yield(llm.TextChunk{Text: "analysis of " + marker}, nil)
		default:
			yield(llm.ToolCallChunk{Call: llm.ToolCall{Name: "kubernetes__echo", Arguments: `{"marker":"` + marker + `"}`}}, nil)
		}
	}
}
