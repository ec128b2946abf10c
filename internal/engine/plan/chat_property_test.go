package plan

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

// ask does what AddQuestion does, without the database.
func (p *play) ask(content string) {
	question := tarsy.Question{ChatID: ident.New(), MessageID: ident.New(), StageID: ident.New(), Content: content}
	if len(p.state.Chats) > 0 {
		question.ChatID = p.state.Chats[0].ID
	}

	payload, err := json.Marshal(question)
	if err != nil {
		panic(err)
	}

	p.released = false
	p.state.Requests = append(p.state.Requests, tarsy.Request{
		ID: ident.New(), Kind: tarsy.RequestChat, Status: tarsy.RequestOpen, Author: "asker", Payload: payload,
	})
}

// lastChat returns the stage that began last.
func (p *play) lastChat() tarsy.Stage { return p.state.Stages[len(p.state.Stages)-1] }

// expectedAnswer returns the status of an answer as implied by the outcomes alone.
func (m *model) expectedAnswer() tarsy.Status {
	if m.recipe.Chat == nil {
		return tarsy.StatusFailed
	}

	return m.outcomes[m.recipe.Chat.Spec.Name]
}

// requireChats checks the state after the given number of questions: the investigation unchanged, one chat, and each question announced and
// answered once.
func requireChats(t require.TestingT, before tarsy.Session, p *play, questions int) {
	requireClosed(t, p)

	after := p.state.Session
	require.NotNil(t, after.LastInteractionAt)
	after.LastInteractionAt = before.LastInteractionAt
	require.Empty(t, cmp.Diff(before, after), "a question changed the investigation")

	require.Len(t, p.state.Chats, 1)
	require.Len(t, p.state.ChatMessages, questions)

	told := map[string]int{}
	for _, e := range p.events {
		told[e.Type]++
	}

	require.Equal(t, 1, told[tarsy.TypeChatCreated])
	require.Equal(t, questions, told[tarsy.TypeChatUserMessage])

	asked := map[string]int{}

	for _, e := range p.state.Timeline {
		if e.EventType == tarsy.EventUserQuestion {
			asked[e.Content]++
		}
	}

	require.Len(t, asked, questions)

	stages := 0

	for i, s := range p.state.Stages {
		require.Equal(t, i+1, s.StageIndex)

		if s.StageType != tarsy.StageChat {
			continue
		}

		message := p.state.ChatMessages[stages]
		stages++

		require.Equal(t, p.state.Chats[0].ID, *s.ChatID)
		require.Equal(t, message.ID, *s.ChatUserMessageID)
		require.Equal(t, fmt.Sprintf("question %d", stages), message.Content)
		require.Equal(t, 1, asked[message.Content])
	}

	require.Equal(t, questions, stages)
}

func TestReplanningAnyChatPrefixLeadsToTheSameEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := drawModel(t)
		pick := picker(t)
		p := m.begin()
		m.finishPlay(t, p, pick)

		before := p.state.Session
		questions := rapid.IntRange(1, 3).Draw(t, "questions")

		for n := 1; n <= questions; n++ {
			p.ask(fmt.Sprintf("question %d", n))

			prefixes := []*play{m.again(p)}

			for !p.released {
				tasks := m.plan(p)
				require.Equal(t, tasks, m.plan(m.again(p)), "planning the same state twice differs")
				m.advance(p, tasks, pick)
				prefixes = append(prefixes, m.again(p))
			}

			requireChats(t, before, p, n)
			require.Equal(t, m.expectedAnswer(), p.lastChat().Status)

			want := outcomeOf(p.state)

			for i, prefix := range prefixes {
				again := m.again(prefix)
				m.finishPlay(t, again, pick)
				require.Empty(t, cmp.Diff(want, outcomeOf(again.state)), "question %d from prefix %d of %d", n, i, len(prefixes))
				requireChats(t, before, again, n)

				m.checkAnswerCancelled(t, before, prefix, n, pick)
				m.checkAnswerCancelledAfterPlan(t, before, prefix, n, pick)
				m.checkAnswerTimedOut(t, before, prefix, n, pick)
				m.checkAskedAfterPlan(t, before, prefix, n, pick)
			}
		}
	})
}

