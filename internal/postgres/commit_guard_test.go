package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

func TestStepWithRowOfAnotherSessionIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	mine, other := f.Hold(t, db), f.Hold(t, db)

	stage := storetest.NewStage(other.SessionID, 1, f.Clock.Now())
	execution := storetest.NewExecution(stage, 1, f.Clock.Now())
	foreign := other.State.Session
	chat, question, chatStage := storetest.NewChat(other.SessionID, storetest.NewQuestion(), 2, f.Clock.Now())

	for what, step := range map[string]progress.Step{
		"stage":   {Stages: []tarsy.Stage{stage}},
		"session": {Session: &foreign},
		"message": {Messages: []tarsy.Message{storetest.NewMessage(execution, 1, "x", f.Clock.Now())}},

		"execution":       {Executions: []tarsy.Execution{execution}},
		"timeline event":  {Timeline: []tarsy.TimelineEvent{storetest.NewTimelineEvent(other.SessionID, 1, f.Clock.Now())}},
		"LLM interaction": {LLMInteractions: []tarsy.LLMInteraction{storetest.NewLLMInteraction(other.SessionID, &execution, tarsy.Usage{}, 1)}},
		"MCP interaction": {MCPInteractions: []tarsy.MCPInteraction{storetest.NewMCPInteraction(execution, "call", 1)}},
		"chat":            {Chats: []tarsy.Chat{chat}},
		"chat message":    {ChatMessages: []tarsy.ChatUserMessage{question}},
		"chat stage":      {Stages: []tarsy.Stage{chatStage}},
		"request":         {Answered: []tarsy.Request{storetest.NewRequest(other.SessionID, tarsy.RequestCancel, f.Clock.Now())}},
	} {
		_, err := db.Hold(mine.Lease).Commit(t.Context(), step)
		require.ErrorContains(t, err, "belongs to another session", what)
	}

	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT (SELECT count(*) FROM stages) + (SELECT count(*) FROM chats) + (SELECT count(*) FROM chat_user_messages)`))

	_, err := db.Hold(mine.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("after", 1)})
	require.NoError(t, err, "a new holder of the same lease goes on")
}

func TestNothingIsCommittedAfterRelease(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	holder := db.Hold(claim.Lease)

	// Both wait for the lock, so that the committer takes them together.
	unlock := f.Lock(t, claim.SessionID)
	first := holder.Submit(progress.Step{Events: storetest.NewEvents("first", 1)})
	f.AwaitBlocked(t, 1)

	release := holder.Submit(progress.Step{Events: storetest.NewEvents("release", 1), Release: true})
	late := holder.Submit(progress.Step{Events: storetest.NewEvents("late", 1)})

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
	db := f.Server(t)
	claim := f.Hold(t, db)

	watch := db.Signals().WatchQueue()
	defer watch.Close()

	awaitSignal := f.Listen(t)

	_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Release: true})
	require.NoError(t, err)

	awaitSignal("queue")
	<-watch.C
}

func TestHandedOverSessionKeepsItsQueuePosition(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	older := f.Hold(t, db)

	f.Clock.Advance(time.Minute)
	f.Create(t, db)
	require.NoError(t, db.HandOver(t.Context(), older.Lease))

	require.Equal(t, []string{older.SessionID}, sessionIDs(f.Claim(t, db, storetest.ServerB, 1)))
}
