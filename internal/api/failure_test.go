package api_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// broken is an intake whose Submit fails in a configurable way.
type broken struct{ submit func() error }

func (b broken) Submit(context.Context, tarsy.Alert) (tarsy.Session, error) {
	return tarsy.Session{}, b.submit()
}
func (b broken) Cancel(context.Context, string, string) (tarsy.SessionStatus, error) {
	return "", b.submit()
}
func (b broken) CancelMany(context.Context, []string, string, bool) (tarsy.BulkCancel, error) {
	return tarsy.BulkCancel{}, b.submit()
}
func (b broken) Ask(context.Context, string, string, string) (tarsy.Question, error) {
	return tarsy.Question{}, b.submit()
}

func TestInternalErrorsAreNotExposed(t *testing.T) {
	t.Parallel()

	for name, submit := range map[string]func() error{
		"error": func() error { return errors.New("password=hunter2 refused by 10.0.0.3") },
		"panic": func() error { panic("password=hunter2 refused by 10.0.0.3") },
		"internal error with a message": func() error {
			return tarsy.Errorf(tarsy.CodeInternal, "password=hunter2 refused by 10.0.0.3")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFixture(t, func(cfg *api.Config) { cfg.Intake = broken{submit} })
			got := f.request(t, http.MethodPost, "/api/v1/alerts", `{"data":"x"}`)
			problem := f.requireProblem(t, got, http.StatusInternalServerError, tarsy.CodeInternal)
			require.NotContains(t, got.body, "hunter2")

			id := strings.TrimPrefix(problem.Instance, "urn:uuid:")
			require.True(t, ident.Valid(id))
			require.Contains(t, problem.Detail, id)
			require.Contains(t, f.log.String(), id)
			require.Contains(t, f.log.String(), "hunter2")
		})
	}
}

func TestOverloadedServerSendsRetryAfter(t *testing.T) {
	t.Parallel()

	f := newFixture(t, func(cfg *api.Config) {
		cfg.Intake = broken{func() error { return tarsy.Errorf(tarsy.CodeOverloaded, "too many alerts wait") }}
	})
	got := f.request(t, http.MethodPost, "/api/v1/alerts", `{"data":"x"}`)
	require.Equal(t, "too many alerts wait", f.requireProblem(t, got, http.StatusServiceUnavailable, tarsy.CodeOverloaded).Detail)
	require.Equal(t, "5", got.header.Get("Retry-After"))
}

func TestReadinessReportsReadableReason(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		err  error
		code tarsy.Code
		says string
	}{
		"for people":     {tarsy.Errorf(tarsy.CodeUnavailable, "the MCP server k8s is down"), tarsy.CodeUnavailable, "k8s is down"},
		"shutting down":  {tarsy.Errorf(tarsy.CodeShuttingDown, "the server is shutting down"), tarsy.CodeShuttingDown, "shutting down"},
		"not for people": {errors.New("dial 10.0.0.3: refused"), tarsy.CodeUnavailable, "not ready"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFixture(t, locked, func(cfg *api.Config) { cfg.Ready = func() error { return c.err } })
			got := f.request(t, http.MethodGet, "/readyz", "")
			problem := f.requireProblem(t, got, http.StatusServiceUnavailable, c.code)
			require.Contains(t, problem.Detail, c.says)
			require.NotContains(t, got.body, "10.0.0.3")
			require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, "/livez", "").status)
		})
	}
}

func TestHealthWithoutDatabaseIsUnavailableAndLivenessOK(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	_, key := f.key(t, "ci", tarsy.ScopeRead)
	f.db.Stop()

	f.requireProblem(t, f.request(t, http.MethodGet, "/health", ""), http.StatusServiceUnavailable, tarsy.CodeUnavailable)
	f.requireProblem(t, f.request(t, http.MethodGet, "/health", "", key...), http.StatusServiceUnavailable, tarsy.CodeUnavailable)
	require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, "/livez", "").status)
}

func TestRequestsDuringDatabaseOutageAreUnavailable(t *testing.T) {
	t.Parallel()

	requests := map[string][2]string{
		"submit":   {http.MethodPost, "/api/v1/alerts"},
		"list":     {http.MethodGet, "/api/v1/sessions"},
		"session":  {http.MethodGet, "/api/v1/sessions/" + ident.New()},
		"timeline": {http.MethodGet, "/api/v1/sessions/" + ident.New() + "/timeline"},
		"trace":    {http.MethodGet, "/api/v1/sessions/" + ident.New() + "/trace"},
		"usage":    {http.MethodGet, "/api/v1/usage/summary"},
	}

	f := newFixture(t)
	restore := pgtest.Interrupt(t, f.url)

	for name, request := range requests {
		body := ""
		if request[0] == http.MethodPost {
			body = `{"alert_type":"kubernetes","data":"x"}`
		}

		got := f.request(t, request[0], request[1], body)
		problem := f.requireProblem(t, got, http.StatusServiceUnavailable, tarsy.CodeUnavailable)
		require.Equal(t, "5", got.header.Get("Retry-After"), name)
		require.Equal(t, "The database is not available. Try again later.", problem.Detail, name)
	}

	restore()
	require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, "/api/v1/sessions", "").status)
}

func TestAlertOnFullDiskIsUnavailable(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	_, err := f.connect(t).Exec(t.Context(), `CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER full_disk BEFORE INSERT ON sessions FOR EACH ROW EXECUTE FUNCTION full_disk()`)
	require.NoError(t, err)

	got := f.request(t, http.MethodPost, "/api/v1/alerts", `{"alert_type":"kubernetes","data":"x"}`)
	f.requireProblem(t, got, http.StatusServiceUnavailable, tarsy.CodeUnavailable)
	require.Equal(t, "5", got.header.Get("Retry-After"))
}

func TestPanicDuringResponseClosesConnection(t *testing.T) {
	t.Parallel()

	f := newFixture(t, func(cfg *api.Config) {
		cfg.Events = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			panic("in the middle")
		})
	})

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.http.URL+"/api/v1/sessions/"+ident.New()+"/events", nil)
	require.NoError(t, err)

	response, err := f.http.Client().Do(request)
	require.NoError(t, err)

	_, err = response.Body.Read(make([]byte, 1))
	require.ErrorContains(t, err, "unexpected EOF")
	require.NoError(t, response.Body.Close())
	require.Contains(t, f.log.String(), "in the middle")
}
