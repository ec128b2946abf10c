package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// requireUntouched checks that a question did not change the investigation.
func requireUntouched(t *testing.T, before, after tarsy.SessionDetail) {
	t.Helper()

	a, b := before.Session, after.Session
	a.LastInteractionAt, b.LastInteractionAt = nil, nil
	a.PodID, b.PodID = "", ""
	require.Empty(t, cmp.Diff(a, b), "a question changed the investigation")
}

// countEvents counts the events of a session with a type.
func (h *fixture) countEvents(id, eventType string) int {
	h.t.Helper()

	return query[int](h, `SELECT count(*) FROM events WHERE session_id = $1 AND type = $2`, id, eventType)
}

func TestQuestionsAreAnsweredInOneChatAndChangeNothingElse(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigated()
	h.chat(
		script.Reply{Thinking: "let me look", ToolCalls: []llm.ToolCall{call("1", "look", `{}`)}},
		script.Reply{Text: "because of the disk", Expect: func(r *llm.Request) error {
			for _, want := range []string{"the root cause", "why"} {
				if !strings.Contains(r.Messages[1].Content, want) {
					return fmt.Errorf("no %q in %q", want, r.Messages[1].Content)
				}
			}

			return nil
		}})

	s := h.start("one", nil)
	id := s.submit()
	before := s.completes(id)

	first := s.ask(id, "why?")
	stage := s.answered(id, first)
	require.Equal(t, tarsy.StatusCompleted, stage.Status, stage.ErrorMessage)
	require.Equal(t, tarsy.StageChat, stage.StageType)
	require.Equal(t, "Chat Response", stage.StageName)
	require.Equal(t, 2, stage.StageIndex)
	require.Equal(t, first.ChatID, *stage.ChatID)
	require.Equal(t, first.MessageID, *stage.ChatUserMessageID)
	require.Equal(t, "answerer", stage.Executions[0].AgentName)

	second := s.ask(id, "why really?")
	require.Equal(t, first.ChatID, second.ChatID)
	last := s.answered(id, second)
	require.Equal(t, tarsy.StatusCompleted, last.Status)

	after := s.detail(id)
	requireUntouched(t, before, after)
	require.Equal(t, first.ChatID, after.Chat.ID)
	require.Equal(t, "asker", after.Chat.CreatedBy)
	require.True(t, after.LastInteractionAt.After(*before.LastInteractionAt))
	require.Equal(t, after.LastInteractionAt, after.Chat.LastInteractionAt)
	require.False(t, after.Chat.LastInteractionAt.Before(*last.CompletedAt), "the end of an answer is an interaction")
	require.Equal(t, 1, h.countEvents(id, tarsy.TypeChatCreated))
	require.Equal(t, 2, h.countEvents(id, tarsy.TypeChatUserMessage))
	require.Equal(t, 2, h.tools.made("look"))
	require.Empty(t, h.model.Unexpected())
	h.requireWhole(id)
}

func TestRefusedQuestionSaysWhyAndLeavesNothingBehind(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	gate := script.NewGate()
	h.investigated()
	h.chat(script.Reply{Text: "because", Gate: gate})

	var enabled atomic.Bool

	s := h.open("one", nil)
	s.intake.cfg.TakesQuestions = func(string) (takes, known bool) { return enabled.Load(), true }
	waiting, cancelled := s.submit(), s.submit()
	s.cancel(cancelled)

	refused := func(code tarsy.Code, id, content string) {
		t.Helper()

		_, err := s.intake.Ask(h.ctx, id, "asker", content)
		require.Equal(t, code, tarsy.CodeOf(err), "%v", err)
	}

	refused(tarsy.CodeChatDisabled, waiting, "why?")
	enabled.Store(true)
	refused(tarsy.CodeSessionNotOver, waiting, "why?")
	refused(tarsy.CodeSessionNotFound, ident.New(), "why?")
	refused(tarsy.CodeSessionNotFound, "no id", "why?")
	refused(tarsy.CodeInvalidField, waiting, " \x00\n")
	refused(tarsy.CodeTooLarge, waiting, strings.Repeat("x", tarsy.MaxQuestionBytes+1))

	s.Start()
	s.completes(waiting)
	s.ended(cancelled)
	refused(tarsy.CodeConflict, cancelled, "why?")

	question := s.ask(waiting, "why \x00 so?")
	refused(tarsy.CodeChatBusy, waiting, "and?")
	h.wait(gate.Reached(), "the answer to be begun")
	refused(tarsy.CodeChatBusy, waiting, "and?")
	gate.Open()
	s.answered(waiting, question)

	require.Equal(t, 1, query[int](h, `SELECT count(*) FROM requests WHERE kind = 'chat'`))
	require.Equal(t, "why  so?", query[string](h, `SELECT content FROM chat_user_messages`))

	_, err := s.intake.Cancel(h.ctx, waiting, "somebody")
	require.Equal(t, tarsy.CodeSessionNotRunning, tarsy.CodeOf(err), "the answer is there")
}

