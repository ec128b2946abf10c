package api_test

import (
	"log/slog"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/requestid"
)

func TestLogLevelIsChangedByAdmins(t *testing.T) {
	t.Parallel()

	const path = "/api/v1/system/log-level"

	level := &slog.LevelVar{}
	f := newFixture(t, func(cfg *api.Config) { cfg.Auth.Required, cfg.LogLevel = true, level })
	_, admin := f.key(t, "admin", tarsy.ScopeAdmin)
	_, writer := f.key(t, "writer", tarsy.ScopeWrite)

	got := f.request(t, http.MethodPut, path, `{"level":"debug"}`, writer...)
	f.requireProblem(t, got, http.StatusForbidden, tarsy.CodeForbidden)

	got = f.request(t, http.MethodPut, path, `{"level":"debug"}`, admin...)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Empty(t, f.api.CheckAnswer(http.MethodPut, path, http.StatusOK, []byte(got.body)))
	require.Equal(t, slog.LevelDebug, level.Level())

	got = f.request(t, http.MethodGet, path, "", admin...)
	require.JSONEq(t, `{"level":"debug"}`, got.body)

	got = f.request(t, http.MethodPut, path, `{"level":"loud"}`, admin...)
	require.Equal(t, "level", f.requireProblem(t, got, http.StatusBadRequest, tarsy.CodeInvalidField).Field)
	require.Equal(t, slog.LevelDebug, level.Level())
}

func TestProblemsAndAnswersHaveTheRequestID(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	got := f.request(t, http.MethodGet, "/api/v1/sessions/"+ident.New(), "", requestid.Header, "from-the-proxy")
	require.Equal(t, "from-the-proxy", got.header.Get(requestid.Header))
	require.Equal(t, "from-the-proxy", f.requireProblem(t, got, http.StatusNotFound, tarsy.CodeSessionNotFound).RequestID)

	got = f.request(t, http.MethodGet, "/api/v1/nothing", "")
	require.Equal(t, got.header.Get(requestid.Header), f.requireProblem(t, got, http.StatusNotFound, tarsy.CodeNotFound).RequestID)

	got = f.request(t, http.MethodGet, "/livez", "")
	require.NotEmpty(t, got.header.Get(requestid.Header))
}
