package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

func handle(t *testing.T, app *tarsytest.App, sessionID string, change map[string]any, headers ...string) tarsy.Handling {
	t.Helper()

	answer := app.Do(http.MethodPatch, "/api/v1/sessions/"+sessionID+"/handling", change, headers...)
	require.Equal(t, http.StatusOK, answer.Status, string(answer.Body))

	return decode[tarsy.Handling](answer.Body)
}

// A session is resolved during a model call. The investigation continues to its end, and the handling is kept.
func TestResolvedSessionGoesOnAndKeepsItsHandling(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true, Config: oneAgent})
	ana, bob := app.User("ana", tarsy.ScopeWrite), app.User("bob", tarsy.ScopeWrite)
	gate := script.NewGate()
	t.Cleanup(gate.Open)
	app.Script.Add(script.Reply{Text: "Analysed.", Gate: gate}, says("Summed up."))

	id := ana.Submit("test", "an alert")
	app.WaitGate(gate)
	ana.WaitFor(id, tarsy.SessionInProgress)

	feed := bob.Socket()
	feed.Subscribe("sessions")

	acknowledged := handle(t, ana, id, map[string]any{"state": "acknowledged", "assignee": "me", "tags": map[string]any{"add": []string{"Disk"}}})
	require.Equal(t, []any{"ana", "ana", []string{"Disk"}}, []any{acknowledged.AcknowledgedBy, acknowledged.Assignee, acknowledged.Tags})
	feed.Wait("the change", func(e tarsytest.Event) bool {
		return e.Type == tarsy.TypeSessionChanged && e.Fields["session_id"] == id
	})

	secret := "password=Xk29fLq8Zt71mW3v"
	resolved := handle(t, bob, id, map[string]any{"state": "resolved", "resolution": "Reset with " + secret})
	require.Equal(t, "bob", resolved.ResolvedBy)
	require.NotContains(t, resolved.Resolution, "Xk29fLq8Zt71mW3v", "secrets are masked")

	gate.Open()

	detail := ana.WaitFor(id, tarsy.SessionCompleted)
	require.Equal(t, tarsy.HandlingResolved, detail.Handling.State)
	require.Equal(t, resolved.Version, detail.Handling.Version)

	report := bob.Do(http.MethodGet, "/api/v1/sessions/"+id+"/export?format=markdown", nil)
	require.Contains(t, string(report.Body), "| Assigned to | ana |")
	require.Contains(t, string(report.Body), "## Resolution")

	for query, want := range map[string]int{"handling=resolved": 1, "handling=open": 0, "assignee=ana&tag=disk": 1, "assignee=me": 0} {
		require.Len(t, bob.Sessions(query), want, query)
	}

	handle(t, bob, id, map[string]any{"state": "resolved"})

	app.Token = app.Key("root", tarsy.ScopeAdmin)

	var actors []string
	for _, row := range auditLog(t, app) {
		if row.Action == "session.handle" {
			require.Equal(t, id, row.TargetID)
			actors = append(actors, row.Actor)
		}
	}

	require.Equal(t, []string{"ana", "bob"}, actors, "the same change again is no second row")
}

// Two people handle one session concurrently. A change with the version that was read gets 412 if the session has changed
// since; a change without a version applies to the current state, and none is lost.
func TestTwoPeopleHandleOneSessionAtOnce(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{RequireKey: true, Config: oneAgent})
	people := []*tarsytest.App{app.User("ana", tarsy.ScopeWrite), app.User("bob", tarsy.ScopeWrite)}
	app.Script.Add(says("Analysed."), says("Summed up."))

	id := people[0].Run("test", "an alert").ID
	path := "/api/v1/sessions/" + id + "/handling"

	const each = 8

	var (
		wg      sync.WaitGroup
		mu      sync.Mutex
		answers = map[int]int{}
	)

	for n, person := range people {
		wg.Go(func() {
			for i := range each {
				change := map[string]any{"tags": map[string]any{"add": []string{fmt.Sprintf("%d of %d", i, n)}}}
				if n == 0 {
					change["assignee"] = "me"
				} else {
					change["state"] = "acknowledged"
				}

				if answer := person.Do(http.MethodPatch, path, change); answer.Status != http.StatusOK {
					t.Errorf("%d: %s", answer.Status, answer.Body)
				}
			}
		})
	}

	wg.Wait()

	handled := people[0].Session(id).Handling
	require.Len(t, handled.Tags, 2*each)
	require.Equal(t, []any{"ana", "bob", int64(2 * each)}, []any{handled.Assignee, handled.AcknowledgedBy, handled.Version})

	// Both have read the same version: one of them wins.
	for n, person := range people {
		wg.Go(func() {
			answer := person.Do(http.MethodPatch, path, map[string]any{"assignee": fmt.Sprint("person ", n)}, "If-Match", fmt.Sprintf(`"%d"`, handled.Version))

			mu.Lock()
			defer mu.Unlock()

			answers[answer.Status]++
		})
	}

	wg.Wait()
	require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusPreconditionFailed: 1}, answers)
}
