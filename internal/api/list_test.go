package api_test

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

type page struct {
	Sessions   []tarsy.SessionItem `json:"sessions"`
	NextCursor string              `json:"next_cursor"`
}

// list returns the ids that a query finds, all on one page.
func (f *fixture) list(t *testing.T, query url.Values) []string {
	t.Helper()

	got := get[page](t, f, "/api/v1/sessions?"+query.Encode())
	require.Empty(t, got.NextCursor)

	ids := make([]string, 0, len(got.Sessions))
	for _, session := range got.Sessions {
		ids = append(ids, session.ID)
	}

	return ids
}

func TestPagingVisitsEverySessionOnceWithEqualTimes(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	var want []string

	for i := range 57 {
		if i == 20 || i == 40 {
			f.clock.Advance(time.Microsecond)
		}

		want = append(want, f.session(t, func(*tarsy.Session) {}))
	}

	slices.Reverse(want) // ids of the same moment sort by creation

	for _, limit := range []int{1, 7, 19, 56, 57, 58} {
		var met []string

		for cursor := ""; ; {
			got := get[page](t, f, "/api/v1/sessions?limit="+strconv.Itoa(limit)+cursor)
			for _, session := range got.Sessions {
				met = append(met, session.ID)
			}

			if got.NextCursor == "" {
				break
			}

			require.Len(t, got.Sessions, limit)

			cursor = "&cursor=" + url.QueryEscape(got.NextCursor)

			if len(met) == 7 {
				// New sessions come before the first page and do not affect later pages.
				f.session(t, func(s *tarsy.Session) { s.CreatedAt = s.CreatedAt.Add(time.Hour) })
			}
		}

		seen := slices.DeleteFunc(met, func(id string) bool { return !slices.Contains(want, id) })
		require.Equal(t, want, seen, "in pages of %d", limit)
	}
}

func TestAttentionOrderListsRunningFailedWaitingDoneWithCursor(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	ids := map[tarsy.SessionStatus]string{}

	for _, status := range []tarsy.SessionStatus{
		tarsy.SessionInProgress, tarsy.SessionPending, tarsy.SessionFailed, tarsy.SessionCompleted, tarsy.SessionTimedOut,
	} {
		f.clock.Advance(time.Minute)

		ids[status] = f.session(t, func(s *tarsy.Session) { s.Status = status })
	}

	want := []string{
		ids[tarsy.SessionInProgress], ids[tarsy.SessionTimedOut], ids[tarsy.SessionFailed], ids[tarsy.SessionPending], ids[tarsy.SessionCompleted],
	}
	require.Equal(t, want, f.list(t, url.Values{"order": {"attention"}}))
	require.Equal(t, []string{want[1], want[4], want[2], want[3], want[0]}, f.list(t, url.Values{"order": {"newest"}}))

	var met []string

	for cursor := ""; len(met) < len(want); {
		got := get[page](t, f, "/api/v1/sessions?limit=1&order=attention"+cursor)
		met = append(met, got.Sessions[0].ID)
		cursor = "&cursor=" + url.QueryEscape(got.NextCursor)

		if got.NextCursor != "" {
			f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/sessions?order=newest"+cursor, ""), http.StatusBadRequest, tarsy.CodeInvalidCursor)
		}
	}

	require.Equal(t, want, met)
}

func TestListWithoutSessionsIsEmptyArray(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	require.JSONEq(t, `{"sessions":[]}`, f.request(t, http.MethodGet, "/api/v1/sessions", "").body)
	require.JSONEq(t, `{"active":[],"queued":[],"active_total":0,"queued_total":0}`, f.request(t, http.MethodGet, "/api/v1/sessions/active", "").body)
	require.JSONEq(t, `{"alert_types":[],"chain_ids":[],"authors":[],"services":[],"namespaces":[],"clusters":[],"teams":[],
		"severities":["critical","high","warning","info"],
		"statuses":["pending","in_progress","cancelling","completed","failed","cancelled","timed_out"],
		"outcomes":["cause_found","probable_cause","inconclusive","false_alarm","needs_human"],
		"handling_states":["open","acknowledged","resolved"],"assignees":[],"tags":[]}`,
		f.request(t, http.MethodGet, "/api/v1/sessions/filter-options", "").body)
}

