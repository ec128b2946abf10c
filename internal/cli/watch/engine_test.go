package watch

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/client/live"
)

// stage returns an update for a stage that begins or ends.
func (s *story) stage(id, name string, kind tarsy.StageType, index int, status tarsy.Status, seconds float64) client.Update {
	return s.event(tarsy.StageStatusChanged(tarsy.Stage{
		ID: id, SessionID: sessionID, StageName: name, StageType: kind, StageIndex: index, Status: status,
	}, at(seconds)))
}

func (s *story) agent(id, stage, name string, status tarsy.Status, seconds float64) client.Update {
	return s.event(tarsy.ExecutionStatusChanged(tarsy.Execution{ID: id, StageID: stage, SessionID: sessionID, AgentName: name, Status: status}, at(seconds)))
}

// by attributes a timeline event to an agent in a stage.
func by(agent, stage string, e tarsy.TimelineEvent) tarsy.TimelineEvent {
	e.ExecutionID, e.StageID = &agent, &stage

	return e
}

// call returns a completed tool call whose result has this many lines.
func call(id, tool string, seconds float64, lines int) tarsy.TimelineEvent {
	e := timeline(id, tarsy.EventToolCall, tarsy.EventCompleted, strings.TrimSpace(strings.Repeat("a line\n", lines)), seconds)
	e.Metadata = tarsy.NewMetadata(tarsy.ToolCallMetadata{
		ServerName: "cluster", ToolName: tool, Arguments: json.RawMessage("{}"), ToolCallResult: &tarsy.ToolCallResult{DurationMs: 5},
	})

	return e
}

// summary returns the summary of a tool call's result.
func summary(id, callID string, status tarsy.EventStatus, text string, seconds float64) tarsy.TimelineEvent {
	e := timeline(id, tarsy.EventToolSummary, status, text, seconds)
	e.Metadata = tarsy.NewMetadata(tarsy.ToolSummaryMetadata{
		ServerName: "cluster", ToolName: "get_pod_logs", ToolCallEventID: callID, OriginalTokens: 5787,
	})

	return e
}

func replicas(s *story) []client.Update {
	return []client.Update{
		s.session(tarsy.SessionPending, 0),
		s.session(tarsy.SessionInProgress, 1),
		s.stage("stage", "investigation", tarsy.StageInvestigation, 1, tarsy.StatusActive, 1),
		s.agent("one", "stage", "Investigator-1", tarsy.StatusActive, 1),
		s.agent("two", "stage", "Investigator-2", tarsy.StatusActive, 1),
		s.event(tarsy.TimelineCreated(by("one", "stage", timeline("t1", tarsy.EventThinking, tarsy.EventCompleted, "The first looks at pods.", 2)))),
		s.event(tarsy.TimelineCreated(by("two", "stage", timeline("t2", tarsy.EventThinking, tarsy.EventCompleted, "The second reads logs.", 2)))),
		s.event(tarsy.TimelineCreated(by("one", "stage", call("c1", "get_pods", 3, 4)))),
		s.event(tarsy.TimelineCreated(by("two", "stage", call("c2", "get_pod_logs", 3, 248)))),
		s.event(tarsy.TimelineCreated(by("one", "stage", call("c3", "get_events", 4, 4)))),
		s.event(tarsy.TimelineCreated(by("two", "stage", summary("s2", "c2", tarsy.EventStreaming, "", 4)))),
		chunk("s2", "248 lines, 6 of them ", 0, 1), chunk("s2", "errors", 21, 1),
		s.event(tarsy.TimelineCreated(by("one", "stage", timeline("r1", tarsy.EventResponse, tarsy.EventStreaming, "", 5)))),
		chunk("r1", "# One\n\nIt is the cache.", 0, 1),
	}
}

func TestParallelAgentsAreAllVisibleWhileRunning(t *testing.T) {
	t.Parallel()

	var s story

	m := screen(&fake{})
	play(m, replicas(&s)...)
	m.Update(tickMsg(at(7)))
	golden(t, "parallel", show(m))

	press(m, "e", "home")
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 300})
	require.NotContains(t, show(m), "above", "whoever wants all of it gets it")
	require.Equal(t, 256, strings.Count(show(m), "a line"))
}

