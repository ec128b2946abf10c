package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

const cancelPath = "/api/v1/sessions/cancel"

func (f *fixture) cancelMany(t *testing.T, body string) tarsy.BulkCancel {
	t.Helper()

	got := f.request(t, http.MethodPost, cancelPath, body)
	require.Equal(t, http.StatusAccepted, got.status, got.body)
	require.Empty(t, f.api.CheckAnswer(http.MethodPost, cancelPath, http.StatusAccepted, []byte(got.body)), got.body)

	return decode[tarsy.BulkCancel](t, got)
}

func TestFilterCancelsActiveSessionsThatMatch(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	done := f.over(t, tarsy.SessionCompleted)
	service := func(name string) func(*tarsy.Session) { return func(s *tarsy.Session) { s.Service = name } }

	var matching []string
	for range 3 {
		matching = append(matching, f.session(t, service("db")))
	}

	other := f.session(t, service("web"))
	require.Equal(t, http.StatusAccepted, f.request(t, http.MethodPost, "/api/v1/sessions/"+matching[0]+"/cancel", "").status)
	before := len(f.audited(t))

	dry := f.cancelMany(t, `{"filter": {"service": "db"}, "dry_run": true}`)
	require.Equal(t, tarsy.BulkCancel{
		DryRun: true, Matched: 3, Requested: 2, Skipped: []tarsy.SkippedCancel{{SessionID: matching[0], Reason: tarsy.CancelRequested}}, SessionIDs: matching[1:],
	}, dry)
	require.Len(t, f.audited(t), before, "a dry run changes nothing")

	done1 := f.cancelMany(t, `{"filter": {"service": "db"}}`)
	dry.DryRun = false
	require.Equal(t, dry, done1)

	row := f.lastAudited(t)
	require.Equal(t, "session.cancel_many", row.Action)
	require.Equal(t, map[string]string{"requested": "2", "skipped": "1", "session_ids": strings.Join(matching[1:], " ")}, row.Details)

	for _, id := range matching {
		requests, err := f.db.OpenRequests(t.Context(), id)
		require.NoError(t, err)
		require.Len(t, requests, 1)
		require.Equal(t, tarsy.RequestCancel, requests[0].Kind)
		require.Equal(t, tarsy.DefaultAuthor, requests[0].Author)
	}

	for _, id := range []string{other, done} {
		requests, err := f.db.OpenRequests(t.Context(), id)
		require.NoError(t, err)
		require.Empty(t, requests)
	}

	require.Zero(t, f.cancelMany(t, `{"filter": {"status": "completed"}}`).Matched, "sessions that are over are not considered")
}

func TestIDsAreCancelledOrSkippedWithReason(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	done, pending, nobody := f.over(t, tarsy.SessionCompleted), f.session(t, func(*tarsy.Session) {}), ident.New()

	got := f.cancelMany(t, fmt.Sprintf(`{"ids": [%q, %q, %q, %q]}`, done, pending, nobody, pending))
	require.Equal(t, []int{2, 1}, []int{got.Matched, got.Requested})
	require.ElementsMatch(t, []tarsy.SkippedCancel{
		{SessionID: done, Reason: tarsy.CancelNotRunning}, {SessionID: nobody, Reason: tarsy.CancelNotFound},
	}, got.Skipped)
}

// More sessions than fit a page and a batch.
func TestFilterCancelsMoreThanOnePage(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	const all = 230
	for range all {
		f.session(t, func(s *tarsy.Session) { s.AlertData = "flood" })
	}

	for _, filter := range []string{`{}`, `{"search": "flood"}`} {
		got := f.cancelMany(t, `{"dry_run": true, "filter": `+filter+`}`)
		require.Equal(t, []int{all, all}, []int{got.Matched, got.Requested}, filter)
	}

	require.Equal(t, all, f.cancelMany(t, `{"filter": {}}`).Requested)
	require.Len(t, f.cancelMany(t, `{"filter": {}}`).Skipped, all)
}

func TestInvalidBulkCancelChangesNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id := f.session(t, func(*tarsy.Session) {})
	many := `["` + strings.Repeat(id+`","`, tarsy.MaxCancelIDs) + id + `"]`

	for body, code := range map[string]tarsy.Code{
		`{}`: tarsy.CodeMissingField, `{"dry_run": true}`: tarsy.CodeMissingField,
		`{"ids": ["` + id + `"], "filter": {}}`:  tarsy.CodeMissingField,
		`{"ids": ["x"]}`:                         tarsy.CodeInvalidField,
		`{"ids": ` + many + `}`:                  tarsy.CodeInvalidField,
		`{"filter": {"severity": "bad"}}`:        tarsy.CodeInvalidParameter,
		`{"filter": {"servce": "db"}}`:           tarsy.CodeUnknownField,
		`{"filter": {"created_after": "today"}}`: tarsy.CodeInvalidParameter,
	} {
		f.requireProblem(t, f.request(t, http.MethodPost, cancelPath, body), http.StatusBadRequest, code)
	}

	requests, err := f.db.OpenRequests(t.Context(), id)
	require.NoError(t, err)
	require.Empty(t, requests)
}
