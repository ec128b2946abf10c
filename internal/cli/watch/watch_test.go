package watch

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/client/live"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const sessionID = "01a1dd25-f6ce-7873-a1bf-687dc6c4567e"

func start() time.Time { return time.Date(2026, 3, 17, 9, 42, 0, 0, time.UTC) }

func at(seconds float64) time.Time { return start().Add(time.Duration(seconds * float64(time.Second))) }

// golden compares a screen with a golden file, or rewrites the file under -update.
func golden(t *testing.T, name, got string) {
	t.Helper()

	path := filepath.Join("testdata", name+".golden")
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got+"\n"), 0o600))
	}

	want, err := os.ReadFile(path)
	require.NoError(t, err)

	if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
		t.Errorf("%s is not up to date; run go test ./internal/cli/watch -update (-want +got):\n%s", name, diff)
	}
}

// show renders the screen without trailing spaces.
func show(m *model) string {
	lines := strings.Split(m.View().Content, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}

	return strings.Join(lines, "\n")
}

// fake records the actions of a screen.
type fake struct {
	calls []string
	items []tarsy.SessionItem
	err   error // of a question
}

func (f *fake) actions() actions {
	return actions{
		Open:    func(id string) { f.calls = append(f.calls, "open "+id) },
		Leave:   func() { f.calls = append(f.calls, "leave") },
		List:    func() ([]tarsy.SessionItem, error) { return f.items, nil },
		Cancel:  func(id string) error { f.calls = append(f.calls, "cancel "+id); return nil },
		Approve: func(id string) error { f.calls = append(f.calls, "approve "+id); return f.err },
		Reject:  func(id, reason string) error { f.calls = append(f.calls, "reject "+id+" "+reason); return f.err },
		Ask: func(_, question string) (client.Asked, error) {
			f.calls = append(f.calls, "ask "+question)

			return client.Asked{StageID: "answer", MessageID: "message"}, f.err
		},
	}
}

// screen returns an 80x24 model that shows a session.
func screen(f *fake) *model {
	m := newModel(modelConfig{Actions: f.actions(), Server: "http://127.0.0.1:8080", SessionID: sessionID, Now: at(0), Width: 80, Height: 24})
	m.Init()
	m.Update(openedMsg{detail: detail()})

	return m
}

func detail() tarsy.SessionDetail {
	return tarsy.SessionDetail{Session: tarsy.Session{
		ID: sessionID, AlertType: "pod-oom-killed", ChainID: "kubernetes", Author: "api-client", CreatedAt: start(),
		Status: tarsy.SessionPending, AlertData: "checkout was killed\nnamespace: shop",
	}}
}

func play(m *model, updates ...client.Update) {
	for _, u := range updates {
		m.Update(updateMsg{id: sessionID, update: u})
	}
}

// keyOf returns a key by its name, or by the text it types.
func keyOf(name string) tea.KeyPressMsg {
	codes := map[string]rune{
		"up": tea.KeyUp, "down": tea.KeyDown, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"enter": tea.KeyEnter, "kpenter": tea.KeyKpEnter, "tab": tea.KeyTab, "esc": tea.KeyEscape,
	}

	if code, ok := codes[name]; ok {
		return tea.KeyPressMsg{Code: code}
	}

	if control, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return tea.KeyPressMsg{Code: []rune(control)[0], Mod: tea.ModCtrl}
	}

	return tea.KeyPressMsg{Text: name, Code: []rune(name)[0]}
}

// press presses keys and delivers the resulting messages. It reports whether the last key left the screen.
func press(m *model, keys ...string) (left bool) {
	for _, key := range keys {
		left = false

		if _, cmd := m.Update(keyOf(key)); cmd != nil {
			if msg := cmd(); msg != nil {
				_, left = msg.(tea.QuitMsg)
				m.Update(msg)
			}
		}
	}

	return left
}

// story generates the updates of one session. number counts its events.
type story struct{ number int64 }

func (s *story) event(e tarsy.Event) client.Update {
	s.number++
	e.Seq = s.number

	return client.Update{Event: &e}
}

func (s *story) session(status tarsy.SessionStatus, seconds float64) client.Update {
	return s.event(tarsy.SessionStatusChanged(tarsy.Session{ID: sessionID, Status: status}, at(seconds)))
}

func (s *story) begin() []client.Update {
	return []client.Update{
		s.session(tarsy.SessionPending, 0),
		s.session(tarsy.SessionInProgress, 1),
		s.event(tarsy.StageStatusChanged(tarsy.Stage{ID: "stage", SessionID: sessionID, StageName: "investigation", StageIndex: 1, Status: tarsy.StatusActive}, at(1))),
		s.event(tarsy.ExecutionStatusChanged(tarsy.Execution{ID: "run", StageID: "stage", SessionID: sessionID, AgentName: "Investigator", Status: tarsy.StatusActive}, at(1))),
	}
}

