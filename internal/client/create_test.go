package client_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/client"
)

// attempts is a server that records the key and body of each attempt and answers with its scripts, in order.
type attempts struct {
	keys, bodies []string
	scripts      []http.HandlerFunc
}

func (a *attempts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.keys, a.bodies = append(a.keys, r.Header.Get("Idempotency-Key")), append(a.bodies, string(body))
	a.scripts[min(len(a.keys), len(a.scripts))-1](w, r)
}

func reply(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, body)
	}
}

// hangUp drops the connection without a response.
func hangUp(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

const (
	unavailable = `{"code":"unavailable","detail":"try again"}`
	taken       = `{"session_id":"s","status":"pending"}`
)

func TestSubmitRetriesWithSameKeyUntilAnswered(t *testing.T) {
	t.Parallel()

	server := &attempts{scripts: []http.HandlerFunc{hangUp, reply(http.StatusServiceUnavailable, unavailable), reply(http.StatusAccepted, taken)}}
	c := connect(t, server, client.Config{})

	accepted, err := client.Create(t.Context(), c, client.SubmitAlert, "", client.Alert{Data: "disk full"})
	require.NoError(t, err)
	require.Equal(t, "s", accepted.SessionID)
	require.Len(t, server.keys, 3)
	require.GreaterOrEqual(t, len(server.keys[0]), 20, "a random key")

	for i := range server.keys {
		require.Equal(t, server.keys[0], server.keys[i])
		require.JSONEq(t, `{"data":"disk full"}`, server.bodies[i])
	}

	_, err = client.Create(t.Context(), c, client.SubmitAlert, "", client.Alert{Data: "disk full"})
	require.NoError(t, err)
	require.NotEqual(t, server.keys[0], server.keys[3], "another submission has another key")

	_, err = client.Create(t.Context(), c, client.SubmitAlert, "mine", client.Alert{Data: "disk full"})
	require.NoError(t, err)
	require.Equal(t, "mine", server.keys[4])

	_, err = client.Create(t.Context(), c, client.RerunSession, "", nil, "id")
	require.NoError(t, err)
	require.NotEmpty(t, server.keys[5])
}

func TestSubmitGivesUpAfterThreeAttempts(t *testing.T) {
	t.Parallel()

	server := &attempts{scripts: []http.HandlerFunc{reply(http.StatusServiceUnavailable, unavailable)}}

	_, err := client.Create(t.Context(), connect(t, server, client.Config{}), client.SubmitAlert, "", client.Alert{Data: "disk full"})
	require.ErrorContains(t, err, "try again")
	require.Len(t, server.keys, 3)
}

func TestSubmitDoesNotRetryRefusals(t *testing.T) {
	t.Parallel()

	for _, status := range []int{http.StatusBadRequest, http.StatusConflict, http.StatusInternalServerError} {
		server := &attempts{scripts: []http.HandlerFunc{reply(status, strings.Replace(unavailable, "unavailable", "other", 1))}}

		_, err := client.Create(t.Context(), connect(t, server, client.Config{}), client.SubmitAlert, "", client.Alert{Data: "disk full"})
		require.Error(t, err)
		require.Len(t, server.keys, 1)
	}
}
