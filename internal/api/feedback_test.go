package api_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

type feedbackPage struct {
	Feedback []tarsy.Feedback `json:"feedback"`
}

func (f *fixture) ended(t *testing.T) (id, path string) {
	t.Helper()

	id = f.over(t, tarsy.SessionCompleted)

	return id, "/api/v1/sessions/" + id + "/feedback"
}

func TestFeedbackIsGivenReplacedAndWithdrawnByItsAuthor(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	owner, ana := f.key(t, "ana", tarsy.ScopeWrite)
	_, bob := f.key(t, "bob", tarsy.ScopeWrite)
	_, reader := f.key(t, "reader", tarsy.ScopeRead)
	id, path := f.ended(t)
	session := "/api/v1/sessions/" + id

	require.Equal(t, []tarsy.Feedback{}, get[tarsy.SessionDetail](t, f, session, reader...).Feedback)
	require.Equal(t, []tarsy.Feedback{}, get[feedbackPage](t, f, path, reader...).Feedback)

	got := f.request(t, http.MethodPut, path, `{"rating": "right", "why": "  It is the disk; the password is hunter2.  "}`, ana...)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Empty(t, f.api.CheckAnswer(http.MethodPut, "/api/v1/sessions/{id}/feedback", http.StatusOK, []byte(got.body)), got.body)

	first, now := decode[tarsy.Feedback](t, got), f.clock.Now()
	require.Equal(t, tarsy.Feedback{
		ID: first.ID, SessionID: id, Author: "ana", AuthorID: owner.ID, Rating: tarsy.RatingRight, Why: "It is the disk; the password is [MASKED].",
		CreatedAt: now, UpdatedAt: now,
	}, first)
	require.True(t, ident.Valid(first.ID))

	f.clock.Advance(time.Minute)

	second := decode[tarsy.Feedback](t, f.request(t, http.MethodPut, path, `{"rating": "partly", "real_cause": "the network of hunter2"}`, bob...))
	require.Equal(t, "bob", second.Author)
	require.Equal(t, "the network of [MASKED]", second.RealCause)
	require.Equal(t, []tarsy.Feedback{second, first}, get[feedbackPage](t, f, path, reader...).Feedback)
	require.Equal(t, tarsy.RatingPartly, f.listed(t, reader).Rating, "the worst of them")

	f.clock.Advance(time.Minute)

	third := decode[tarsy.Feedback](t, f.request(t, http.MethodPut, path, `{"rating": "wrong", "real_cause": "the network"}`, ana...))
	require.Equal(t, tarsy.Feedback{
		ID: first.ID, SessionID: id, Author: "ana", AuthorID: owner.ID, Rating: tarsy.RatingWrong, RealCause: "the network",
		CreatedAt: first.CreatedAt, UpdatedAt: f.clock.Now(),
	}, third)
	require.Equal(t, []tarsy.Feedback{third, second}, get[tarsy.SessionDetail](t, f, session, reader...).Feedback)
	require.Equal(t, tarsy.RatingWrong, f.listed(t, reader).Rating)

	got = f.request(t, http.MethodDelete, path, "", ana...)
	require.Equal(t, http.StatusNoContent, got.status, got.body)
	require.Equal(t, []tarsy.Feedback{second}, get[feedbackPage](t, f, path, reader...).Feedback)
	f.requireProblem(t, f.request(t, http.MethodDelete, path, "", ana...), http.StatusNotFound, tarsy.CodeFeedbackNotFound)

	for _, method := range []string{http.MethodPut, http.MethodDelete} {
		f.requireProblem(t, f.request(t, method, path, `{"rating": "right"}`, reader...), http.StatusForbidden, tarsy.CodeForbidden)
		f.requireProblem(t, f.request(t, method, path, `{"rating": "right"}`), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	}
}

// listed returns the only session in the list.
func (f *fixture) listed(t *testing.T, headers []string) tarsy.SessionItem {
	t.Helper()

	items := get[struct{ Sessions []tarsy.SessionItem }](t, f, "/api/v1/sessions", headers...).Sessions
	require.Len(t, items, 1)

	return items[0]
}

func TestBadFeedbackIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	_, path := f.ended(t)
	running := "/api/v1/sessions/" + f.session(t, func(*tarsy.Session) {}) + "/feedback"
	missing := "/api/v1/sessions/" + ident.New() + "/feedback"

	kept := decode[tarsy.Feedback](t, f.request(t, http.MethodPut, path, `{"rating": "wrong", "why": "kept"}`))
	require.Equal(t, tarsy.DefaultAuthor, kept.Author)

	long := strings.Repeat("é", tarsy.MaxFeedbackText+1)

	for _, bad := range []struct {
		path, body string
		status     int
		code       tarsy.Code
		field      string
	}{
		{path, ``, http.StatusBadRequest, tarsy.CodeInvalidJSON, ""},
		{path, `{}`, http.StatusBadRequest, tarsy.CodeMissingField, "rating"},
		{path, `{"rating": "good"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "rating"},
		{path, `{"rating": "Right"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "rating"},
		{path, `{"rating": 1}`, http.StatusBadRequest, tarsy.CodeInvalidField, "rating"},
		{path, `{"rating": "right", "author": "bob"}`, http.StatusBadRequest, tarsy.CodeUnknownField, "author"},
		{path, `{"rating": "wrong", "why": "` + long + `"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "why"},
		{path, `{"rating": "wrong", "real_cause": "` + long + `"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "real_cause"},
		{path, `{"rating": "right", "real_cause": "the disk"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "real_cause"},
		{running, `{"rating": "right"}`, http.StatusConflict, tarsy.CodeSessionNotOver, ""},
		{missing, `{"rating": "right"}`, http.StatusNotFound, tarsy.CodeSessionNotFound, ""},
		{"/api/v1/sessions/none/feedback", `{"rating": "right"}`, http.StatusNotFound, tarsy.CodeSessionNotFound, ""},
	} {
		problem := f.requireProblem(t, f.request(t, http.MethodPut, bad.path, bad.body), bad.status, bad.code)
		require.Equal(t, bad.field, problem.Field, bad.body)
	}

	for _, method := range []string{http.MethodGet, http.MethodDelete} {
		f.requireProblem(t, f.request(t, method, missing, ""), http.StatusNotFound, tarsy.CodeSessionNotFound)
		f.requireProblem(t, f.request(t, method, "/api/v1/sessions/none/feedback", ""), http.StatusNotFound, tarsy.CodeSessionNotFound)
	}

	f.requireProblem(t, f.request(t, http.MethodDelete, running, ""), http.StatusNotFound, tarsy.CodeFeedbackNotFound)
	require.Equal(t, []tarsy.Feedback{kept}, get[feedbackPage](t, f, path).Feedback)
	require.Empty(t, get[feedbackPage](t, f, running).Feedback)

	atLimit := strings.Repeat("é", tarsy.MaxFeedbackText)
	got := f.request(t, http.MethodPut, path, `{"rating": "partly", "why": "`+atLimit+`", "real_cause": "a\u0000b\ufffd<script>"}`)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Equal(t, "ab\ufffd<script>", decode[tarsy.Feedback](t, got).RealCause)
	require.Equal(t, atLimit, decode[tarsy.Feedback](t, got).Why)
}

func TestFeedbackOnDeletedSessionIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id, path := f.ended(t)
	require.Equal(t, http.StatusOK, f.request(t, http.MethodPut, path, `{"rating": "wrong"}`).status)
	require.NoError(t, f.db.DeleteSession(t.Context(), id))

	for method, body := range map[string]string{http.MethodGet: "", http.MethodPut: `{"rating": "right"}`, http.MethodDelete: ""} {
		f.requireProblem(t, f.request(t, method, path, body), http.StatusNotFound, tarsy.CodeSessionNotFound)
	}
}

func TestQualityChecksItsParameters(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for _, bad := range []struct{ query, field string }{
		{"by=chains", "by"},
		{"from=yesterday", "from"},
		{"to=1", "to"},
		{"from=2026-11-15T10:00:00Z&to=2026-11-15T10:00:00Z", "from"},
		{"from=2025-11-13T10:00:00Z&to=2026-11-15T10:00:00Z", "from"},
	} {
		problem := f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/quality?"+bad.query, ""), http.StatusBadRequest, tarsy.CodeInvalidParameter)
		require.Equal(t, bad.field, problem.Field, bad.query)
	}

	for _, by := range tarsy.QualityBys() {
		quality := get[tarsy.Quality](t, f, "/api/v1/quality?by="+string(by))
		require.Equal(t, by, quality.By)
		require.Equal(t, 30*24*time.Hour, quality.To.Sub(quality.From))
		require.Equal(t, []tarsy.QualityRow{}, quality.Rows)
		require.Equal(t, []tarsy.QualityRow{}, quality.Days)
		require.Zero(t, quality.Total.Sessions)
		require.Nil(t, quality.Total.Agreement)
		require.Nil(t, quality.Total.TimeToVerdictP50MS)
		require.Nil(t, quality.Total.CostPerAlertUSD)
		require.Len(t, quality.Total.Outcomes, len(tarsy.Outcomes()))
	}

	got := f.request(t, http.MethodGet, "/api/v1/quality", "")
	require.Empty(t, f.api.CheckAnswer(http.MethodGet, "/api/v1/quality", http.StatusOK, []byte(got.body)), got.body)
	require.Equal(t, tarsy.QualityByChain, decode[tarsy.Quality](t, got).By)
}
