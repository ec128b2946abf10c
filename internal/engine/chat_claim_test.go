package engine

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// busy occupies a server with one worker: its model does not answer until the gate opens.
func (h *fixture) busy(s *server) (id string, gate *script.Gate) {
	h.t.Helper()

	gate = script.NewGate()
	h.configure(func() {
		h.recipe = recipeOf([]string{"worker"})
		h.chat()
	})
	h.forAgent("worker", script.Reply{Text: "found", Gate: gate})

	id = s.submit()
	h.wait(gate.Reached(), "the worker to be busy")

	return id, gate
}

// over submits sessions and waits for them to end, on a server with enough workers.
func (h *fixture) over(count int) []string {
	h.t.Helper()

	s := h.start("investigates", nil)

	var ids []string
	for range count {
		ids = append(ids, s.submit())
	}

	for _, id := range ids {
		s.completes(id)
	}

	s.Stop(h.ctx)

	return ids
}

func TestQuestionIsAnsweredWhileEveryWorkerIsBusy(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.fakeClock() // so that no renewal masks a lost signal
	h.investigated()
	h.chat(script.Reply{Text: "because"})

	ids := h.over(2)
	s := h.start("one", func(c *Config) { c.Workers, c.MaxSessions = 1, 1 })
	working, gate := h.busy(s)
	waiting := s.submit()

	for _, id := range ids {
		s.answers(id, "why?")
		s.answers(id, "why really?")
	}

	require.Equal(t, tarsy.SessionPending, s.detail(waiting).Status, "a question makes no room for sessions")
	require.Equal(t, tarsy.SessionInProgress, s.detail(working).Status)
	gate.Open()
	s.completes(working)
	s.completes(waiting)
}

func TestConcurrentAnswersAreLimitedPerServer(t *testing.T) {
	t.Parallel()

	const more = 3

	h := newFixture(t)
	h.fakeClock() // so that no renewal masks a lost signal
	h.investigated()

	arrived, leave := make(chan struct{}, maxChats+more), make(chan struct{})

	h.model.RouteFunc(func(r *llm.Request) bool { return r.Agent == "answerer" }, func(*llm.Request, int) script.Reply {
		arrived <- struct{}{}
		<-leave

		return script.Reply{Text: "because"}
	})
	h.chat()

	ids := h.over(maxChats + more)
	s := h.start("one", func(c *Config) { c.Workers, c.MaxSessions = 1, 1 })
	_, gate := h.busy(s)
	all := sync.OnceFunc(func() { close(leave) })

	t.Cleanup(all) // a stopping server waits for them

	var questions []tarsy.Question
	for _, id := range ids {
		questions = append(questions, s.ask(id, "why?"))
	}

	for range maxChats {
		h.wait(arrived, "an answer to be begun")
	}

	running := func() int { return query[int](h, `SELECT count(*) FROM sessions WHERE lease_until IS NOT NULL`) }
	require.Equal(t, maxChats+1, running())
	wake(s.cancels)
	wake(s.requests)
	wake(s.slots)

	// Each answer that ends lets one more begin, without any other signal.
	for range more {
		leave <- struct{}{}

		h.wait(arrived, "the next answer to be begun")
		require.LessOrEqual(t, running(), maxChats+1)
	}

	all()

	for i, id := range ids {
		require.Equal(t, tarsy.StatusCompleted, s.answered(id, questions[i]).Status)
	}

	require.Empty(t, arrived)
	gate.Open()
}

func TestStoppingServerHandsAnswerToBusyServer(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.fakeClock() // so that no renewal masks a lost signal
	h.investigated()

	gate := script.NewGate()
	h.chat(
		script.Reply{ToolCalls: []llm.ToolCall{call("1", "change", `{}`)}},
		script.Reply{Text: "because", Gate: gate})

	id := h.over(1)[0]
	stops := h.start("stops", nil)
	question := stops.ask(id, "why?")
	h.wait(gate.Reached(), "the second LLM call")

	full := h.start("full", func(c *Config) { c.Workers, c.MaxSessions = 1, 1 })
	_, working := h.busy(full)

	stops.Stop(h.ctx)
	gate.Open()
	require.Equal(t, tarsy.StatusCompleted, full.answered(id, question).Status)
	require.Equal(t, "full", full.detail(id).PodID)
	require.Equal(t, 1, h.tools.made("change"), "what was done is not done again")
	h.requireWhole(id)
	working.Open()
}

func TestRenewalDetectsQuestionAfterLostSignal(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	clock := h.fakeClock()
	h.investigated()
	h.chat(script.Reply{Text: "because"})

	id := h.over(1)[0]
	s := h.start("one", func(c *Config) { c.Workers = 1 })
	_, gate := h.busy(s)

	// Written by a server whose NOTIFY was lost.
	question := tarsy.Question{ChatID: ident.New(), MessageID: ident.New(), StageID: ident.New(), Content: "why?"}
	h.exec(`WITH asked AS (UPDATE sessions SET open_requests = 1, runnable_at = $3 WHERE id = $1)
INSERT INTO requests (id, session_id, kind, status, author, payload, created_at) VALUES ($2, $1, 'chat', 'open', 'x', $4, $3)`,
		id, ident.New(), clock.Now(), question)
	clock.Advance(s.RenewEvery)
	require.Equal(t, tarsy.StatusCompleted, s.answered(id, question).Status)
	gate.Open()
}