func TestDefaultPageHasFiftySessions(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	for range 51 {
		f.session(t, func(*tarsy.Session) {})
	}

	got := get[page](t, f, "/api/v1/sessions")
	require.Len(t, got.Sessions, 50)
	require.NotEmpty(t, got.NextCursor)
}

func TestFiltersMatchExactly(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	start := f.clock.Now().UTC()
	pending := f.session(t, func(*tarsy.Session) {})

	f.clock.Advance(time.Hour)
	failed := f.session(t, func(s *tarsy.Session) {
		s.Status, s.AlertType, s.ErrorMessage = tarsy.SessionFailed, "disk", "Broken Pipe"
	})

	f.clock.Advance(time.Hour)
	done := f.session(t, func(s *tarsy.Session) {
		s.Status, s.ChainID, s.Author, s.ExecutiveSummary = tarsy.SessionCompleted, "other", "ada", "100% CPU on node_1"
		s.Title, s.Severity, s.Service, s.Namespace = "Checkout is slow", tarsy.SeverityCritical, "checkout", "shop"
		s.Cluster, s.Team, s.Fingerprint, s.Labels = "eu-1", "payments", "5f3a", map[string]string{"job": "api=v2", "env": "prod"}
		s.Outcome, s.Cause = tarsy.OutcomeFalseAlarm, "The probe was misconfigured."
	})

	for query, want := range map[string][]string{
		"":                                    {done, failed, pending},
		"status=pending":                      {pending},
		"status=failed,+completed":            {done, failed},
		"status=":                             {done, failed, pending},
		"status=cancelled":                    {},
		"alert_type=disk":                     {failed},
		"alert_type=dis":                      {},
		"chain_id=other":                      {done},
		"author=ada&status=completed":         {done},
		"author=ada&status=pending":           {},
		"outcome=false_alarm":                 {done},
		"outcome=needs_human,+false_alarm":    {done},
		"outcome=needs_human":                 {},
		"outcome=":                            {done, failed, pending},
		"outcome=false_alarm&status=failed":   {},
		"search=misconfigured":                {done},
		"search=broken":                       {failed},
		"search=slow":                         {done},
		"severity=critical":                   {done},
		"severity=":                           {done, failed, pending},
		"severity=info":                       {},
		"service=checkout&namespace=shop":     {done},
		"service=check":                       {},
		"cluster=eu-1":                        {done},
		"team=payments":                       {done},
		"team=payments&status=failed":         {},
		"fingerprint=5f3a":                    {done},
		"label=job=api%3Dv2":                  {done},
		"label=job=api%3Dv2&label=env=prod":   {done},
		"label=job=api%3Dv2&label=env=test":   {},
		"label=env=prod&search=slow":          {done},
		"label=env=":                          {},
		"created_after=" + moment(start, 60):  {done, failed},
		"created_before=" + moment(start, 60): {pending},
		"created_after=" + moment(start, 1) + "&created_before=" + moment(start, 61): {failed},
	} {
		values, err := url.ParseQuery(query)
		require.NoError(t, err)
		require.Equal(t, want, f.list(t, values), "for %q", query)
	}
}

// moment formats a time some minutes after start as a parameter.
func moment(start time.Time, minutes int) string {
	return url.QueryEscape(start.Add(time.Duration(minutes) * time.Minute).In(time.FixedZone("", 3600)).Format(time.RFC3339Nano))
}

func TestSearchTreatsPunctuationAsText(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	ids := map[string]string{}

	for _, data := range []string{`usage 100%`, `usage 100x`, `node_1`, `nodex1`, `it's`} {
		ids[data] = f.session(t, func(s *tarsy.Session) { s.AlertData = data })
	}

	for search, found := range map[string]string{`"100%"`: `usage 100%`, `node_1`: `node_1`, `it's`: `it's`, `NODE_1`: `node_1`} {
		require.Equal(t, []string{ids[found]}, f.list(t, url.Values{"search": {search}}), "for %q", search)
	}

	for _, search := range []string{`%`, `_`, `'`, `u%e`, `n_dex1`} {
		require.Empty(t, f.list(t, url.Values{"search": {search}}), "for %q", search)
	}
}