func timeline(id string, kind tarsy.EventType, status tarsy.EventStatus, content string, seconds float64) tarsy.TimelineEvent {
	run := "run"

	return tarsy.TimelineEvent{
		ID: id, SessionID: sessionID, ExecutionID: &run, EventType: kind, Status: status, Content: content,
		CreatedAt: at(seconds), UpdatedAt: at(seconds),
	}
}

func chunk(id, text string, offset int, fence int64) client.Update {
	return client.Update{Chunk: &tarsy.StreamChunkPayload{EventID: id, Delta: text, Offset: offset, Fence: fence}}
}

func (s *story) tool(seconds float64) []client.Update {
	call := timeline("tool", tarsy.EventToolCall, tarsy.EventStreaming, "", seconds)
	call.Metadata = tarsy.NewMetadata(tarsy.ToolCallMetadata{
		Call: "1.1.1", ServerName: "cluster", ToolName: "get_pods", Arguments: json.RawMessage(`{"namespace":"shop","previous":true}`),
	})
	created := s.event(tarsy.TimelineCreated(call))

	call.Status, call.Content = tarsy.EventCompleted, "NAME        STATUS\ncheckout-1  OOMKilled\na\nb\nc\nd\ne\nf"
	call.Metadata = tarsy.NewMetadata(tarsy.ToolCallResult{DurationMs: 12})

	return []client.Update{created, s.event(tarsy.TimelineCompleted(call))}
}

func TestScreenWhileModelThinks(t *testing.T) {
	t.Parallel()

	var s story

	m := screen(&fake{})
	play(m, s.begin()...)
	play(m, s.event(tarsy.TimelineCreated(timeline("think", tarsy.EventThinking, tarsy.EventStreaming, "", 2))),
		chunk("think", "The pod was killed, so the first question is ", 0, 1), chunk("think", "whether it leaks.", 45, 1))
	m.Update(tickMsg(at(4)))
	golden(t, "thinking", show(m))
}

func TestScreenOfFinishedSession(t *testing.T) {
	t.Parallel()

	var s story

	m := screen(&fake{})
	play(m, s.begin()...)
	play(m, s.tool(3)...)

	analysis := "## Root cause\n\nThe cache has **no bound**.\n\n1. Roll back with `kubectl rollout undo`."
	play(m,
		s.event(tarsy.TimelineCreated(timeline("text", tarsy.EventResponse, tarsy.EventStreaming, "", 4))),
		s.event(tarsy.TimelineCompleted(timeline("text", tarsy.EventResponse, tarsy.EventCompleted, analysis, 5))),
		s.event(tarsy.TimelineCreated(timeline("final", tarsy.EventFinalAnalysis, tarsy.EventCompleted, analysis, 5))),
		s.event(tarsy.StageStatusChanged(tarsy.Stage{ID: "stage", SessionID: sessionID, StageName: "investigation", StageIndex: 1, Status: tarsy.StatusCompleted}, at(5))),
		s.event(tarsy.TimelineCreated(timeline("sum", tarsy.EventExecutiveSummary, tarsy.EventCompleted, "A cache without bound.", 6))),
		s.session(tarsy.SessionCompleted, 6), client.Update{End: tarsy.SessionCompleted})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 36})
	m.Update(tickMsg(at(60)))
	golden(t, "finished", show(m))
	require.Equal(t, 1, strings.Count(show(m), "no bound"), "the analysis is not shown twice")
}

func TestViewFollowsEndOnlyWhenScrolledToEnd(t *testing.T) {
	t.Parallel()

	var s story

	m := screen(&fake{})
	play(m, s.begin()...)

	long := timeline("text", tarsy.EventResponse, tarsy.EventStreaming, strings.Repeat("- a line\n", 60)+"- the end", 2)
	play(m, s.event(tarsy.TimelineCreated(long)))
	require.Contains(t, show(m), "the end", "at first the end is in sight")

	press(m, "up", "up")
	require.NotContains(t, show(m), "the end")

	top := m.top
	play(m, chunk("text", "\n- more\n- and more", tarsy.UTF16Len(long.Content), 0))
	show(m)
	require.Equal(t, top, m.top, "who reads further up is left alone")
	require.Contains(t, show(m), "lines below")

	press(m, "end")
	require.Contains(t, show(m), "and more")

	press(m, "home")
	require.Contains(t, show(m), "Alert · pod-oom-killed")
}

