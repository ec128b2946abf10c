package api_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/internal/stream"
)

// over stores a terminal session that will not be claimed.
func (f *fixture) over(t *testing.T, status tarsy.SessionStatus) string {
	t.Helper()

	claims := f.claimed(t)
	session, now := claims.State.Session, f.clock.Now()
	session.Status, session.CompletedAt, session.LastInteractionAt = status, &now, &now

	done, err := f.db.Hold(claims.Lease).Commit(t.Context(), progress.Step{Session: &session, Release: true})
	require.NoError(t, err)
	require.True(t, done.Released)

	return session.ID
}

// claimed stores a session and claims it.
func (f *fixture) claimed(t *testing.T) postgres.Claim {
	t.Helper()

	id := f.session(t, func(*tarsy.Session) {})
	claims, err := f.db.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: []string{"chain:k8s", "chain:chain", "chain:"}, ServerID: "server", Slots: 1, MaxSessions: 100, Lease: 1e9})
	require.NoError(t, err)
	require.Len(t, claims, 1)
	require.Equal(t, id, claims[0].SessionID)

	return claims[0]
}

// streams mounts the real streams on the fixture's database.
func streams(t *testing.T) func(*api.Config) {
	return func(cfg *api.Config) {
		deltas := stream.NewDeltas(stream.DeltasConfig{ServerID: "server-1", Clock: cfg.Clock})
		t.Cleanup(deltas.Close)

		hub := stream.New(stream.Config{Journals: cfg.Store, Deltas: deltas, Logger: cfg.Logger})
		t.Cleanup(func() { require.NoError(t, hub.Close(context.Background())) })

		cfg.Events = hub.SSE(func(r *http.Request) string { return r.PathValue("id") })
	}
}

func TestDeletedSessionIsNotFoundAnywhere(t *testing.T) {
	t.Parallel()

	f := newFixture(t, streams(t))
	kept, id := f.over(t, tarsy.SessionFailed), f.over(t, tarsy.SessionCompleted)

	got := f.request(t, http.MethodDelete, "/api/v1/sessions/"+id, "")
	require.Equal(t, http.StatusNoContent, got.status, got.body)
	require.Empty(t, got.body)

	list := get[struct {
		Sessions   []tarsy.SessionItem `json:"sessions"`
		NextCursor string              `json:"next_cursor"`
	}](t, f, "/api/v1/sessions")
	require.Len(t, list.Sessions, 1)
	require.Equal(t, kept, list.Sessions[0].ID)

	for _, path := range []string{
		"", "/timeline", "/events", "/trace", "/trace/llm/" + ident.New(), "/trace/mcp/" + ident.New(),
	} {
		f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/sessions/"+id+path, ""), http.StatusNotFound, tarsy.CodeSessionNotFound)
	}

	f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/sessions/"+id+"/cancel", ""), http.StatusNotFound, tarsy.CodeSessionNotFound)
	f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/sessions/"+id+"/chat/messages", `{"content":"why?"}`),
		http.StatusNotFound, tarsy.CodeSessionNotFound)
	f.requireProblem(t, f.request(t, http.MethodDelete, "/api/v1/sessions/"+id, ""), http.StatusNotFound, tarsy.CodeSessionNotFound)
}

func TestDeletingMissingSessionIsNotFound(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for _, id := range []string{ident.New(), "x", "%00", "%27%20OR%201=1"} {
		f.requireProblem(t, f.request(t, http.MethodDelete, "/api/v1/sessions/"+id, ""), http.StatusNotFound, tarsy.CodeSessionNotFound)
	}
}

func TestRunningSessionIsNotDeleted(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	running := f.claimed(t)
	waiting := f.session(t, func(*tarsy.Session) {})

	for id, says := range map[string]string{
		running.SessionID: "the session is pending: cancel it or wait until it is over, then delete it",
		waiting:           "the session is pending: cancel it or wait until it is over, then delete it",
	} {
		problem := f.requireProblem(t, f.request(t, http.MethodDelete, "/api/v1/sessions/"+id, ""), http.StatusConflict, tarsy.CodeConflict)
		require.Equal(t, says, problem.Detail)
	}

	f = newFixture(t)
	asked := f.over(t, tarsy.SessionCompleted)
	_, ok, err := f.db.AddQuestion(t.Context(), tarsy.Request{
		ID: ident.New(), SessionID: asked, Kind: tarsy.RequestChat, Author: "someone", CreatedAt: f.clock.Now(),
	}, tarsy.Question{ChatID: ident.New(), MessageID: ident.New(), StageID: ident.New(), Content: "why?"})
	require.NoError(t, err)
	require.True(t, ok)

	problem := f.requireProblem(t, f.request(t, http.MethodDelete, "/api/v1/sessions/"+asked, ""), http.StatusConflict, tarsy.CodeConflict)
	require.Equal(t, "the session is answering a question: cancel the answer or wait for it to finish, then delete the session", problem.Detail)
}

func TestDeletingNeedsWriteScope(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	id := f.over(t, tarsy.SessionCompleted)
	_, reader := f.key(t, "reader", tarsy.ScopeRead)
	_, writer := f.key(t, "writer", tarsy.ScopeWrite)

	f.requireProblem(t, f.request(t, http.MethodDelete, "/api/v1/sessions/"+id, ""), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	f.requireProblem(t, f.request(t, http.MethodDelete, "/api/v1/sessions/"+id, "", reader...), http.StatusForbidden, tarsy.CodeForbidden)

	got := f.request(t, http.MethodDelete, "/api/v1/sessions/"+id, "", writer...)
	require.Equal(t, http.StatusNoContent, got.status, got.body)
	require.Contains(t, f.log.String(), "session deleted")
	require.Contains(t, f.log.String(), "writer")
}