// team returns a whole session: two agents, their synthesis, a summary, and two questions.
func team(s *story) []client.Update {
	one, two, both := "# One\n\nIt is the cache.", "# Two\n\nIt is the release.", "# Both\n\nThe release brought the cache."
	updates := append(replicas(s),
		s.event(tarsy.TimelineCompleted(by("two", "stage", summary("s2", "c2", tarsy.EventCompleted, "248 lines, 6 of them **errors**.", 6)))),
		s.event(tarsy.TimelineCompleted(timeline("r1", tarsy.EventResponse, tarsy.EventCompleted, one, 6))),
		s.event(tarsy.TimelineCreated(by("one", "stage", timeline("a1", tarsy.EventFinalAnalysis, tarsy.EventCompleted, one, 6)))),
		s.agent("one", "stage", "Investigator-1", tarsy.StatusCompleted, 6))

	forced := by("two", "stage", timeline("a2", tarsy.EventFinalAnalysis, tarsy.EventCompleted, two, 7))
	forced.Metadata = tarsy.NewMetadata(tarsy.FinalAnalysisMetadata{ForcedConclusion: true, Reason: tarsy.ForcedIterations, MaxIterations: 10})

	question := by("chat", "ask", timeline("q", tarsy.EventUserQuestion, tarsy.EventCompleted, "Is it still happening?", 20))
	question.Metadata = tarsy.NewMetadata(tarsy.QuestionMetadata{Author: "maria", ChatID: "c", MessageID: "m"})

	broken := by("chat2", "ask2", timeline("e2", tarsy.EventError, tarsy.EventCompleted, "the model does not answer", 31))
	broken.Metadata = tarsy.NewMetadata(tarsy.ErrorMetadata{Code: "llm_error"})

	return append(updates,
		s.event(tarsy.TimelineCreated(forced)),
		s.agent("two", "stage", "Investigator-2", tarsy.StatusCompleted, 7),
		s.stage("stage", "investigation", tarsy.StageInvestigation, 1, tarsy.StatusCompleted, 7),
		s.stage("synth", "investigation - Synthesis", tarsy.StageSynthesis, 2, tarsy.StatusActive, 7),
		s.agent("three", "synth", "SynthesisAgent", tarsy.StatusActive, 7),
		s.event(tarsy.TimelineCreated(by("three", "synth", timeline("a3", tarsy.EventFinalAnalysis, tarsy.EventCompleted, both, 9)))),
		s.agent("three", "synth", "SynthesisAgent", tarsy.StatusCompleted, 9),
		s.stage("synth", "investigation - Synthesis", tarsy.StageSynthesis, 2, tarsy.StatusCompleted, 9),
		s.event(tarsy.TimelineCreated(atSession(timeline("sum", tarsy.EventExecutiveSummary, tarsy.EventCompleted, "A cache without bound.", 10)))),
		s.session(tarsy.SessionCompleted, 10),
		s.stage("ask", "Chat Response", tarsy.StageChat, 3, tarsy.StatusActive, 20),
		s.agent("chat", "ask", "ChatAgent", tarsy.StatusActive, 20),
		s.event(tarsy.TimelineCreated(question)),
		s.event(tarsy.TimelineCreated(by("chat", "ask", call("c4", "get_pods", 21, 2)))),
		s.event(tarsy.TimelineCreated(by("chat", "ask", timeline("a4", tarsy.EventFinalAnalysis, tarsy.EventCompleted, "**Yes.**", 22)))),
		s.agent("chat", "ask", "ChatAgent", tarsy.StatusCompleted, 22),
		s.stage("ask", "Chat Response", tarsy.StageChat, 3, tarsy.StatusCompleted, 22),
		s.stage("ask2", "Chat Response", tarsy.StageChat, 4, tarsy.StatusActive, 30),
		s.agent("chat2", "ask2", "ChatAgent", tarsy.StatusActive, 30),
		s.event(tarsy.TimelineCreated(by("chat2", "ask2", timeline("q2", tarsy.EventUserQuestion, tarsy.EventCompleted, "Why?", 30)))),
		s.event(tarsy.TimelineCreated(broken)),
		s.stage("ask2", "Chat Response", tarsy.StageChat, 4, tarsy.StatusFailed, 31))
}

