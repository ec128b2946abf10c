package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/published"
	"tarsy.dev/tarsy/tarsytest"
)

// publishedFields returns the fields with which the published TARSy answers a call, by the field that contains them.
func publishedFields(t *testing.T, pattern string) map[string][]string {
	t.Helper()

	var known struct {
		Routes []struct {
			Method, Path string
			Fields       []string
			Items        struct {
				Field  string
				Fields []string
			}
		}
	}

	raw, err := os.ReadFile("../internal/published/testdata/published.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &known))

	for _, r := range known.Routes {
		if r.Method+" "+r.Path == pattern {
			fields := map[string][]string{r.Items.Field: r.Items.Fields}
			fields[""] = r.Fields

			return fields
		}
	}

	require.Fail(t, "the published TARSy has no "+pattern)

	return nil
}

// missingByGuide returns the fields that are missing in the response to a call, according to the guide.
func missingByGuide(t *testing.T, pattern string) []string {
	t.Helper()

	guide, err := os.ReadFile("../docs/migrating.md")
	require.NoError(t, err)

	row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta("`"+pattern+"`") + ` \| .*?\b(?:no|are no) (.*?)(?:; of executions.*)? \|$`).FindStringSubmatch(string(guide))
	if row == nil {
		return []string{}
	}

	var names []string
	for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[1], -1) {
		names = append(names, name[1])
	}

	return names
}

func TestCallsOfPublishedClientsAreAnswered(t *testing.T) {
	t.Parallel()

	options := everything()
	options.RequireKey = true
	app := tarsytest.New(t, options)
	app.Script.Add(says("The limit is too low."), says("Too low."))
	app.Token = app.Key("client", tarsy.ScopeAdmin)

	answer := app.Do(http.MethodPost, published.Prefix+"/api/v1/alerts", map[string]any{
		"alert_type": "test", "data": "pod crashed", "slack_message_fingerprint": "pod-down-1",
		"mcp": map[string]any{"servers": []any{map[string]any{"name": "kubernetes"}}},
	})
	require.Equal(t, http.StatusAccepted, answer.Status, string(answer.Body))

	accepted := decode[map[string]any](answer.Body)
	require.Equal(t, "queued", accepted["status"])

	id, _ := accepted["session_id"].(string)
	app.WaitFor(id, tarsy.SessionCompleted)

	bodies := map[string]map[string]any{"POST /api/v1/alerts": accepted}
	for _, pattern := range published.Calls()[1:] {
		path := strings.ReplaceAll(strings.TrimPrefix(pattern, "GET "), "{id}", id)
		answer := app.Do(http.MethodGet, published.Prefix+path, nil)
		require.Equal(t, http.StatusOK, answer.Status, "%s: %s", pattern, answer.Body)

		if strings.HasSuffix(path, "/timeline") {
			events := decode[[]map[string]any](answer.Body)
			require.EqualValues(t, len(events), events[len(events)-1]["sequence_number"])
			bodies[pattern] = events[0]
		} else {
			bodies[pattern] = decode[map[string]any](answer.Body)
		}
	}

	for _, pattern := range published.Calls() {
		missing := []string{}

		for field, names := range publishedFields(t, pattern) {
			object := bodies[pattern]
			if field != "" {
				object = within(t, object, field, 0)
			}

			have := slices.Collect(maps.Keys(object))
			missing = append(missing, slices.DeleteFunc(names, func(name string) bool { return slices.Contains(have, name) || name == "estimated_cost_usd" })...)
		}

		require.ElementsMatch(t, missingByGuide(t, pattern), missing, "what docs/migrating.md says of %s", pattern)
	}

	require.Equal(t, map[string]any{
		"id": id, "status": "completed", "final_analysis": "The limit is too low.", "executive_summary": "Too low.", "error_message": nil,
	}, bodies["GET /api/v1/sessions/{id}/status"])

	detail := bodies["GET /api/v1/sessions/{id}"]
	require.Equal(t, []any{"pod crashed", "pod-down-1", 1.0, 1.0}, []any{
		detail["alert_data"], detail["slack_message_fingerprint"], detail["total_stages"], detail["completed_stages"],
	})
	require.Equal(t, map[string]any{"page": 1.0, "page_size": 25.0, "total_pages": 1.0, "total_items": 1.0}, bodies["GET /api/v1/sessions"]["pagination"])
}

