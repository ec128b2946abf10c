package client_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

func TestExportIsWrittenAsSent(t *testing.T) {
	t.Parallel()

	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "# %s %s", r.Method, r.URL)
	}), client.Config{})

	var out strings.Builder

	require.NoError(t, c.Export(t.Context(), "a/b", "markdown", &out))
	require.Equal(t, "# GET /api/v1/sessions/a%2Fb/export?format=markdown", out.String())
}

func TestTruncatedExportIsError(t *testing.T) {
	t.Parallel()

	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("format") == "pdf" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = fmt.Fprint(w, `{"code":"invalid_parameter","detail":"format must be one of json, markdown"}`)

			return
		}

		w.Header().Set("Content-Length", "1000")
		_, _ = fmt.Fprint(w, "not all of it")
	}), client.Config{})

	var (
		out         strings.Builder
		unreachable *client.UnreachableError
		problem     *client.Problem
	)

	require.ErrorAs(t, c.Export(t.Context(), "id", "json", &out), &unreachable)
	require.ErrorAs(t, c.Export(t.Context(), "id", "pdf", &out), &problem)
	require.Equal(t, tarsy.CodeInvalidParameter, problem.Code)

	full := errors.New("the disk is full")
	require.ErrorIs(t, c.Export(t.Context(), "id", "json", broken{full}), full)
}

// broken is a writer that always fails.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error) { return 0, b.err }

func TestRerunRequestsNewSession(t *testing.T) {
	t.Parallel()

	var asked, body string

	c := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		asked, body = r.Method+" "+r.URL.Path, string(sent)

		w.WriteHeader(http.StatusAccepted)
		_, _ = fmt.Fprint(w, `{"session_id":"new","status":"pending","message":"stored"}`)
	}), client.Config{})

	accepted, err := client.Create(t.Context(), c, client.RerunSession, "", nil, "old")
	require.NoError(t, err)
	require.Equal(t, client.Accepted{SessionID: "new", Status: tarsy.SessionPending, Message: "stored"}, accepted)
	require.Equal(t, "POST /api/v1/sessions/old/rerun", asked)
	require.Empty(t, body, "as servers of earlier releases expect it")
	require.Equal(t, c.Server()+"/sessions/new", c.SessionPage("new"))

	_, err = client.Create(t.Context(), c, client.RerunSession, "", &client.RerunChanges{ChainID: "shop", LLMProvider: new("")}, "old")
	require.NoError(t, err)
	require.JSONEq(t, `{"chain_id":"shop","llm_provider":""}`, body)
}