// checkNextQuestion asks another question of a session that has just been released and checks that it is answered, whatever happened to the last one.
func (m *model) checkNextQuestion(t *rapid.T, before tarsy.Session, p *play, asked int, pick func(int) int) {
	p.ask(fmt.Sprintf("question %d", asked+1))
	m.finishPlay(t, p, pick)
	requireChats(t, before, p, asked+1)
	require.Equal(t, m.expectedAnswer(), p.lastChat().Status)
}

// checkAnswerCancelled requests a cancellation at this prefix. It is accepted only while a question is open or being answered.
func (m *model) checkAnswerCancelled(t *rapid.T, before tarsy.Session, prefix *play, asked int, pick func(int) int) {
	if prefix.released {
		return
	}

	p := m.again(prefix)
	m.requestCancel(p)
	m.finishPlay(t, p, pick)
	requireChats(t, before, p, asked)
	require.Equal(t, tarsy.StatusCancelled, p.lastChat().Status)
	require.Equal(t, tarsy.RequestDone, p.answered[len(p.answered)-1].Status)
	m.checkNextQuestion(t, before, p, asked, pick)
}

// checkAnswerCancelledAfterPlan requests a cancellation between the plan and its step: it ends the answer, or it is refused as too late.
func (m *model) checkAnswerCancelledAfterPlan(t *rapid.T, before tarsy.Session, prefix *play, asked int, pick func(int) int) {
	if prefix.released {
		return
	}

	p := m.again(prefix)
	tasks := m.plan(p)
	m.requestCancel(p)
	m.advance(p, tasks, pick)
	finished := p.state.Stages[len(p.state.Stages)-1].Status.Terminal()
	m.finishPlay(t, p, pick)
	requireChats(t, before, p, asked)

	if finished {
		require.Equal(t, m.expectedAnswer(), p.lastChat().Status)
		require.Equal(t, tarsy.RequestRefused, p.answered[len(p.answered)-1].Status)
	} else {
		require.Equal(t, tarsy.StatusCancelled, p.lastChat().Status)
	}

	m.checkNextQuestion(t, before, p, asked, pick)
}

// checkAnswerTimedOut lets the answer's deadline pass at this prefix.
func (m *model) checkAnswerTimedOut(t *rapid.T, before tarsy.Session, prefix *play, asked int, pick func(int) int) {
	p := m.again(prefix)

	i := openChat(p.state)
	if i < 0 {
		return
	}

	p.state.Stages[i].CreatedAt = m.clock.Now().Add(-modelTimeout)
	m.finishPlay(t, p, pick)
	requireChats(t, before, p, asked)
	require.Equal(t, tarsy.StatusTimedOut, p.lastChat().Status)
	m.checkNextQuestion(t, before, p, asked, pick)
}

// checkAskedAfterPlan asks between the plan to release and the release: the question must not be refused as too late.
func (m *model) checkAskedAfterPlan(t *rapid.T, before tarsy.Session, prefix *play, asked int, pick func(int) int) {
	if !prefix.released {
		return
	}

	p := m.again(prefix)
	p.released = false
	tasks := m.plan(p)
	require.Equal(t, []Task{{Kind: Release}}, tasks)
	p.ask(fmt.Sprintf("question %d", asked+1))
	m.advance(p, tasks, pick)
	require.False(t, p.released)
	m.finishPlay(t, p, pick)
	requireChats(t, before, p, asked+1)
	require.False(t, slices.ContainsFunc(p.answered, func(q tarsy.Request) bool { return q.Status == tarsy.RequestRefused }))
}