func TestCancelAsksForConfirmation(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := screen(f)
	play(m, s.begin()...)

	press(m, "c")
	require.Contains(t, show(m), "Cancel this session?")
	press(m, "n")
	require.NotContains(t, f.calls, "cancel "+sessionID)

	press(m, "c", "y")
	require.Contains(t, f.calls, "cancel "+sessionID)
	require.Contains(t, show(m), "cancellation requested")

	play(m, s.session(tarsy.SessionCancelled, 9))
	press(m, "c")
	require.NotContains(t, show(m), "Cancel this session?", "what is over cannot be cancelled")
}

func TestLostConnectionAndReconnectAreShown(t *testing.T) {
	t.Parallel()

	var s story

	m := screen(&fake{})
	play(m, s.begin()...)
	play(m, client.Update{Lost: os.ErrClosed})
	require.Contains(t, show(m), "connection lost, reconnecting…")
	play(m, client.Update{Back: true})
	require.Contains(t, show(m), "connected again, caught up")
}

func TestSessionsCanBeChosenFromList(t *testing.T) {
	t.Parallel()

	f := &fake{items: []tarsy.SessionItem{
		{ID: "01a1dd25-f6d5-7262-b61a-75193205f71f", AlertType: "high-cpu", Status: tarsy.SessionInProgress, CreatedAt: at(-20)},
		{ID: sessionID, AlertType: "crash-loop", Status: tarsy.SessionCompleted, CreatedAt: at(-90), ExecutiveSummary: "A typo in a ConfigMap."},
		{ID: "01a1dd25-0000-7262-b61a-000000000000", AlertType: "bad\x1b[2J", Status: tarsy.SessionFailed, CreatedAt: at(-7200), ErrorMessage: "no model"},
	}}
	m := newModel(modelConfig{Actions: f.actions(), Server: "http://127.0.0.1:8080", Now: at(0), Width: 80, Height: 14})
	m.Init()
	m.Update(m.load()())
	press(m, "down")
	golden(t, "list", show(m))

	press(m, "enter")
	require.Equal(t, []string{"open " + sessionID}, f.calls)
	press(m, "esc")
	require.Equal(t, []string{"open " + sessionID, "leave"}, f.calls)
	require.Contains(t, show(m), "choose a session")
}

func TestTextChunksAreJoined(t *testing.T) {
	t.Parallel()

	streaming := func(updates ...client.Update) string {
		var st story

		s := live.NewSession(detail())
		for _, u := range append([]client.Update{st.event(tarsy.TimelineCreated(timeline("e", tarsy.EventResponse, tarsy.EventStreaming, "", 1)))}, updates...) {
			s.Apply(u)
		}

		return s.Find("e").Content
	}

	require.Equal(t, "one two", streaming(chunk("e", "one ", 0, 1), chunk("e", "two", 4, 1)))
	require.Equal(t, "one two", streaming(chunk("e", "one ", 0, 1), chunk("e", "one two", 0, 1)), "sent again from the beginning")
	require.Equal(t, "🙂x", streaming(chunk("e", "🙂", 0, 1), chunk("e", "x", 2, 1)), "offsets count as browsers do")
	require.Equal(t, "new", streaming(chunk("e", "old", 0, 1), chunk("e", "new", 0, 2)), "a new holder starts over")
	require.Equal(t, "new", streaming(chunk("e", "new", 0, 2), chunk("e", "old", 3, 1)), "an old holder is not heard")
	require.Equal(t, "one […] three", streaming(chunk("e", "one", 0, 1), chunk("e", "three", 10, 1)), "what was lost is marked")
}

func TestLinesArePrintedWhenFinal(t *testing.T) {
	t.Parallel()

	var (
		s   story
		out strings.Builder
	)

	lines := NewLines(&out, live.NewSession(detail()))
	lines.Location = time.UTC

	answer := timeline("text", tarsy.EventResponse, tarsy.EventStreaming, "", 4)
	done := timeline("text", tarsy.EventResponse, tarsy.EventCompleted, "The cache has no bound.\n\nRoll back.", 5)
	updates := append(s.begin(), s.tool(3)...)
	updates = append(updates,
		s.event(tarsy.TimelineCreated(answer)), chunk("text", "The ca", 0, 1), s.event(tarsy.TimelineCompleted(done)),
		s.event(tarsy.TimelineCreated(timeline("final", tarsy.EventFinalAnalysis, tarsy.EventCompleted, done.Content, 5))),
		s.session(tarsy.SessionCompleted, 6), client.Update{End: tarsy.SessionCompleted})

	for _, u := range updates {
		lines.Take(u)
	}

	golden(t, "lines", strings.TrimSuffix(out.String(), "\n"))
}

