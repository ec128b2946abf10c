package watch

import (
	"errors"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// over returns the screen of a session that has ended.
func over(f *fake, s *story) *model {
	m := screen(f)
	play(m, s.begin()...)
	play(m, s.session(tarsy.SessionCompleted, 5))

	return m
}

// answer sets the status of the stage that answers a question from the screen.
func (s *story) answer(m *model, status tarsy.Status) {
	play(m, s.event(tarsy.StageStatusChanged(tarsy.Stage{
		ID: "answer", SessionID: sessionID, StageName: "Chat", StageType: tarsy.StageChat, StageIndex: 2, Status: status,
	}, at(6))))
}

func pressInterrupt(m *model) tea.Msg {
	_, cmd := m.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
	if cmd == nil {
		return nil
	}

	msg := cmd()
	m.Update(msg)

	return msg
}

func TestQuestionIsAskedFromInputLineOfFinishedSession(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := screen(f)
	play(m, s.begin()...)
	press(m, "enter")
	require.Contains(t, show(m), "\n the session has not ended yet", "a hint while it runs")

	play(m, s.session(tarsy.SessionCompleted, 5))
	press(m, "q", "u", "e", "?")
	require.Contains(t, show(m), "\n > que?\n", "keys are text")
	press(m, "enter")
	require.Equal(t, []string{"open " + sessionID, "ask que?"}, f.calls)

	s.answer(m, tarsy.StatusActive)
	press(m, "n", "o", "enter")
	require.Len(t, f.calls, 2, "one question at a time")
	require.Contains(t, show(m), "an answer is in progress")
	s.answer(m, tarsy.StatusCompleted)
	press(m, "enter")
	require.Equal(t, "ask no", f.calls[2], "what was typed is kept")
}

func TestCtrlCCancelsAnswerAskedHereThenLeaves(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := over(f, &s)
	press(m, "w", "enter")
	s.answer(m, tarsy.StatusActive)
	require.IsType(t, cancelMsg{}, pressInterrupt(m))
	require.Equal(t, "cancel "+sessionID, f.calls[len(f.calls)-1])
	require.IsType(t, tea.QuitMsg{}, pressInterrupt(m), "the second one leaves")

	// Answers to other users' questions are left alone.
	var other story

	f = &fake{}
	m = over(f, &other)
	other.answer(m, tarsy.StatusActive)
	require.IsType(t, tea.QuitMsg{}, pressInterrupt(m))
	require.Equal(t, []string{"open " + sessionID}, f.calls)
}

func TestRefusedQuestionStaysInInputLine(t *testing.T) {
	t.Parallel()

	var s story

	m := over(&fake{err: errors.New("busy\x1b[2J")}, &s)
	press(m, "w", "h", "y", "enter")
	require.Contains(t, show(m), "\n > why\n not asked: busy")
	require.IsType(t, tea.QuitMsg{}, pressInterrupt(m), "there is nothing to cancel")
}

// While the journal of a finished session is read from its beginning, the user can already type.
func TestFinishedSessionTakesQuestionsWhileItsJournalIsRead(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := over(f, &s)
	play(m, s.session(tarsy.SessionInProgress, 1))
	press(m, "h", "m", "?", "enter")
	require.Equal(t, []string{"open " + sessionID, "ask hm?"}, f.calls)
}

// refused plays the event of a question that was accepted and cannot be answered.
func (s *story) refused(m *model) {
	event := tarsy.TimelineEvent{
		ID: "refusal", SessionID: sessionID, EventType: tarsy.EventError, Status: tarsy.EventCompleted,
		Content: "A question cannot be answered: it could not be stored.", CreatedAt: at(6), UpdatedAt: at(6),
	}
	event.Metadata = tarsy.NewMetadata(tarsy.ErrorMetadata{Code: tarsy.ErrorQuestionRefused, MessageID: "message"})
	play(m, s.event(tarsy.TimelineCreated(event)))
}

func TestQuestionRefusedAfterItWasAcceptedIsNotInProgress(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := over(f, &s)
	press(m, "w", "h", "y", "enter")
	require.Contains(t, show(m), "ctrl+c cancel")
	s.refused(m)
	require.Contains(t, show(m), "\n > why\n not asked: A question cannot be answered: it could not be stored.", "it can be sent again")
	require.IsType(t, tea.QuitMsg{}, pressInterrupt(m), "there is nothing to cancel")

	press(m, "enter")
	require.Equal(t, []string{"open " + sessionID, "ask why", "ask why"}, f.calls)

	// The journal may be faster than the response to the request.
	var early story

	f = &fake{}
	m = over(f, &early)
	press(m, "w", "h", "y")
	_, ask := m.Update(tea.KeyPressMsg{Code: tea.KeyEnter})
	early.refused(m)
	require.Nil(t, pressInterrupt(m), "the response is waited for")
	m.Update(ask())
	require.Contains(t, show(m), "\n > why\n not asked: ")
	require.Equal(t, []string{"open " + sessionID, "ask why"}, f.calls, "nothing is cancelled")
	require.IsType(t, tea.QuitMsg{}, pressInterrupt(m))
}

// asked plays an earlier question of the session with its answer.
func (s *story) asked(m *model, id, question string) {
	stage := tarsy.Stage{ID: id, SessionID: sessionID, StageType: tarsy.StageChat, StageIndex: 2, Status: tarsy.StatusActive}
	play(m, s.event(tarsy.StageStatusChanged(stage, at(6))))

	for _, event := range []tarsy.TimelineEvent{
		{ID: id + "-question", EventType: tarsy.EventUserQuestion, Content: question}, {ID: id + "-answer", EventType: tarsy.EventFinalAnalysis, Content: "Because."},
	} {
		event.SessionID, event.StageID, event.Status, event.CreatedAt = sessionID, &id, tarsy.EventCompleted, at(6)
		play(m, s.event(tarsy.TimelineCreated(event)))
	}

	stage.Status = tarsy.StatusCompleted
	play(m, s.event(tarsy.StageStatusChanged(stage, at(7))))
}

func TestTabMovesKeysBetweenInputLineAndSession(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := over(f, &s)
	require.Contains(t, show(m), "\n > Ask a question about this session\n")
	press(m, "w", "tab")
	require.Contains(t, show(m), "\n > Tab to ask a question\n")
	require.Nil(t, m.View().Cursor)
	m.Update(tea.PasteMsg{Content: "pasted"})
	press(m, "e")
	require.Contains(t, show(m), "e collapse", "keys are commands")
	press(m, "tab")
	require.Contains(t, show(m), "\n > w\n", "what was typed is kept, and nothing was added")
	require.Equal(t, tea.Position{X: len(" > w"), Y: 22}, m.View().Cursor.Position)

	m.Update(tea.PasteMsg{Content: "hy\n?"})
	require.Contains(t, show(m), "\n > why ?\n")
	press(m, "kpenter")
	require.Equal(t, "ask why ?", f.calls[len(f.calls)-1])
}

func TestInputLineIsClearedThenLeft(t *testing.T) {
	t.Parallel()

	for _, key := range []string{"esc", "ctrl+d"} {
		var s story

		m := over(&fake{}, &s)
		press(m, "w", "home")
		require.False(t, press(m, key), "%s takes back what was typed", key)
		require.Contains(t, show(m), "\n > Ask a question", key)
		require.True(t, press(m, key), "%s leaves an empty line", key)
	}

	for _, command := range []string{"q", "/exit"} {
		var s story

		f := &fake{}
		m := over(f, &s)
		press(m, strings.Split(command, "")...)
		require.True(t, press(m, "enter"), command)
		require.Len(t, f.calls, 1, "it is not asked")
	}

	var s story

	f := &fake{}
	m := over(f, &s)
	require.False(t, press(m, " ", "enter"))
	require.Len(t, f.calls, 1, "an empty line is not asked")
}

func TestInputLineRecallsQuestionsOfSession(t *testing.T) {
	t.Parallel()

	var s story

	m := over(&fake{}, &s)
	s.asked(m, "first", "why?")
	s.asked(m, "second", "and\x1b[2J now?")
	press(m, "d", "up")
	require.Contains(t, show(m), "\n > and now?\n")
	press(m, "up", "up")
	require.Contains(t, show(m), "\n > why?\n", "answers are not recalled")
	press(m, "down", "down")
	require.Contains(t, show(m), "\n > d\n", "what was typed comes back")
}

func TestScrollKeysWorkWhileTyping(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := over(f, &s)
	s.asked(m, "first", strings.Repeat("line\n\n", 30)+"last line")
	require.Contains(t, show(m), "last line")
	press(m, "pgup")
	require.Contains(t, show(m), "lines below")
	require.NotContains(t, show(m), "last line")
	press(m, "pgdown")
	require.Contains(t, show(m), "last line")

	press(m, "pgup", "?", "enter")
	require.NotContains(t, show(m), "lines below", "who asks wants to see the answer")
	require.Equal(t, "ask ?", f.calls[1])
}

func TestQuestionIsSentOnceWhileServerHasNotResponded(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := over(f, &s)
	press(m, "w")
	_, ask := m.Update(keyOf("enter"))
	require.Contains(t, show(m), "ctrl+c cancel")
	press(m, "n", "o", "enter")
	require.Contains(t, show(m), "\n > no\n an answer is in progress; ask when it has ended")
	press(m, "!")
	require.NotContains(t, show(m), "an answer is in progress", "the next key removes the notice")

	// Text typed in the meantime is kept if the question is refused.
	f.err = errors.New("busy\nnow")
	m.Update(ask())
	require.Contains(t, show(m), "\n > no!\n not asked: busy now")
	require.Equal(t, []string{"open " + sessionID, "ask w"}, f.calls)
}

func TestCtrlCBeforeServerRespondsCancelsAnswerOnce(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := over(f, &s)
	press(m, "w")
	_, ask := m.Update(keyOf("enter"))
	require.False(t, press(m, "ctrl+c"))
	require.Contains(t, show(m), "cancelling the answer; press Ctrl-C again to leave")
	require.Len(t, f.calls, 1, "there is nothing to cancel yet")

	_, cancel := m.Update(ask())
	require.NotNil(t, cancel)
	m.Update(cancel())
	require.Equal(t, []string{"open " + sessionID, "ask w", "cancel " + sessionID}, f.calls)
	s.answer(m, tarsy.StatusActive)
	s.answer(m, tarsy.StatusCancelled)

	// A new answer is not affected by the cancellation.
	press(m, "x", "enter")
	require.Equal(t, "ask x", f.calls[len(f.calls)-1], "it is not cancelled")
	m.question.asked.StageID = "next"
	require.False(t, press(m, "ctrl+c"))
	require.Equal(t, "cancel "+sessionID, f.calls[len(f.calls)-1])
}

func TestResponseForAnotherSessionIsIgnored(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{items: []tarsy.SessionItem{{ID: "other"}}}
	m := over(f, &s)
	m.entered = true
	press(m, "w")
	_, ask := m.Update(keyOf("enter"))
	press(m, "n", "esc", "esc", "enter")
	require.Equal(t, "open other", f.calls[len(f.calls)-1])
	m.Update(openedMsg{detail: tarsy.SessionDetail{Session: tarsy.Session{ID: "other", Status: tarsy.SessionCompleted}}})
	require.Contains(t, show(m), "\n > Ask a question", "what was typed belongs to the session that was left")
	m.Update(ask())
	require.True(t, press(m, "ctrl+c"), "the answer in the other session goes on")
}
