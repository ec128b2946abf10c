package watch

import (
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// over is a screen of a session that has ended.
func over(f *fake, s *story) *model {
	m := screen(f)
	play(m, s.begin()...)
	play(m, s.session(tarsy.SessionCompleted, 5))

	return m
}

// answer is the stage of the answer to a question that was asked on the screen.
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

	// Answers that others asked for are left alone.
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

// The journal of a finished session is read from its beginning, while somebody may be typing already.
func TestFinishedSessionTakesQuestionsWhileItsJournalIsRead(t *testing.T) {
	t.Parallel()

	var s story

	f := &fake{}
	m := over(f, &s)
	play(m, s.session(tarsy.SessionInProgress, 1))
	press(m, "h", "m", "?", "enter")
	require.Equal(t, []string{"open " + sessionID, "ask hm?"}, f.calls)
}

// refused is the event of a question that was accepted and cannot be answered.
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

	// The journal may be faster than the response.
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