func TestHostileTextDoesNotReachTerminal(t *testing.T) {
	t.Parallel()

	const evil = "a\x1b]0;owned\x07b\x1b[2Jc\u009b31md\u202ee\rf\x08g"

	hostile := detail()
	hostile.AlertData, hostile.AlertType, hostile.Author, hostile.ChainID = evil, evil, evil, evil

	call := timeline("tool", tarsy.EventToolCall, tarsy.EventCompleted, evil, 3)
	call.Metadata = metadata(t, map[string]any{"call": evil, "server_name": evil, "tool_name": evil, "arguments": map[string]any{evil: evil, "n": []any{evil}}})

	var (
		s   story
		out strings.Builder
	)

	updates := []client.Update{
		s.event(tarsy.SessionStatusChanged(tarsy.Session{ID: sessionID, Status: tarsy.SessionFailed, ErrorMessage: evil}, at(1))),
		s.event(tarsy.StageStatusChanged(tarsy.Stage{ID: "stage", StageName: evil, Status: tarsy.Status(evil)}, at(1))),
		s.event(tarsy.ExecutionStatusChanged(tarsy.Execution{ID: "run", AgentName: evil, Status: tarsy.Status(evil), ErrorMessage: evil}, at(1))),
		s.event(tarsy.TimelineCreated(call)),
		s.event(tarsy.StageStatusChanged(tarsy.Stage{ID: "twice", StageName: evil, StageType: tarsy.StageSynthesis, Status: tarsy.StatusActive}, at(1))),
		s.event(tarsy.ExecutionStatusChanged(tarsy.Execution{ID: "a", StageID: "twice", AgentName: evil, Status: tarsy.StatusActive}, at(1))),
		s.event(tarsy.ExecutionStatusChanged(tarsy.Execution{ID: "b", StageID: "twice", AgentName: evil, Status: tarsy.StatusActive}, at(1))),
		s.event(tarsy.StageStatusChanged(tarsy.Stage{ID: "asked", StageName: evil, StageType: tarsy.StageChat, Status: tarsy.StatusActive}, at(1))),
	}
	for i, kind := range []tarsy.EventType{
		tarsy.EventThinking, tarsy.EventResponse, tarsy.EventFinalAnalysis, tarsy.EventExecutiveSummary, tarsy.EventError, tarsy.EventUserQuestion,
		tarsy.EventToolSummary, tarsy.EventCodeExecution, tarsy.EventGoogleSearch, tarsy.EventURLContext, evil,
	} {
		for where, stage := range map[string]string{"": "stage", " twice": "twice", " asked": "asked"} {
			event := timeline(string(kind)+where, kind, tarsy.EventCompleted, "Thought: "+evil, float64(i))
			event.StageID = &stage
			event.Metadata = metadata(t, map[string]any{
				"code": evil, "author": evil, "reason": evil, "forced_conclusion": true, "max_iterations": 1e300, "original_tokens": -1.5,
				"server_name": evil, "tool_name": evil, "tool_call_event_id": map[string]any{"": "tool", " twice": 7, " asked": evil}[where],
				"queries": []any{evil, 7, nil}, "sources": evil, "unknown_citations": []any{evil, 7, nil}, "citations": evil,
			})
			updates = append(updates, s.event(tarsy.TimelineCreated(event)))
		}
	}

	updates = append(updates, s.event(tarsy.SessionStatusChanged(tarsy.Session{ID: sessionID, Status: tarsy.SessionCompleted, ConcludedEarly: evil}, at(1))))

	m := newModel(modelConfig{Actions: (&fake{}).actions(), SessionID: sessionID, Now: at(0), Width: 80, Height: 400})
	m.Init()
	m.Update(openedMsg{detail: hostile})

	lines := NewLines(&out, live.NewSession(hostile))

	for _, u := range updates {
		play(m, u)
		lines.Take(u)
	}

	for name, text := range map[string]string{"screen": m.View().Content, "lines": out.String()} {
		require.Contains(t, text, "abcde", name)
		// Clean leaves clean text unchanged.
		require.Equal(t, terminal.Clean(text), text, name)
	}
}

func TestAnyWindowSizeIsFilledExactly(t *testing.T) {
	t.Parallel()

	var s story

	m := screen(&fake{})
	play(m, s.begin()...)
	play(m, s.tool(2)...)

	for _, size := range [][2]int{{1, 1}, {10, 5}, {20, 6}, {40, 10}, {200, 60}} {
		m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})

		lines := strings.Split(m.View().Content, "\n")
		require.Len(t, lines, size[1])

		for _, line := range lines {
			require.LessOrEqual(t, terminal.Width(line), size[0], line)
		}
	}
}

// metadata returns what another release, or an attacker, might have written.
func metadata(t *testing.T, keys map[string]any) tarsy.Metadata {
	t.Helper()

	raw, err := json.Marshal(keys)
	require.NoError(t, err)

	return raw
}