func TestStreamingAnswerIsCancelled(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	gate := script.NewGate()
	h.investigated()
	h.chat(script.Reply{Text: "half of it and more", Gate: gate, GateAfter: 3})

	s := h.start("one", nil)
	id := s.submit()
	before := s.completes(id)
	question := s.ask(id, "why?")
	h.wait(gate.Reached(), "the answer to be begun")
	s.cancel(id)

	stage := s.answered(id, question)
	require.Equal(t, tarsy.StatusCancelled, stage.Status)
	require.Equal(t, tarsy.StatusCancelled, stage.Executions[0].Status)
	require.Equal(t, "half of it ", query[string](h, `SELECT content FROM timeline_events WHERE session_id = $1 AND status = 'cancelled'`, id))
	requireUntouched(t, before, s.detail(id))
	h.requireWhole(id)
	require.Equal(t, "done", query[string](h, `SELECT status FROM requests WHERE kind = 'cancel'`))

	gate.Open()
	s.answers(id, "and now?")
	h.requireWhole(id)
}

func TestQuestionIsCancelledBeforeItStarts(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigated()
	h.chat(script.Reply{Text: "because"})

	s := h.start("one", nil)
	id := s.submit()
	before := s.completes(id)
	s.Stop(h.ctx)

	question := s.ask(id, "why?")
	s.cancel(id)

	calls := len(h.model.Calls())
	other := h.start("two", nil)
	require.Equal(t, tarsy.StatusCancelled, other.answered(id, question).Status)
	require.Len(t, h.model.Calls(), calls, "no model was asked")
	requireUntouched(t, before, other.detail(id))
	h.requireWhole(id)
	other.answers(id, "and now?")
}

func TestAnswerHasItsOwnDeadline(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	clock := h.fakeClock()
	gate := script.NewGate()
	h.investigated()
	h.chat(script.Reply{ToolCalls: []llm.ToolCall{call("1", "look", `{}`)}}, script.Reply{Text: "because", Gate: gate})

	s := h.start("one", func(c *Config) { c.RenewEvery, c.Lease = 48*time.Hour, 96*time.Hour })
	id := s.submit()
	before := s.completes(id)
	clock.Advance(10 * s.settings.Load().SessionTimeout)

	question := s.ask(id, "why?")
	h.wait(gate.Reached(), "the answer to be begun")
	clock.Advance(s.settings.Load().SessionTimeout)

	stage := s.answered(id, question)
	require.Equal(t, tarsy.StatusTimedOut, stage.Status)
	require.Equal(t, "the answer took longer than 1h0m0s", stage.ErrorMessage)
	requireUntouched(t, before, s.detail(id))
	h.requireWhole(id)

	gate.Open()
	s.answers(id, "and now?")

	// Two of the investigation and two of each answer: the first was interrupted by its own deadline, no other call was.
	require.Len(t, h.model.Calls(), 6)
}

func TestQuestionAfterChainChangeReportsProblem(t *testing.T) {
	t.Parallel()

	for name, gone := range map[string]bool{"the chain is gone": true, "the chain takes no questions any more": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newFixture(t)
			h.noRecipes = true
			h.investigated()
			h.chat(script.Reply{Text: "because"})

			s := h.start("one", nil)
			id := s.submit()
			before := s.completes(id)
			s.Stop(h.ctx)

			question := s.ask(id, "why?")
			other := h.start("two", func(c *Config) {
				c.Chain = func(string) (chain.Chain, bool) {
					if gone {
						return chain.Chain{}, false
					}

					recipe := h.recipe
					recipe.Chat = nil

					return recipe, true
				}
			})

			stage := other.answered(id, question)
			require.Equal(t, tarsy.StatusFailed, stage.Status)
			require.Equal(t, string(tarsy.CodeChatDisabled), stage.Executions[0].ErrorCode)
			require.Equal(t, "ChatAgent", stage.Executions[0].AgentName)
			requireUntouched(t, before, other.detail(id))
			h.requireWhole(id)
		})
	}
}