func atSession(e tarsy.TimelineEvent) tarsy.TimelineEvent {
	e.ExecutionID, e.StageID = nil, nil

	return e
}

func TestTeamSynthesisAndQuestionsAreShownByType(t *testing.T) {
	t.Parallel()

	var (
		s   story
		out strings.Builder
	)

	m := screen(&fake{})
	lines := NewLines(&out, live.NewSession(detail()))
	lines.Location = time.UTC

	for _, u := range team(&s) {
		play(m, u)
		lines.Take(u)
	}

	m.Update(tea.WindowSizeMsg{Width: 80, Height: 80})
	m.Update(tickMsg(at(60)))
	golden(t, "team", show(m))
	golden(t, "team_lines", strings.TrimSuffix(out.String(), "\n"))
	require.Equal(t, 1, strings.Count(out.String(), "It is the cache."), "the analysis is not told twice")
}

func TestReloadedSessionLooksLikeFollowedOne(t *testing.T) {
	t.Parallel()

	var s story

	updates := team(&s)

	followed, loaded := live.NewSession(detail()), live.NewSession(detail())
	for _, u := range updates {
		followed.Apply(u)
	}

	loaded.Apply(client.Update{Reloaded: reloadedFrom(t, updates)})

	draw := func(session *live.Session) string {
		return strings.Join(newBody(screen(&fake{}).palette, 80, 30, false).lines(session, at(60), "*"), "\n")
	}
	require.Equal(t, draw(followed), draw(loaded))

	before := draw(loaded)
	for _, u := range updates[len(updates)-14:] {
		loaded.Apply(u)
	}

	require.Equal(t, before, draw(loaded), "what comes after it may tell again what is there")
}

// reloadedFrom returns the state of a server after these updates.
func reloadedFrom(t *testing.T, updates []client.Update) *client.Reloaded {
	t.Helper()

	all := &client.Reloaded{Detail: detail()}
	began, ended := at(1), at(10)
	all.Detail.Status, all.Detail.StartedAt, all.Detail.CompletedAt = tarsy.SessionCompleted, &began, &ended
	events := map[string]int{}

	for _, u := range updates {
		if u.Event == nil {
			continue
		}

		switch u.Event.Type {
		case tarsy.TypeStageStatus:
			p, ok := live.Decode[tarsy.StageStatusPayload](*u.Event)
			require.True(t, ok)
			holdStage(all, p)
		case tarsy.TypeExecutionStatus:
			p, ok := live.Decode[tarsy.ExecutionStatusPayload](*u.Event)
			require.True(t, ok)
			holdExecution(all, p)
		case tarsy.TypeTimelineCreated:
			p, ok := live.Decode[tarsy.TimelineCreatedPayload](*u.Event)
			require.True(t, ok)

			events[p.EventID] = len(all.Timeline)
			all.Timeline = append(all.Timeline, tarsy.TimelineEvent{
				ID: p.EventID, StageID: p.StageID, ExecutionID: p.ExecutionID, EventType: p.EventType, Status: p.Status, Content: p.Content,
				Metadata: p.Metadata, CreatedAt: p.Timestamp,
			})
		case tarsy.TypeTimelineCompleted:
			p, ok := live.Decode[tarsy.TimelineCompletedPayload](*u.Event)
			require.True(t, ok)

			e := &all.Timeline[events[p.EventID]]
			e.Status, e.Content, e.CompletedAt = p.Status, p.Content, &p.Timestamp
		}
	}

	raw, err := json.Marshal(all)
	require.NoError(t, err)

	var decoded client.Reloaded
	require.NoError(t, json.Unmarshal(raw, &decoded), "as it comes over the wire")

	return &decoded
}

