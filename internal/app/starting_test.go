package app

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/problem"
)

func TestServerAnswersProbesWhileItWaitsForItsDatabase(t *testing.T) {
	t.Parallel()

	database := pgtest.New(t)
	restore := pgtest.Interrupt(t, database)
	waiting, wired := make(chan string, 1), make(chan error, 1)

	var a *App

	a = newApp(Options{
		Config: load(t, ""), DatabaseURL: database, DatabaseWait: time.Minute, Listen: "127.0.0.1:0",
		Progress: func(line string) {
			if strings.HasPrefix(line, "Waiting for the database") {
				select {
				case waiting <- a.Addr():
				default:
				}
			}
		},
	})

	go func() { wired <- a.wire(t.Context()) }()

	address := "http://" + <-waiting
	livez, body := ask(t, http.MethodGet, address+"/livez")
	require.Equal(t, http.StatusOK, livez.StatusCode)
	require.JSONEq(t, `{"status":"ok"}`, body)

	for method, path := range map[string]string{
		http.MethodGet: "/readyz", http.MethodHead: "/health", http.MethodPost: "/api/v1/alerts", http.MethodPut: "/",
	} {
		answer, body := ask(t, method, address+path)
		require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode, path)
		require.NotEmpty(t, answer.Header.Get("Retry-After"), path)

		if method != http.MethodHead {
			var got problem.Problem

			require.NoError(t, json.Unmarshal([]byte(body), &got), body)
			require.Equal(t, tarsy.CodeUnavailable, got.Code)
			require.Contains(t, got.Detail, "waits for its database")
		}
	}

	restore()
	require.NoError(t, <-wired)
	require.NoError(t, a.Start(t.Context()))

	ready, body := ask(t, http.MethodGet, address+"/readyz")
	require.Equal(t, http.StatusOK, ready.StatusCode, body)
	require.NoError(t, a.Stop(t.Context()))
}

func TestServerThatGivesUpItsDatabaseStopsAnswering(t *testing.T) {
	t.Parallel()

	database := pgtest.New(t)
	pgtest.Interrupt(t, database)

	a := newApp(Options{Config: load(t, ""), DatabaseURL: database, DatabaseWait: time.Millisecond, Listen: "127.0.0.1:0"})
	require.ErrorContains(t, a.wire(t.Context()), "did not become available within 1ms")
	livez, _ := ask(t, http.MethodGet, "http://"+a.Addr()+"/livez")
	require.Equal(t, http.StatusOK, livez.StatusCode)

	require.NoError(t, a.Stop(t.Context()))
	_, err := http.Get("http://" + a.Addr() + "/livez")
	require.Error(t, err)
}

func ask(t *testing.T, method, url string) (*http.Response, string) {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	require.NoError(t, err)

	defer answer.Body.Close()

	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)

	return answer, string(body)
}