func TestQuestionIsAnsweredByAnotherServerAndReadOnBoth(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigated()
	h.chat(script.Reply{Text: "because"})

	works, asks := h.start("works", nil), h.open("asks", nil)
	id := asks.submit()
	asks.completes(id)

	question := asks.ask(id, "why?")
	require.Equal(t, tarsy.StatusCompleted, asks.answered(id, question).Status)
	require.Equal(t, tarsy.StatusCompleted, works.answered(id, question).Status)
	require.Equal(t, "works", asks.detail(id).PodID)

	var order []string

	for record, err := range asks.DB.Journal(id).Tail(h.ctx, 0) {
		require.NoError(t, err)

		var payload struct {
			StageID   string `json:"stage_id"`
			Status    string `json:"status"`
			EventType string `json:"event_type"`
			Content   string `json:"content"`
		}

		require.NoError(t, json.Unmarshal(record.Entry.Payload, &payload))

		switch record.Entry.Type {
		case tarsy.TypeChatCreated, tarsy.TypeChatUserMessage:
			order = append(order, strings.TrimSpace(record.Entry.Type+" "+payload.Content))
		default:
			if payload.StageID == question.StageID {
				order = append(order, strings.Join(strings.Fields(record.Entry.Type+" "+payload.EventType+" "+payload.Status), " "))
			}
		}

		if payload.StageID == question.StageID && record.Entry.Type == tarsy.TypeStageStatus && payload.Status == "completed" {
			break
		}
	}

	require.Equal(t, []string{
		"chat.created", "chat.user_message why?", "stage.status started", "execution.status started",
		"timeline_event.created user_question completed",
	}, order[:5])
	require.Equal(t, []string{"execution.status completed", "stage.status completed"}, order[len(order)-2:])
}

func TestUnstorableChatIsAbandoned(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigated()
	h.chat(script.Reply{ToolCalls: []llm.ToolCall{call("1", "look", `{}`)}}, script.Reply{Text: "because"})

	s := h.start("one", nil)
	id := s.submit()
	before := s.completes(id)

	h.exec(`ALTER TABLE mcp_interactions ADD CONSTRAINT never CHECK (status <> 'completed') NOT VALID`)

	stage := s.answered(id, s.ask(id, "why?"))
	require.Equal(t, tarsy.StatusFailed, stage.Status)
	require.Equal(t, "the results of the session could not be stored", stage.ErrorMessage)
	require.LessOrEqual(t, h.tools.made("look"), maxUnstorable+1)
	requireUntouched(t, before, s.detail(id))
	h.requireWhole(id)

	h.exec(`ALTER TABLE mcp_interactions DROP CONSTRAINT never`)
	s.answers(id, "and now?")

	// A question that cannot even be started is refused, not retried forever.
	h.exec(`ALTER TABLE chat_user_messages ADD CONSTRAINT never CHECK (content <> 'never') NOT VALID`)
	question := s.ask(id, "never")

	refused := func() bool {
		return query[int](h, `SELECT count(*) FROM requests WHERE kind = 'chat' AND status = 'refused'`) == 1
	}
	for !refused() {
		require.NoError(t, h.ctx.Err(), "the question is tried without end")
	}

	page, err := s.DB.Timeline(h.ctx, id, tarsy.TimelineQuery{Limit: 100})
	require.NoError(t, err)

	told := page.Events[len(page.Events)-1]
	require.Equal(t, tarsy.EventError, told.EventType)
	require.Equal(t, "A question of asker cannot be answered: the results of the session could not be stored. Ask it again.", told.Content)
	require.Equal(t, tarsy.ErrorMetadata{Code: tarsy.ErrorQuestionRefused, MessageID: question.MessageID}, tarsy.MetadataAs[tarsy.ErrorMetadata](told.Metadata))

	s.answers(id, "and after that?")
	h.requireWhole(id)
}

func TestQuestionsRacingWithSessionEndAreAllAnswered(t *testing.T) {
	t.Parallel()

	const sessions = 12

	h := newFixture(t)
	h.fakeClock() // so that no renewal masks a lost signal
	h.pollEvery = time.Hour
	h.investigated()
	h.chat(script.Reply{Text: "because"})

	s := h.start("one", func(c *Config) { c.Workers, c.MaxSessions = 2, 2 })

	var ids []string
	for range sessions {
		ids = append(ids, s.submit())
	}

	for _, id := range ids {
		s.completes(id)
		s.answers(id, "why?")
		s.answers(id, "why really?")
		require.Equal(t, 1, h.countEvents(id, tarsy.TypeChatCreated))
	}

	h.settled(s)
	s.Stop(context.Background())

	for _, id := range ids {
		h.requireWhole(id)
	}
}

func TestQuestionIsMaskedBeforeItIsStored(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigated()
	h.chat(script.Reply{Text: "because"})

	s := h.start("one", nil)
	s.intake.cfg.Mask = func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }
	id := s.submit()
	s.completes(id)
	s.answers(id, "is hunter2 the password?\xff")

	require.Equal(t, "is *** the password?\uFFFD", query[string](h, `SELECT content FROM chat_user_messages`))
	require.NotContains(t, h.footprint(id), "hunter2")
}
