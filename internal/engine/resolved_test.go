package engine

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// fires records that the alert of a session is firing, as triage does on the server that receives it.
func (h *fixture) fires(id string) {
	h.t.Helper()
	h.exec(`INSERT INTO session_alerts (session_id, fingerprint, group_key, last_at) VALUES ($1, 'disk', '', $2)
ON CONFLICT (session_id) DO UPDATE SET firing = true, resolved_at = NULL`, id, h.clock.Now())
}

// resolves records that the alert of a session was resolved at a time.
func (h *fixture) resolves(id string, at time.Time) {
	h.t.Helper()
	h.fires(id)
	h.exec(`UPDATE session_alerts SET firing = false, resolved_at = $2 WHERE session_id = $1`, id, at)
}

func concludingResolved(c *Config) { c.ConcludeResolved = true }

// lookTwice scripts an agent that requests two calls in a row; its answer shows whether it was forced to conclude before the second.
func (h *fixture) lookTwice(agent string) {
	h.model.RouteFunc(func(r *llm.Request) bool { return r.Agent == agent }, func(r *llm.Request, _ int) script.Reply {
		switch last := r.Messages[len(r.Messages)-1]; {
		case len(r.Tools) == 0:
			return script.Reply{Text: "concluded: " + last.Content}
		case strings.Contains(last.Content, `{"n":2}`):
			return script.Reply{Text: "investigated"}
		case last.Role == llm.RoleTool:
			return script.Reply{ToolCalls: []llm.ToolCall{call("2", "look", `{"n":2}`)}}
		default:
			return script.Reply{ToolCalls: []llm.ToolCall{call("1", "look", `{"n":1}`)}}
		}
	})
}

func TestAgentsConcludeWhenAlertIsResolved(t *testing.T) {
	t.Parallel()

	const told = "concluded: The alert is resolved, and tools are no longer available. Give your final analysis now, based on what you have " +
		"found so far. State what is certain, what is likely, what you could not check, and whether the problem may come back."

	for name, test := range map[string]struct {
		change func(*Config)
		// happen changes the alert during the first call.
		happen    func(h *fixture, s *server, id string)
		concludes bool
	}{
		"the alert is resolved": {concludingResolved, func(h *fixture, _ *server, id string) {
			h.resolves(id, h.clock.Now())
		}, true},
		"the setting is off": {nil, func(h *fixture, _ *server, id string) {
			h.resolves(id, h.clock.Now())
		}, false},
		"the alert still fires": {concludingResolved, func(h *fixture, _ *server, id string) {
			h.fires(id)
		}, false},
		"the alert has no identity": {concludingResolved, func(*fixture, *server, string) {}, false},
		"the alert was resolved before the session began": {concludingResolved, func(h *fixture, s *server, id string) {
			h.resolves(id, s.detail(id).StartedAt.Add(-time.Millisecond))
		}, false},
		"the alert fires again": {concludingResolved, func(h *fixture, s *server, id string) {
			h.resolves(id, h.clock.Now())
			s.renewRunning(h.ctx)
			h.fires(id)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newFixture(t)
			inTool, leaveTool := make(chan struct{}), make(chan struct{})
			h.tools.during = duringCall(inTool, leaveTool)
			h.lookTwice("investigator")
			h.summary(script.Reply{Text: "in short"})

			s := h.start("one", test.change)
			id := s.submit()
			h.wait(inTool, "the first call")
			test.happen(h, s, id)
			s.renewRunning(h.ctx)
			leaveTool <- struct{}{}

			calls, analysis, reason := 1, told, tarsy.ForcedResolved
			if !test.concludes {
				h.wait(inTool, "the second call")
				leaveTool <- struct{}{}

				calls, analysis, reason = 2, "investigated", tarsy.NotForced
			}

			detail := s.completes(id)
			require.Equal(t, analysis, detail.FinalAnalysis)
			require.Equal(t, string(reason), detail.ConcludedEarly)
			require.Equal(t, reason, detail.Stages[0].Executions[0].ForcedConclusion)
			require.Equal(t, calls, h.tools.made("look"))
			h.requireWhole(id)
		})
	}
}