func holdStage(all *client.Reloaded, p tarsy.StageStatusPayload) {
	if p.Status == tarsy.StageStarted {
		all.Detail.Stages = append(all.Detail.Stages, tarsy.StageDetail{Stage: tarsy.Stage{
			ID: p.StageID, StageName: p.StageName, StageType: p.StageType, StageIndex: p.StageIndex, Status: tarsy.StatusActive, StartedAt: &p.Timestamp,
		}})

		return
	}

	for i := range all.Detail.Stages {
		if all.Detail.Stages[i].ID == p.StageID {
			all.Detail.Stages[i].Status, all.Detail.Stages[i].CompletedAt = tarsy.Status(p.Status), &p.Timestamp
		}
	}
}

func holdExecution(all *client.Reloaded, p tarsy.ExecutionStatusPayload) {
	for i := range all.Detail.Stages {
		stage := &all.Detail.Stages[i]
		if stage.ID != p.StageID {
			continue
		}

		if p.Status == tarsy.StageStarted {
			stage.Executions = append(stage.Executions, tarsy.ExecutionDetail{Execution: tarsy.Execution{
				ID: p.ExecutionID, AgentName: p.AgentName, Status: tarsy.StatusActive, StartedAt: &p.Timestamp,
			}})

			continue
		}

		for j := range stage.Executions {
			if stage.Executions[j].ID == p.ExecutionID {
				stage.Executions[j].Status, stage.Executions[j].CompletedAt = tarsy.Status(p.Status), &p.Timestamp
			}
		}
	}
}

func TestAnswerCanBeCancelledAfterSessionEnds(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := screen(f)
	play(m, s.begin()...)
	play(m, s.session(tarsy.SessionCompleted, 5))
	press(m, "tab")
	press(m, "c")
	require.NotContains(t, show(m), "Cancel this", "nothing is under way")

	play(m, s.stage("ask", "Chat Response", tarsy.StageChat, 2, tarsy.StatusActive, 8))
	require.Contains(t, show(m), "● live")
	press(m, "c")
	require.Contains(t, show(m), "Cancel this answer?")
	press(m, "y")
	require.Contains(t, f.calls, "cancel "+sessionID)
}

func TestTextProtocolLooksLikeAnyOtherAgent(t *testing.T) {
	t.Parallel()

	var (
		s   story
		out strings.Builder
	)

	m := screen(&fake{})
	lines := NewLines(&out, live.NewSession(detail()))
	final := "Thought: That settles it.\nFinal Answer: # False alarm\n\nIt was the nightly run."

	for _, u := range append(s.begin(),
		s.event(tarsy.TimelineCreated(timeline("r1", tarsy.EventResponse, tarsy.EventStreaming, "", 2))),
		s.event(tarsy.TimelineCompleted(timeline("r1", tarsy.EventResponse, tarsy.EventCompleted,
			"Thought: First the job.\nAction: cluster.get_job\nAction Input: {\"name\":\"x\"}", 3))),
		s.event(tarsy.TimelineCreated(call("c1", "get_job", 3, 2))),
		s.event(tarsy.TimelineCreated(timeline("r2", tarsy.EventResponse, tarsy.EventStreaming, "", 4))),
		s.event(tarsy.TimelineCompleted(timeline("r2", tarsy.EventResponse, tarsy.EventCompleted, final, 5))),
		s.event(tarsy.TimelineCreated(timeline("a", tarsy.EventFinalAnalysis, tarsy.EventCompleted, "# False alarm\n\nIt was the nightly run.", 5))),
		s.session(tarsy.SessionCompleted, 6)) {
		play(m, u)
		lines.Take(u)
	}

	for name, text := range map[string]string{"screen": show(m), "lines": out.String()} {
		require.Contains(t, text, "First the job.", name)
		require.Contains(t, text, "That settles it.", name)
		require.Equal(t, 1, strings.Count(text, "nightly run"), "%s: the answer is told once: %s", name, text)

		for _, form := range []string{"Thought:", "Action", "Final Answer"} {
			require.NotContains(t, text, form, name)
		}
	}
}

