package storetest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// Create stores a new session that is runnable now.
func (f *Fixture) Create(t require.TestingT, db *postgres.DB, events ...tarsy.Event) tarsy.Session {
	session := NewSession(f.Clock.Now())
	require.NoError(t, db.CreateSession(context.Background(), session, postgres.Terms{}, events...))

	return session
}

// Hold stores a new session and claims it; nothing else may wait in the queue.
func (f *Fixture) Hold(t require.TestingT, db *postgres.DB, events ...tarsy.Event) postgres.Claim {
	session := f.Create(t, db, events...)
	claims := f.Claim(t, db, ServerA, 1)
	require.Len(t, claims, 1)
	require.Equal(t, session.ID, claims[0].SessionID)

	return claims[0]
}

// Claim claims sessions as a server does that has a number of free slots.
func (f *Fixture) Claim(t require.TestingT, db *postgres.DB, server string, slots int) []postgres.Claim {
	claims, err := db.Claim(context.Background(), postgres.ClaimParams{Version: 1, Has: DefaultCapabilities(),
		ServerID: server, Slots: slots, MaxSessions: NoLimit, Lease: Lease,
	})
	require.NoError(t, err)

	return claims
}

// Journal returns the types of the events in a session's journal, which must be gap-free.
func (f *Fixture) Journal(t require.TestingT, id string) []string {
	rows, err := f.Admin.Query(context.Background(), `SELECT seq, type FROM events WHERE session_id = $1 ORDER BY seq`, id)
	require.NoError(t, err)

	type event struct {
		Seq  int
		Type string
	}

	events, err := pgx.CollectRows(rows, pgx.RowToStructByName[event])
	require.NoError(t, err)

	types := make([]string, 0, len(events))
	for i, e := range events {
		require.Equal(t, i+1, e.Seq, "the journal of %s has a gap", id)
		types = append(types, e.Type)
	}

	require.Equal(t, len(events), Value[int](t, f.Admin, `SELECT last_seq FROM sessions WHERE id = $1`, id))

	return types
}

// Transactions returns the transactions that wrote the events of sessions.
func (f *Fixture) Transactions(t *testing.T, ids ...string) []string {
	t.Helper()

	rows, err := f.Admin.Query(t.Context(), `SELECT DISTINCT xmin::text FROM events WHERE session_id = ANY($1)`, ids)
	require.NoError(t, err)

	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)

	return found
}

// AddRequest adds a request of either kind.
func AddRequest(db *postgres.DB, ctx context.Context, r tarsy.Request) (bool, error) {
	if r.Kind == tarsy.RequestCancel {
		return db.AddCancel(ctx, r)
	}

	_, asked, err := db.AddQuestion(ctx, r, NewQuestion())

	return asked, err
}

// Finished stores a session that has ended with a status and that no server holds.
func (f *Fixture) Finished(t require.TestingT, db *postgres.DB, status tarsy.SessionStatus) tarsy.Session {
	claim := f.Hold(t, db)
	session, now := claim.State.Session, f.Clock.Now()
	session.Status, session.CompletedAt = status, &now

	committed, err := db.Hold(claim.Lease).Commit(context.Background(), progress.Step{Session: &session, Release: true})
	require.NoError(t, err)
	require.True(t, committed.Released)

	return session
}

// Question asks a question that must be accepted.
func (f *Fixture) Question(t require.TestingT, db *postgres.DB, sessionID string) tarsy.Question {
	question, asked, err := db.AddQuestion(context.Background(), NewRequest(sessionID, tarsy.RequestChat, f.Clock.Now()), NewQuestion())
	require.NoError(t, err)
	require.True(t, asked)

	return question
}

// ClaimAsked claims as a server does that has room only for questions.
func (f *Fixture) ClaimAsked(t require.TestingT, db *postgres.DB, server string, chats int) []postgres.Claim {
	claims, err := db.Claim(context.Background(), postgres.ClaimParams{Version: 1, Has: DefaultCapabilities(), ServerID: server, MaxSessions: 0, Chats: chats, Lease: Lease})
	require.NoError(t, err)

	return claims
}

// Begin starts the stage that answers the question of a claim.
func (f *Fixture) Begin(t require.TestingT, db *postgres.DB, claim postgres.Claim) tarsy.Stage {
	now := f.Clock.Now()
	request := claim.State.Requests[0]

	var question tarsy.Question

	require.NoError(t, json.Unmarshal(request.Payload, &question))

	chat, message, stage := NewChat(claim.SessionID, question, len(claim.State.Stages)+1, now)
	_, err := db.Hold(claim.Lease).Commit(context.Background(), progress.Step{
		Chats: []tarsy.Chat{chat}, ChatMessages: []tarsy.ChatUserMessage{message}, Stages: []tarsy.Stage{stage},
		Answered: []tarsy.Request{Closed(request, now)},
	})
	require.NoError(t, err)

	return stage
}

// Wait stores a session with a call that waits for an approval, and releases it.
func (f *Fixture) Wait(t *testing.T, db *postgres.DB, expires time.Duration) tarsy.MCPInteraction {
	t.Helper()

	claim := f.Hold(t, db)
	now := f.Clock.Now()
	session := claim.State.Session
	session.Status, session.StartedAt = tarsy.SessionInProgress, &now
	stage := NewStage(session.ID, 1, now)
	execution := NewExecution(stage, 1, now)
	call, event := WaitingCall(execution, "1.1.1", now, now.Add(expires))

	committed, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{
		Session: &session, Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution}, Timeline: []tarsy.TimelineEvent{event},
		MCPInteractions: []tarsy.MCPInteraction{call}, Events: []tarsy.Event{tarsy.ApprovalChanged(call, now)},
		Release: true, RunAt: new(now.Add(expires)),
	})
	require.NoError(t, err)
	require.True(t, committed.Released)

	return call
}
