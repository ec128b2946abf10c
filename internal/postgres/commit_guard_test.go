package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

func TestStepWithRowOfAnotherSessionIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	mine, other := f.hold(t, db), f.hold(t, db)

	stage := newStage(other.SessionID, 1, f.clock.Now())
	execution := newExecution(stage, 1, f.clock.Now())
	foreign := other.State.Session
	chat, question, chatStage := newChat(other.SessionID, newQuestion(), 2, f.clock.Now())

	for what, step := range map[string]progress.Step{
		"stage":   {Stages: []tarsy.Stage{stage}},
		"session": {Session: &foreign},
		"message": {Messages: []tarsy.Message{newMessage(execution, 1, "x", f.clock.Now())}},

		"execution":       {Executions: []tarsy.Execution{execution}},
		"timeline event":  {Timeline: []tarsy.TimelineEvent{newTimelineEvent(other.SessionID, 1, f.clock.Now())}},
		"LLM interaction": {LLMInteractions: []tarsy.LLMInteraction{newLLMInteraction(other.SessionID, &execution, tarsy.Usage{}, 1)}},
		"MCP interaction": {MCPInteractions: []tarsy.MCPInteraction{newMCPInteraction(execution, "call", 1)}},
		"chat":            {Chats: []tarsy.Chat{chat}},
		"chat message":    {ChatMessages: []tarsy.ChatUserMessage{question}},
		"chat stage":      {Stages: []tarsy.Stage{chatStage}},
		"request":         {Answered: []tarsy.Request{newRequest(other.SessionID, tarsy.RequestCancel, f.clock.Now())}},
	} {
		_, err := db.Hold(mine.Lease).Commit(t.Context(), step)
		require.ErrorContains(t, err, "belongs to another session", what)
	}

	require.Zero(t, value[int](t, f, `SELECT (SELECT count(*) FROM stages) + (SELECT count(*) FROM chats) + (SELECT count(*) FROM chat_user_messages)`))

	_, err := db.Hold(mine.Lease).Commit(t.Context(), progress.Step{Events: newEvents("after", 1)})
	require.NoError(t, err, "a new holder of the same lease goes on")
}

func TestNothingIsCommittedAfterRelease(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	claim := f.hold(t, db)
	holder := db.Hold(claim.Lease)

	// Both wait for the lock, so that the committer takes them together.
	unlock := f.lock(t, claim.SessionID)
	first := holder.Submit(progress.Step{Events: newEvents("first", 1)})
	f.awaitBlocked(t, 1)

	release := holder.Submit(progress.Step{Events: newEvents("release", 1), Release: true})
	late := holder.Submit(progress.Step{Events: newEvents("late", 1)})

	unlock()

	_, err := first.Wait(t.Context())
	require.NoError(t, err)

	committed, err := release.Wait(t.Context())
	require.NoError(t, err)
	require.True(t, committed.Released)

	_, err = late.Wait(t.Context())
	require.ErrorIs(t, err, postgres.ErrFenceLost)
}

func TestReleaseWakesClaimersAtLimit(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	claim := f.hold(t, db)

	watch := db.Signals().WatchQueue()
	defer watch.Close()

	awaitSignal := f.listen(t)

	_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Release: true})
	require.NoError(t, err)

	awaitSignal("queue")
	<-watch.C
}

func TestHandedOverSessionKeepsItsQueuePosition(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	older := f.hold(t, db)

	f.clock.Advance(time.Minute)
	f.create(t, db)
	require.NoError(t, db.HandOver(t.Context(), older.Lease))

	require.Equal(t, []string{older.SessionID}, sessionIDs(f.claim(t, db, serverB, 1)))
}