func TestPublishedListHasPagesAndFilters(t *testing.T) {
	t.Parallel()

	options := everything()
	options.Config += "queue: {worker_count: 0}\n"
	app := tarsytest.New(t, options)

	ids := []any{}
	for i := range 5 {
		ids = slices.Insert(ids, 0, any(app.Submit("test", fmt.Sprint("pod ", i))))
	}

	for query, want := range map[string][]any{
		"page_size=2":        ids[:2],
		"page=2&page_size=2": ids[2:4],
		"page=3&page_size=2&sort_by=created_at&sort_order=desc": ids[4:],
		"page=4&page_size=2":              {},
		"status=pending&alert_type=":      ids,
		"status=completed":                {},
		"end_date=2020-01-01T00:00:00Z":   {},
		"start_date=2020-01-01T00:00:00Z": ids,
		"search=pod":                      ids,
	} {
		list := get(t, app, published.Prefix+"/api/v1/sessions?"+query)
		got := []any{}

		for i := range list["sessions"].([]any) {
			got = append(got, within(t, list, "sessions", i)["id"])
		}

		require.Equal(t, want, got, query)
	}

	for _, query := range []string{
		"page=0", "page=x", "page_size=101", "page=900&page_size=2", "sort_by=score", "sort_order=asc", "scoring_status=scored", "nonsense=1", "start_date=yesterday", "status=odd",
	} {
		answer := app.Do(http.MethodGet, published.Prefix+"/api/v1/sessions?"+query, nil)
		require.Equal(t, http.StatusBadRequest, answer.Status, query)

		failed := decode[map[string]string](answer.Body)
		require.NotEmpty(t, failed["message"], query)
		require.NotEmpty(t, failed["code"], query)
	}
}

// The API authorizes each call, whoever makes it.
func TestPublishedCallsNeedWhatTheAPINeeds(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, byTeam())
	app.Script.Add(says("Analysed."), says("Summed up."))

	admin := app.Key("root", tarsy.ScopeAdmin)
	reader := app.Key("reader", tarsy.ScopeRead)
	app.Token = admin
	id := app.SubmitAlert(alertOf("payments"))
	app.WaitFor(id, tarsy.SessionCompleted)

	app.Token = ""

	for _, pattern := range published.Calls() {
		method, path, _ := strings.Cut(strings.ReplaceAll(pattern, "{id}", id), " ")
		path = published.Prefix + path

		require.Equal(t, http.StatusUnauthorized, app.Do(method, path, alertOf("payments")).Status, pattern)
		require.NotContains(t, string(asTeam(app, "storage", method, path, nil).Body), "zebra-payments", pattern)

		if strings.Contains(pattern, "{id}") {
			require.Equal(t, http.StatusNotFound, asTeam(app, "storage", method, path, nil).Status, pattern)
			require.Equal(t, http.StatusOK, asTeam(app, "payments", method, path, nil).Status, pattern)
		}
	}

	require.NotContains(t, string(asTeam(app, "storage", http.MethodGet, published.Prefix+"/api/v1/sessions", nil).Body), id)

	app.Token = reader
	require.Equal(t, http.StatusForbidden, app.Do(http.MethodPost, published.Prefix+"/api/v1/alerts", alertOf("payments")).Status)

	app.Token = admin
	for _, path := range []string{"/api/v1/keys", "/api/v1/sessions/", "//api/v1/sessions", "/api/v1/sessions/" + id + "/../" + id, "/health", "/mcp", ""} {
		require.Contains(t, []int{http.StatusNotFound, http.StatusOK}, app.Do(http.MethodGet, published.Prefix+path, nil).Status, path)
	}
}
