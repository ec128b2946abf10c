package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
)

const sharedPath = "/api/v1/shared"

type createdShare struct {
	tarsy.Share

	Secret string `json:"secret"`
	URL    string `json:"url"`
}

type sharedPage struct {
	SharedBy   string               `json:"shared_by"`
	ExpiresAt  time.Time            `json:"expires_at"`
	Session    tarsy.SharedSession  `json:"session"`
	Events     []tarsy.TimelineItem `json:"events"`
	NextCursor string               `json:"next_cursor"`
}

// shared stores a session with a share for an hour, and returns its id and the share's secret.
func (f *fixture) shared(t *testing.T) (id, secret string) {
	t.Helper()

	id = f.investigated(t)
	secret, hash := auth.NewShareSecret()
	now := calendar.Time(f.clock.Now())
	require.NoError(t, f.accounts.CreateShare(t.Context(), tarsy.Share{
		ID: ident.New(), SessionID: id, Author: "ana", CreatedAt: now, ExpiresAt: now.Add(time.Hour),
	}, hash))

	return id, secret
}

func with(secret string) []string { return []string{"Authorization", "Bearer " + secret} }

func TestShareShowsOneSessionAndNoMore(t *testing.T) {
	t.Parallel()

	public, err := url.Parse("https://tarsy.example/team")
	require.NoError(t, err)

	f := newFixture(t, locked, func(cfg *api.Config) { cfg.PublicURL = public })
	_, writer := f.key(t, "ana", tarsy.ScopeWrite)
	id, other := f.investigated(t), f.session(t, func(s *tarsy.Session) { s.AlertData = "somebody else's alert" })
	path := "/api/v1/sessions/" + id + "/shares"

	got := f.request(t, http.MethodPost, path, `{"expires_in": "24h"}`, writer...)
	require.Equal(t, http.StatusCreated, got.status, got.body)
	require.Empty(t, f.api.CheckAnswer(http.MethodPost, "/api/v1/sessions/{id}/shares", http.StatusCreated, []byte(got.body)))

	created := decode[createdShare](t, got)
	require.Equal(t, "https://tarsy.example/team/shared#"+created.Secret, created.URL)
	require.Equal(t, f.clock.Now().Add(24*time.Hour).UTC(), created.ExpiresAt)

	got = f.request(t, http.MethodGet, sharedPath, "", with(created.Secret)...)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Empty(t, f.api.CheckAnswer(http.MethodGet, sharedPath, http.StatusOK, []byte(got.body)))
	require.NotContains(t, got.body, other)
	require.NotContains(t, got.body, "pod down", "the alert's text is not shared")

	page := decode[sharedPage](t, got)
	require.Equal(t, "ana", page.SharedBy)
	require.Equal(t, id, page.Session.ID)
	require.Equal(t, "look", page.Session.Stages[0].StageName)
	require.Len(t, page.Events, 1)
	require.Equal(t, "hm", page.Events[0].Content)

	listed := f.request(t, http.MethodGet, path, "", writer...)
	require.NotContains(t, listed.body, created.Secret)
	require.NotContains(t, listed.body, "hash")
	shares := decode[struct {
		Shares []tarsy.Share `json:"shares"`
	}](t, listed).Shares
	require.Len(t, shares, 1)
	require.EqualValues(t, 1, shares[0].Uses)
	require.NotNil(t, shares[0].LastUsedAt)

	rows, err := json.Marshal(f.audited(t))
	require.NoError(t, err)
	require.NotContains(t, string(rows), created.Secret)
	require.Contains(t, string(rows), created.ID)
	require.NotContains(t, f.log.String(), created.Secret)
}