// Remaining stages conclude immediately, as they do shortly before the deadline.
func TestLaterStagesConcludeWhenAlertIsResolved(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.recipe = recipeOf([]string{"first"}, []string{"second"})
	inTool, leaveTool := make(chan struct{}), make(chan struct{})
	h.tools.during = duringCall(inTool, leaveTool)
	h.lookTwice("first")
	h.lookTwice("second")
	h.summary(script.Reply{Text: "in short"})

	s := h.start("one", concludingResolved)
	id := s.submit()
	h.wait(inTool, "the first call")
	h.resolves(id, h.clock.Now())
	s.renewRunning(h.ctx)
	leaveTool <- struct{}{}

	for _, stage := range s.completes(id).Stages {
		require.Equal(t, tarsy.ForcedResolved, stage.Executions[0].ForcedConclusion, stage.StageName)
	}

	require.Equal(t, 1, h.tools.made("look"))
}

// What the first server knows about the alert is lost with it: the next one learns it from its own renewal.
func TestNextHolderConcludesWhenAlertIsResolved(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	inTool, leaveTool := make(chan struct{}), make(chan struct{})
	h.tools.during = duringCall(inTool, leaveTool)
	h.lookTwice("investigator")
	h.summary(script.Reply{Text: "in short"})

	one := h.start("one", concludingResolved)
	id := one.submit()
	h.wait(inTool, "the first call")
	h.resolves(id, h.clock.Now())
	one.renewRunning(h.ctx)
	one.stop()

	// A server notified of a request renews immediately. The next one must not learn of the resolved alert before it repeats the call.
	h.fires(id)

	two := h.start("two", concludingResolved)
	h.wait(inTool, "the first call, repeated")
	h.resolves(id, h.clock.Now())
	two.renewRunning(h.ctx)
	leaveTool <- struct{}{}

	detail := two.completes(id)
	require.Equal(t, string(tarsy.ForcedResolved), detail.ConcludedEarly)
	require.Equal(t, 2, h.tools.made("look"), "only the call that was cut off was made again")
	h.requireWhole(id)
}

// An agent that was forced to conclude does so on the next server too, although the alert is firing again.
func TestConclusionOfResolvedAlertSurvivesTakeover(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	inTool, leaveTool := make(chan struct{}), make(chan struct{})
	h.tools.during = duringCall(inTool, leaveTool)

	concluding := script.NewGate()
	h.forAgent("investigator", script.Reply{ToolCalls: []llm.ToolCall{call("1", "look", `{}`)}}, script.Reply{Text: "what I know", Gate: concluding})
	h.summary(script.Reply{Text: "in short"})

	one := h.start("one", concludingResolved)
	id := one.submit()
	h.wait(inTool, "the call")
	h.resolves(id, h.clock.Now())
	one.renewRunning(h.ctx)
	leaveTool <- struct{}{}

	h.wait(concluding.Reached(), "the conclusion")
	h.fires(id)
	one.stop()
	concluding.Open()

	two := h.start("two", concludingResolved)
	require.Equal(t, string(tarsy.ForcedResolved), two.completes(id).ConcludedEarly)
	require.Equal(t, 1, h.tools.made("look"))
	h.requireWhole(id)
}

// People ask about resolved alerts too, so the answer is not cut short.
func TestQuestionAboutResolvedAlertIsInvestigated(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigated()
	h.chat()
	h.lookTwice("answerer")

	inTool, leaveTool := make(chan struct{}), make(chan struct{})
	h.tools.during = duringCall(inTool, leaveTool)

	s := h.start("one", concludingResolved)
	id := s.submit()
	s.completes(id)
	h.resolves(id, h.clock.Now())
	question := s.ask(id, "why?")

	for range 2 {
		h.wait(inTool, "a call")
		s.renewRunning(h.ctx)
		leaveTool <- struct{}{}
	}

	require.Equal(t, tarsy.NotForced, s.answered(id, question).Executions[0].ForcedConclusion)
}
