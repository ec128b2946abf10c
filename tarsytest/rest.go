package tarsytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// Response is a response from the API.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Problem is the body of an error response.
type Problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`
	Code   string `json:"code"`
	Field  string `json:"field"`
}

// Decode decodes the body into v.
func (r Response) Decode(t testing.TB, v any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(r.Body, v), "body: %s", r.Body)
}

// Problem decodes the body of an error response.
func (r Response) Problem(t testing.TB) Problem {
	t.Helper()
	require.Equal(t, "application/problem+json", r.Header.Get("Content-Type"), "body: %s", r.Body)

	var p Problem

	r.Decode(t, &p)

	return p
}

// Do sends a request. Headers are alternating names and values; "Host" sets the host. A string or []byte body is sent as it
// is, anything else as JSON.
func (a *App) Do(method, path string, body any, headers ...string) Response {
	a.t.Helper()

	var reader io.Reader

	switch b := body.(type) {
	case nil:
	case string:
		reader = strings.NewReader(b)
	case []byte:
		reader = bytes.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		require.NoError(a.t, err)

		reader = bytes.NewReader(raw)
	}

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	req, err := http.NewRequestWithContext(ctx, method, a.URL+path, reader)
	require.NoError(a.t, err)

	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
	}

	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		} else {
			req.Header.Set(headers[i], headers[i+1])
		}
	}

	return a.Send(req)
}

// Send sends a request that the test has built itself.
func (a *App) Send(req *http.Request) Response {
	a.t.Helper()

	a.authorize(req.Header)

	// With "Expect: 100-continue" the body is sent only when the server asks for it.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, ExpectContinueTimeout: patience}}
	resp, err := client.Do(req)
	require.NoError(a.t, err)

	raw, err := io.ReadAll(resp.Body)
	require.NoError(a.t, errors.Join(err, resp.Body.Close()))

	return Response{Status: resp.StatusCode, Header: resp.Header, Body: raw}
}

// authorize adds the App's token, unless the test has set another one.
func (a *App) authorize(header http.Header) {
	if a.Token != "" && header.Get("Authorization") == "" {
		header.Set("Authorization", "Bearer "+a.Token)
	}
}

// Submit submits an alert of a type with data and returns the session's id.
func (a *App) Submit(alertType string, data any) string {
	a.t.Helper()

	return a.SubmitAlert(map[string]any{"alert_type": alertType, "data": data})
}

// SubmitAlert submits an alert with this request body and returns the session's id.
func (a *App) SubmitAlert(body any) string {
	a.t.Helper()

	resp := a.Do(http.MethodPost, "/api/v1/alerts", body)
	require.Equal(a.t, http.StatusAccepted, resp.Status, "body: %s", resp.Body)

	var answer struct {
		SessionID string `json:"session_id"`
	}

	resp.Decode(a.t, &answer)

	return answer.SessionID
}

// Cancel requests the cancellation of a session.
func (a *App) Cancel(sessionID string) {
	a.t.Helper()

	resp := a.Do(http.MethodPost, "/api/v1/sessions/"+sessionID+"/cancel", nil)
	require.Equal(a.t, http.StatusAccepted, resp.Status, "body: %s", resp.Body)
}

// Session reads a session with its stages and executions.
func (a *App) Session(sessionID string) tarsy.SessionDetail {
	a.t.Helper()

	var detail tarsy.SessionDetail

	a.get("/api/v1/sessions/"+sessionID, &detail)

	return detail
}

// Timeline reads a session's timeline.
func (a *App) Timeline(sessionID string) []tarsy.TimelineEvent {
	a.t.Helper()

	var events []tarsy.TimelineEvent

	eachPage(a, "/api/v1/sessions/"+sessionID+"/timeline", func(page struct {
		cursor
		Events []tarsy.TimelineEvent `json:"events"`
	}) string {
		events = append(events, page.Events...)

		return page.NextCursor
	})

	return events
}

// cursor is the part of a page that points to the next one.
type cursor struct {
	NextCursor string `json:"next_cursor"`
}

// eachPage reads pages of type P until one has no next page.
func eachPage[P any](a *App, path string, read func(P) (next string)) {
	a.t.Helper()

	for query := ""; ; {
		var page P

		a.get(path+query, &page)

		next := read(page)
		if next == "" {
			return
		}

		query = "?cursor=" + url.QueryEscape(next)
	}
}

func (a *App) get(path string, v any) {
	a.t.Helper()

	resp := a.Do(http.MethodGet, path, nil)
	require.Equal(a.t, http.StatusOK, resp.Status, "body: %s", resp.Body)
	resp.Decode(a.t, v)
}

// WaitFor waits until the session has one of the statuses, and returns it.
func (a *App) WaitFor(sessionID string, statuses ...tarsy.SessionStatus) tarsy.SessionDetail {
	a.t.Helper()

	events := a.Events(sessionID, 0)
	defer events.Close()

	events.Wait(fmt.Sprint("the session's status to be one of ", statuses), func(e Event) bool {
		status, _ := e.Fields["status"].(string)

		return e.Type == tarsy.TypeSessionStatus && slices.Contains(statuses, tarsy.SessionStatus(status))
	})

	return a.Session(sessionID)
}

// Run submits an alert, waits until its session has ended and returns it.
func (a *App) Run(alertType string, data any) tarsy.SessionDetail {
	a.t.Helper()

	return a.WaitFor(a.Submit(alertType, data),
		tarsy.SessionCompleted, tarsy.SessionFailed, tarsy.SessionCancelled, tarsy.SessionTimedOut)
}
