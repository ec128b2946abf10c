package api_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

const (
	oneAlert     = `{"alert_type":"kubernetes","data":"pod down"}`
	anotherAlert = `{"alert_type":"kubernetes","data":"node down"}`
)

type acceptedBody struct {
	SessionID string `json:"session_id"`
	Status    string `json:"status"`
	Message   string `json:"message"`
}

func (f *fixture) submitted(t *testing.T, path, body string, headers ...string) string {
	t.Helper()

	got := f.request(t, http.MethodPost, path, body, headers...)
	require.Equal(t, http.StatusAccepted, got.status, got.body)

	accepted := decode[acceptedBody](t, got)
	require.Equal(t, "/api/v1/sessions/"+accepted.SessionID, got.header.Get("Location"))

	return accepted.SessionID
}

// sessionCount returns how many sessions there are.
func (f *fixture) sessionCount(t *testing.T) int {
	t.Helper()

	return len(get[page](t, f, "/api/v1/sessions?limit=200").Sessions)
}

func TestRepeatedAlertWithSameKeyReturnsFirstSession(t *testing.T) {
	t.Parallel()

	const path = "/api/v1/alerts"

	f := newFixture(t)
	key := []string{"Idempotency-Key", "alertmanager 7"}
	first := f.submitted(t, path, oneAlert, key...)

	require.Equal(t, first, f.submitted(t, path, oneAlert, key...))
	f.requireProblem(t, f.request(t, http.MethodPost, path, anotherAlert, key...), http.StatusConflict, tarsy.CodeIdempotencyConflict)
	require.NotEqual(t, first, f.submitted(t, path, oneAlert, "Idempotency-Key", "alertmanager 8"))

	unkeyed := f.submitted(t, path, oneAlert)
	require.NotEqual(t, unkeyed, f.submitted(t, path, oneAlert), "without a key each request is new")

	again := f.submitted(t, "/api/v1/sessions/"+first+"/rerun", "", "Idempotency-Key", "rerun")
	require.Equal(t, again, f.submitted(t, "/api/v1/sessions/"+first+"/rerun", "", "Idempotency-Key", "rerun"))
	f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/sessions/"+again+"/rerun", "", "Idempotency-Key", "rerun"),
		http.StatusConflict, tarsy.CodeIdempotencyConflict)

	require.Equal(t, 5, f.sessionCount(t), "repetitions and conflicts stored nothing")
}

func TestConcurrentAlertsWithOneKeyMakeOneSession(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	ids := make([]string, 10)

	var senders sync.WaitGroup

	for i := range ids {
		senders.Go(func() { ids[i] = f.submitted(t, "/api/v1/alerts", oneAlert, "Idempotency-Key", "same") })
	}

	senders.Wait()

	for _, id := range ids {
		require.Equal(t, ids[0], id)
	}

	require.Equal(t, 1, f.sessionCount(t))
}

func TestIdempotencyKeysOfDifferentSendersAreIndependent(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked)
	_, one := f.key(t, "same name", tarsy.ScopeWrite)
	_, two := f.key(t, "same name", tarsy.ScopeWrite)
	key := []string{"Idempotency-Key", "1"}

	first := f.submitted(t, "/api/v1/alerts", oneAlert, append(one, key...)...)
	require.NotEqual(t, first, f.submitted(t, "/api/v1/alerts", oneAlert, append(two, key...)...))
	require.Equal(t, first, f.submitted(t, "/api/v1/alerts", oneAlert, append(one, key...)...))
}

func TestBadIdempotencyKeyIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.submitted(t, "/api/v1/alerts", oneAlert, "Idempotency-Key", strings.Repeat("k", 255))

	for _, key := range []string{strings.Repeat("k", 256), "kéy", "a\tb"} {
		problem := f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/alerts", oneAlert, "Idempotency-Key", key),
			http.StatusBadRequest, tarsy.CodeInvalidField)
		require.Equal(t, "Idempotency-Key", problem.Field)
		require.Equal(t, "Idempotency-Key must have at most 255 printable ASCII characters", problem.Detail)
	}

	require.Equal(t, 1, f.sessionCount(t))
}
