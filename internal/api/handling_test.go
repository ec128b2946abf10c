package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

func handlingPath(id string) string { return "/api/v1/sessions/" + id + "/handling" }

// handle changes the handling of a session, which must succeed.
func (f *fixture) handle(t *testing.T, id, body string, headers ...string) tarsy.Handling {
	t.Helper()

	got := f.request(t, http.MethodPatch, handlingPath(id), body, headers...)
	require.Equal(t, http.StatusOK, got.status, got.body)
	require.Empty(t, f.api.CheckAnswer(http.MethodPatch, "/api/v1/sessions/{id}/handling", http.StatusOK, []byte(got.body)), got.body)

	handled := decode[tarsy.Handling](t, got)
	require.Equal(t, fmt.Sprintf("%q", fmt.Sprint(handled.Version)), got.header.Get("ETag"))

	return handled
}

func TestSessionIsAcknowledgedAssignedTaggedResolvedAndReopened(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	owner, ana := f.key(t, "ana", tarsy.ScopeWrite)
	_, bob := f.key(t, "bob", tarsy.ScopeWrite)
	_, reader := f.key(t, "reader", tarsy.ScopeRead)
	id := f.session(t, func(s *tarsy.Session) { s.Status = tarsy.SessionInProgress })
	session := "/api/v1/sessions/" + id

	require.Nil(t, get[tarsy.SessionDetail](t, f, session, reader...).Handling)
	require.Equal(t, tarsy.NewHandling(id), get[tarsy.Handling](t, f, handlingPath(id), reader...))

	first := f.clock.Now()
	require.Equal(t, tarsy.Handling{
		SessionID: id, State: tarsy.HandlingAcknowledged, Assignee: "ana", AssigneeID: owner.ID, AcknowledgedBy: "ana", AcknowledgedAt: &first, Tags: []string{},
		Version: 1, UpdatedAt: &first, UpdatedBy: "ana",
	}, f.handle(t, id, `{"state": "acknowledged", "assignee": "me"}`, ana...))

	f.clock.Advance(time.Minute)

	then := f.clock.Now()
	resolved := f.handle(t, id, `{"state": "resolved", "resolution": " Restarted; the password was hunter2. ", "tags": {"add": ["Disk", " capacity "]}}`, bob...)
	require.Equal(t, tarsy.Handling{
		SessionID: id, State: tarsy.HandlingResolved, Assignee: "ana", AssigneeID: owner.ID, AcknowledgedBy: "ana", AcknowledgedAt: &first, ResolvedBy: "bob", ResolvedAt: &then,
		Resolution: "Restarted; the password was [MASKED].", Tags: []string{"capacity", "Disk"}, Version: 2, UpdatedAt: &then, UpdatedBy: "bob",
	}, resolved)

	detail := get[tarsy.SessionDetail](t, f, session, reader...)
	require.Equal(t, tarsy.SessionInProgress, detail.Status, "the investigation runs on")
	require.Equal(t, resolved, *detail.Handling)
	require.Equal(t, resolved, *f.listed(t, reader).Handling)
	require.Equal(t, resolved, get[tarsy.Handling](t, f, handlingPath(id), reader...))

	reopened := f.handle(t, id, `{"state": "open", "assignee": "", "tags": {"set": ["DISK"]}}`, ana...)
	require.Equal(t, tarsy.Handling{
		SessionID: id, State: tarsy.HandlingOpen, Tags: []string{"DISK"}, Version: 3, UpdatedAt: &then, UpdatedBy: "ana",
	}, reopened)

	f.requireProblem(t, f.request(t, http.MethodPatch, handlingPath(id), `{"state": "open"}`, reader...), http.StatusForbidden, tarsy.CodeForbidden)
	f.requireProblem(t, f.request(t, http.MethodPatch, handlingPath(id), `{"state": "open"}`), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
}

func TestSameHandlingAgainIsNeitherChangedNorAudited(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, ana := f.key(t, "ana", tarsy.ScopeWrite)
	_, bob := f.key(t, "bob", tarsy.ScopeWrite)
	id := f.session(t, func(*tarsy.Session) {})

	require.Equal(t, tarsy.NewHandling(id), f.handle(t, id, `{"state": "open", "tags": {"remove": ["none"]}}`, ana...))
	require.Empty(t, f.audited(t), "nothing was changed")

	const change = `{"state": "resolved", "resolution": "Restarted.", "assignee": "ana", "tags": {"add": ["disk"]}}`
	first := f.handle(t, id, change, ana...)

	f.clock.Advance(time.Minute)
	require.Equal(t, first, f.handle(t, id, change, bob...))

	rows := f.audited(t)
	require.Len(t, rows, 1)
	require.Equal(t, []any{"ana", "session.handle", "session", id}, []any{rows[0].Actor, rows[0].Action, rows[0].TargetType, rows[0].TargetID})
	require.Equal(t, map[string]string{"state": "resolved", "assignee": "ana", "resolution_length": "10", "tags": "disk"}, rows[0].Details)
}

func TestAssigneeWithNameOfCallerIsNotMasked(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, own := f.key(t, "hunter2", tarsy.ScopeWrite)
	_, ana := f.key(t, "ana", tarsy.ScopeWrite)

	const change = `{"assignee": " hunter2 "}`
	require.Equal(t, "hunter2", f.handle(t, f.session(t, func(*tarsy.Session) {}), change, own...).Assignee, "as in all that they do")
	require.Equal(t, "[MASKED]", f.handle(t, f.session(t, func(*tarsy.Session) {}), change, ana...).Assignee)
}

func TestHandlingOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id := f.session(t, func(*tarsy.Session) {})

	require.Equal(t, int64(1), f.handle(t, id, `{"assignee": "ana"}`, "If-Match", `"0"`).Version, "a session without a handling has version 0")
	require.Equal(t, int64(2), f.handle(t, id, `{"assignee": "bob"}`, "If-Match", `"1"`).Version)

	for _, stale := range []string{`"0"`, `"1"`, `"3"`} {
		got := f.request(t, http.MethodPatch, handlingPath(id), `{"assignee": "cy"}`, "If-Match", stale)
		f.requireProblem(t, got, http.StatusPreconditionFailed, tarsy.CodeChangedMeanwhile)
	}

	f.requireProblem(t, f.request(t, http.MethodPatch, handlingPath(id), `{"assignee": "cy"}`, "If-Match", "2"), http.StatusBadRequest, tarsy.CodeInvalidField)
	require.Equal(t, "bob", f.listed(t, nil).Handling.Assignee)
	require.Equal(t, "cy", f.handle(t, id, `{"assignee": "cy"}`).Assignee, "without the header the last one stays")
}

func TestBadHandlingIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id := f.session(t, func(*tarsy.Session) {})
	path := handlingPath(id)
	kept := f.handle(t, id, `{"state": "acknowledged", "tags": {"add": ["kept"]}}`)

	tags := make([]string, tarsy.MaxTags)
	for i := range tags {
		tags[i] = fmt.Sprintf(`"tag %d"`, i)
	}

	list := strings.Join(tags, ", ")

	for _, bad := range []struct {
		path, body string
		status     int
		code       tarsy.Code
		field      string
	}{
		{path, ``, http.StatusBadRequest, tarsy.CodeInvalidJSON, ""},
		{path, `{}`, http.StatusBadRequest, tarsy.CodeMissingField, ""},
		{path, `{"tags": {}}`, http.StatusBadRequest, tarsy.CodeMissingField, ""},
		{path, `{"state": "closed"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "state"},
		{path, `{"state": "Open"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "state"},
		{path, `{"state": ""}`, http.StatusBadRequest, tarsy.CodeInvalidField, "state"},
		{path, `{"owner": "ana"}`, http.StatusBadRequest, tarsy.CodeUnknownField, "owner"},
		{path, `{"assignee": "` + strings.Repeat("é", tarsy.MaxAssignee+1) + `"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "assignee"},
		{path, `{"assignee": "a\nb"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "assignee"},
		{path, `{"resolution": "done"}`, http.StatusConflict, tarsy.CodeConflict, "resolution"},
		{path, `{"state": "resolved", "resolution": "` + strings.Repeat("é", tarsy.MaxResolution+1) + `"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "resolution"},
		{path, `{"tags": ["disk"]}`, http.StatusBadRequest, tarsy.CodeInvalidField, "tags"},
		{path, `{"tags": {"add": [" "]}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "tags.add[0]"},
		{path, `{"tags": {"add": ["a\tb"]}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "tags.add"},
		{path, `{"tags": {"add": ["a\u202eb"]}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "tags.add"},
		{path, `{"tags": {"set": ["` + strings.Repeat("é", tarsy.MaxTag+1) + `"]}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "tags.set"},
		{path, `{"tags": {"set": ["a"], "add": ["b"]}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "tags.set"},
		{path, `{"tags": {"set": [` + list + `, "more"]}}`, http.StatusBadRequest, tarsy.CodeInvalidField, "tags.set"},
		{path, `{"tags": {"add": [` + list + `]}}`, http.StatusConflict, tarsy.CodeConflict, "tags"},
		{handlingPath(ident.New()), `{"state": "open"}`, http.StatusNotFound, tarsy.CodeSessionNotFound, ""},
		{handlingPath("none"), `{"state": "open"}`, http.StatusNotFound, tarsy.CodeSessionNotFound, ""},
	} {
		problem := f.requireProblem(t, f.request(t, http.MethodPatch, bad.path, bad.body), bad.status, bad.code)
		require.Equal(t, bad.field, problem.Field, bad.body)
	}

	require.Equal(t, kept, *f.listed(t, nil).Handling)
	f.requireProblem(t, f.request(t, http.MethodGet, handlingPath(ident.New()), ""), http.StatusNotFound, tarsy.CodeSessionNotFound)
	f.requireProblem(t, f.request(t, http.MethodGet, handlingPath("none"), ""), http.StatusNotFound, tarsy.CodeSessionNotFound)

	longest := `{"state": "resolved", "assignee": "` + strings.Repeat("é", tarsy.MaxAssignee) + `", "resolution": "a\u0000` + strings.Repeat("é", tarsy.MaxResolution-1) +
		`", "tags": {"set": ["` + strings.Repeat("é", tarsy.MaxTag) + `", "<script>"]}}`
	require.Equal(t, []string{"<script>", strings.Repeat("é", tarsy.MaxTag)}, f.handle(t, id, longest).Tags)

	masked := f.handle(t, id, `{"state": "resolved", "resolution": "hunter2`+strings.Repeat("é", tarsy.MaxResolution-7)+`"}`).Resolution
	require.Equal(t, "[MASKED]"+strings.Repeat("é", tarsy.MaxResolution-8), masked, "what stands for a secret is longer than it")
}

func TestManySessionsAreHandledEachByItself(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, ana := f.key(t, "ana", tarsy.ScopeWrite)
	_, reader := f.key(t, "reader", tarsy.ScopeRead)

	var ids []string
	for range 3 {
		ids = append(ids, f.session(t, func(*tarsy.Session) {}))
	}

	f.handle(t, ids[1], `{"state": "resolved", "resolution": "Known."}`, ana...)
	require.Len(t, f.audited(t), 1)

	handle := func(body string) []tarsy.HandlingResult {
		t.Helper()

		got := f.request(t, http.MethodPost, "/api/v1/sessions/handling", body, ana...)
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Empty(t, f.api.CheckAnswer(http.MethodPost, "/api/v1/sessions/handling", http.StatusOK, []byte(got.body)), got.body)

		return decode[struct {
			Results []tarsy.HandlingResult `json:"results"`
		}](t, got).Results
	}

	missing := ident.New()
	list := `["` + strings.Join(slices.Concat(ids, []string{missing, "none"}), `", "`) + `"]`
	results := handle(`{"ids": ` + list + `, "state": "resolved", "tags": {"add": ["storm"]}}`)
	require.Len(t, results, 5)

	for i, id := range ids {
		require.Equal(t, id, results[i].SessionID)
		require.True(t, results[i].Changed, "%d %+v", i, results[i].Handling)
		require.Equal(t, []string{"storm"}, results[i].Handling.Tags)
	}

	require.Equal(t, "Known.", results[1].Handling.Resolution, "its state did not change")
	require.Equal(t, tarsy.HandlingResult{SessionID: missing, Code: tarsy.CodeSessionNotFound, Message: results[3].Message}, results[3])
	require.Equal(t, tarsy.CodeSessionNotFound, results[4].Code)

	rows := f.audited(t)
	require.Len(t, rows, 4, "one for each session, so that the log can be searched by session")
	require.Equal(t, []string{"session.handle_many", ids[2], "storm"}, []string{rows[3].Action, rows[3].TargetID, rows[3].Details["tags"]})

	for _, result := range handle(`{"ids": ` + list + `, "state": "resolved", "tags": {"add": ["storm"]}}`) {
		require.False(t, result.Changed)
	}

	require.Len(t, f.audited(t), 4)

	many := `"` + strings.Join(slices.Repeat([]string{missing}, tarsy.MaxHandled+1), `", "`) + `"`

	for body, field := range map[string]string{
		`{"state": "open"}`: "ids", `{"ids": [], "state": "open"}`: "ids", `{"ids": [` + many + `], "state": "open"}`: "ids",
		`{"ids": ["` + ids[0] + `"]}`: "", `{"ids": ["` + ids[0] + `"], "state": "closed"}`: "state",
	} {
		got := f.request(t, http.MethodPost, "/api/v1/sessions/handling", body, ana...)
		require.Equal(t, http.StatusBadRequest, got.status, got.body)
		require.Equal(t, field, f.requireProblem(t, got, http.StatusBadRequest, tarsy.Code(problemCode(t, got))).Field, body)
	}

	got := f.request(t, http.MethodPost, "/api/v1/sessions/handling", `{"ids": ["`+ids[0]+`"], "state": "open"}`, reader...)
	f.requireProblem(t, got, http.StatusForbidden, tarsy.CodeForbidden)
}

func problemCode(t *testing.T, got answer) string {
	t.Helper()

	return decode[map[string]any](t, got)["code"].(string)
}

func TestListParametersOfHandling(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, ana := f.key(t, "ana", tarsy.ScopeWrite)

	var ids []string
	for range 4 {
		ids = append(ids, f.session(t, func(*tarsy.Session) {}))
	}

	f.handle(t, ids[1], `{"state": "acknowledged", "assignee": "me", "tags": {"add": ["Disk", "a b"]}}`, ana...)
	f.handle(t, ids[2], `{"state": "resolved", "assignee": "bob", "tags": {"add": ["disk"]}}`, ana...)

	for query, want := range map[string][]int{
		"handling=open":                       {3, 0},
		"handling=open,acknowledged":          {3, 1, 0},
		"handling=resolved, acknowledged":     {2, 1},
		"handling=open,acknowledged,resolved": {3, 2, 1, 0},
		"assignee=me":                         {1},
		"assignee=bob":                        {2},
		"tag=DISK":                            {2, 1},
		"tag=disk&tag=a b":                    {1},
		"tag=disk&handling=resolved":          {2},
		"tag=disk&assignee=me&handling=open":  {},
	} {
		values, err := url.ParseQuery(strings.ReplaceAll(query, " ", "%20"))
		require.NoError(t, err)

		var expected []string
		for _, n := range want {
			expected = append(expected, ids[n])
		}

		var found []string
		for _, item := range get[page](t, f, "/api/v1/sessions?"+values.Encode(), ana...).Sessions {
			found = append(found, item.ID)
		}

		require.Equal(t, expected, found, query)
	}

	options := get[tarsy.FilterOptions](t, f, "/api/v1/sessions/filter-options", ana...)
	require.Equal(t, []string{"ana", "bob"}, options.Assignees)
	require.Equal(t, []string{"Disk", "a b"}, options.Tags)

	for query, field := range map[string]string{
		"handling=closed": "handling", "assignee=a&assignee=b": "assignee", strings.Repeat("tag=a&", tarsy.MaxTags+1): "tag",
	} {
		got := f.request(t, http.MethodGet, "/api/v1/sessions?"+strings.TrimSuffix(query, "&"), "", ana...)
		require.Equal(t, field, f.requireProblem(t, got, http.StatusBadRequest, tarsy.CodeInvalidParameter).Field)
	}
}