func TestShareThatIsOverIsAnsweredLikeUnknownOne(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, admin := f.key(t, "ana", tarsy.ScopeAdmin)
	unknown, _ := auth.NewShareSecret()
	answers := map[string]string{}
	refused := func(name, secret string) {
		got := f.request(t, http.MethodGet, sharedPath, "", with(secret)...)
		p := f.requireProblem(t, got, http.StatusNotFound, tarsy.CodeShareNotFound)
		p.RequestID = ""
		text, err := json.Marshal(p)
		require.NoError(t, err)

		answers[string(text)] = name
	}

	_, expired := f.shared(t)
	f.clock.Advance(time.Hour)
	refused("expired", expired)

	id, revoked := f.shared(t)
	shares, err := f.accounts.Shares(t.Context(), id)
	require.NoError(t, err)
	path := "/api/v1/sessions/" + id + "/shares/"
	require.Equal(t, http.StatusOK, f.request(t, http.MethodDelete, path+shares[0].ID, "", admin...).status)
	require.Equal(t, "share.revoke", f.lastAudited(t).Action)
	require.Equal(t, id, f.lastAudited(t).TargetID)
	refused("revoked", revoked)
	f.requireProblem(t, f.request(t, http.MethodDelete, path+ident.New(), "", admin...), http.StatusNotFound, tarsy.CodeShareNotFound)

	over := f.over(t, tarsy.SessionCompleted)
	got := f.request(t, http.MethodPost, "/api/v1/sessions/"+over+"/shares", "", admin...)
	require.Equal(t, http.StatusCreated, got.status, got.body)
	require.Equal(t, http.StatusNoContent, f.request(t, http.MethodDelete, "/api/v1/sessions/"+over, "", admin...).status)
	refused("deleted", decode[createdShare](t, got).Secret)
	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/sessions/"+over+"/shares", "", admin...), http.StatusNotFound, tarsy.CodeSessionNotFound)

	refused("unknown", unknown)
	refused("malformed", "tarsyshare_1")
	refused("key", strings.TrimPrefix(admin[1], "Bearer "))
	require.Len(t, answers, 1, "they differ: %v", answers)
}

func TestShareLifeIsBounded(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	path := "/api/v1/sessions/" + f.investigated(t) + "/shares"

	for _, life := range []string{"2161h", "-1h", "0s", "a week", "59s"} {
		got := f.request(t, http.MethodPost, path, `{"expires_in": "`+life+`"}`)
		require.Equal(t, "expires_in", f.requireProblem(t, got, http.StatusBadRequest, tarsy.CodeInvalidField).Field, life)
	}

	share := decode[createdShare](t, f.request(t, http.MethodPost, path, ""))
	require.Equal(t, tarsy.DefaultShareLife, share.ExpiresAt.Sub(share.CreatedAt))
	require.Empty(t, share.URL, "nobody configured where people open the dashboard")
	require.Equal(t, http.StatusCreated, f.request(t, http.MethodPost, path, `{"expires_in": "2160h"}`).status)
}

func TestSharesThatAreOverMakeRoomForOthers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	path := "/api/v1/sessions/" + f.investigated(t) + "/shares"

	for range tarsy.MaxShares {
		require.Equal(t, http.StatusCreated, f.request(t, http.MethodPost, path, `{"expires_in": "1m"}`).status)
	}

	f.clock.Advance(time.Minute - time.Microsecond)
	f.requireProblem(t, f.request(t, http.MethodPost, path, ""), http.StatusConflict, tarsy.CodeConflict)
	f.clock.Advance(time.Microsecond)
	require.Equal(t, http.StatusCreated, f.request(t, http.MethodPost, path, "").status)
}

func TestSharedSessionsAreLimitedPerNetwork(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked, func(cfg *api.Config) { cfg.Login.AttemptsPerMinute = 1 })
	_, secret := f.shared(t)

	for range 6 {
		require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, sharedPath, "", with(secret)...).status)
	}

	got := f.request(t, http.MethodGet, sharedPath, "", with(secret)...)
	f.requireProblem(t, got, http.StatusTooManyRequests, tarsy.CodeTooManyRequests)
	require.NotEmpty(t, got.header.Get("Retry-After"))
}