func TestEarlyEndIsShownWithItsReason(t *testing.T) {
	t.Parallel()

	var (
		s   story
		out strings.Builder
	)

	warning := atSession(timeline("w", tarsy.EventError, tarsy.EventCompleted, "The runbook could not be read: 404.", 1))
	warning.Metadata = tarsy.NewMetadata(tarsy.ErrorMetadata{Code: "runbook_unavailable"})

	forced := timeline("a", tarsy.EventFinalAnalysis, tarsy.EventCompleted, "Likely memory.", 5)
	forced.Metadata = tarsy.NewMetadata(tarsy.FinalAnalysisMetadata{
		ForcedConclusion: true, Reason: tarsy.ForcedDeadline, MaxIterations: 10, UnknownCitations: []string{"1.1.9", "7.1.1"},
	})

	failed := summary("s", "c", tarsy.EventFailed, "The result was not summarised; the agent was given all of it.", 4)

	m := screen(&fake{})
	lines := NewLines(&out, live.NewSession(detail()))

	for _, u := range append([]client.Update{s.event(tarsy.TimelineCreated(warning))}, append(s.begin(),
		s.event(tarsy.TimelineCreated(call("c", "get_pod_logs", 3, 9))),
		s.event(tarsy.TimelineCreated(failed)),
		s.event(tarsy.TimelineCreated(forced)),
		s.event(tarsy.SessionStatusChanged(tarsy.Session{ID: sessionID, Status: tarsy.SessionCompleted, ConcludedEarly: "deadline"}, at(6))))...) {
		play(m, u)
		lines.Take(u)
	}

	m.Update(tea.WindowSizeMsg{Width: 80, Height: 60})

	for _, wanted := range []string{
		"! The runbook could not be read: 404.", "runbook_unavailable", "! forced to conclude: almost out of time",
		"! cites unknown calls: 1.1.9, 7.1.1",
		"The result was not summarised", "… 4 more lines", "✓ completed after 5.0 s, concluded early: almost out of time",
	} {
		require.Contains(t, show(m), wanted)
	}

	for _, wanted := range []string{
		"warning   The runbook could not be read: 404. (runbook_unavailable)", "analysis  (cites unknown calls: 1.1.9, 7.1.1) (forced to conclude: almost out of time) Likely memory.",
		"(failed) The result was not summarised", "session   completed after 5.0 s, concluded early",
	} {
		require.Contains(t, out.String(), wanted)
	}
}

func TestTeamFitsAnyWindow(t *testing.T) {
	t.Parallel()

	for name, updates := range map[string]func(*story) []client.Update{"at work": replicas, "done": team} {
		var s story

		m := screen(&fake{})
		play(m, updates(&s)...)

		for _, size := range [][2]int{{1, 1}, {3, 4}, {7, 5}, {12, 6}, {40, 10}, {200, 60}} {
			m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})

			lines := strings.Split(m.View().Content, "\n")
			require.Len(t, lines, size[1], name)

			for _, line := range lines {
				require.LessOrEqual(t, terminal.Width(line), size[0], "%s: %s", name, line)
			}
		}
	}
}

func TestLinesFitTerminalWidth(t *testing.T) {
	t.Parallel()

	const width = 50

	var (
		s   story
		out strings.Builder
	)

	lines := NewLines(&out, live.NewSession(detail()))
	lines.Location, lines.Width = time.UTC, width
	wide := call("c", "get_pods", 3, 1)
	wide.Content = strings.Repeat("x", 200)

	for _, u := range append(s.begin(),
		s.event(tarsy.TimelineCreated(wide)),
		s.event(tarsy.TimelineCreated(timeline("t", tarsy.EventThinking, tarsy.EventCompleted, strings.Repeat("every word ", 12), 4)))) {
		lines.Take(u)
	}

	for line := range strings.Lines(out.String()) {
		require.LessOrEqual(t, terminal.Width(strings.TrimSpace(line)), width)
	}

	require.Contains(t, out.String(), "xxx…\n", "results are cut")
	require.Equal(t, 12, strings.Count(out.String(), "every"), "words are not")
}
