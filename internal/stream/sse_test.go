package stream_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/stream"
)

type problem struct {
	Status int    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
	Code   string `json:"code"`
}

func body(t *testing.T, response *http.Response) problem {
	t.Helper()
	require.Equal(t, "application/problem+json", response.Header.Get("Content-Type"))

	raw, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	var p problem
	require.NoError(t, json.Unmarshal(raw, &p), string(raw))
	require.Equal(t, response.StatusCode, p.Status)
	require.NotEmpty(t, p.Title)
	require.NotEmpty(t, p.Detail)

	return p
}

func ended(status tarsy.SessionStatus) sse {
	return sse{Event: "end", Data: message{Type: "end", Status: string(status)}}
}

func TestEventStreamReplaysFollowsAndEnds(t *testing.T) {
	t.Parallel()

	protocols := map[string]func(*httptest.Server){
		"HTTP/1.1": (*httptest.Server).Start,
		"HTTP/2.0": func(s *httptest.Server) {
			s.EnableHTTP2 = true
			s.StartTLS()
		},
	}
	for name, start := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			// A deadline of a past write must not end an idle stream.
			h := newHubOn(t, start, func(cfg *stream.Config) {
				cfg.WriteLimit = 500 * time.Millisecond
				cfg.CommentEvery = 700 * time.Millisecond
			})
			id := h.session()
			h.status(t, id, tarsy.SessionInProgress)
			h.stages(t, id, 300)

			e := h.watch(t, id, "")
			require.Equal(t, name, e.Proto)
			require.Equal(t, "text/event-stream", e.Header.Get("Content-Type"))
			require.Equal(t, "no-store", e.Header.Get("Cache-Control"))
			require.Equal(t, "no", e.Header.Get("X-Accel-Buffering"))
			e.expect(1, 301)

			for range 2 {
				require.Equal(t, sse{Comment: "keep-alive"}, e.next())
			}

			h.stages(t, id, 1)
			e.expect(302, 302)
			h.status(t, id, tarsy.SessionCompleted)
			e.expect(303, 303)
			require.Equal(t, ended(tarsy.SessionCompleted), e.event())
			e.over()
		})
	}
}

func TestEventStreamResumes(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.status(t, id, tarsy.SessionInProgress)
	h.stages(t, id, 9)

	h.watch(t, id, "", "Last-Event-ID", "7").expect(8, 10)
	h.watch(t, id, "?last_event_id=8").expect(9, 10)
	// A browser that reconnects keeps the original URL.
	h.watch(t, id, "?last_event_id=2", "Last-Event-ID", "9").expect(10, 10)
}

func TestEventStreamOfFinishedSessionEndsAfterLastEvent(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.status(t, id, tarsy.SessionInProgress)
	h.status(t, id, tarsy.SessionTimedOut)
	h.stages(t, id, 3) // a follow-up after the end

	for _, after := range []string{"0", "1", "2", "4", "5"} {
		e := h.watch(t, id, "?last_event_id="+after)
		first := int64(after[0]-'0') + 1
		e.expect(first, 5)
		require.Equal(t, ended(tarsy.SessionTimedOut), e.next())
		e.over()
	}

	e := h.watch(t, id, "?last_event_id=4&follow=true")
	e.expect(5, 5)
	h.status(t, id, tarsy.SessionCompleted)
	h.stages(t, id, 1)
	e.expect(6, 7)
}

func TestEventStreamOfReopenedSessionContinues(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.status(t, id, tarsy.SessionCompleted)
	h.status(t, id, tarsy.SessionInProgress)

	e := h.watch(t, id, "?last_event_id=0")
	e.expect(1, 2)
	h.status(t, id, tarsy.SessionFailed)
	e.expect(3, 3)
	require.Equal(t, ended(tarsy.SessionFailed), e.next())
	e.over()
}

func TestEventStreamSendsEventsCommittedWithEnd(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	e := h.watch(t, id, "")

	status := tarsy.NewEvent(id, tarsy.TypeSessionStatus,
		tarsy.SessionStatusPayload{Type: tarsy.TypeSessionStatus, Status: tarsy.SessionCancelled}, time.Now())
	h.append(t, id, status, tarsy.Event{Type: "x", Payload: json.RawMessage(`{"type":"x"}`)})
	e.expect(1, 2)
	require.Equal(t, ended(tarsy.SessionCancelled), e.next())
	e.over()
}

func TestEventStreamRefusesBadRequests(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.stages(t, id, 2)

	tests := []struct {
		name, session, query, header string
		status                       int
		code                         string
	}{
		{"unknown session", ident.New(), "", "", 404, "session_not_found"},
		{"bad session", "x", "", "", 404, "session_not_found"},
		{"bad header", id, "", "abc", 400, "invalid_parameter"},
		{"negative", id, "", "-1", 400, "invalid_parameter"},
		{"beyond the end", id, "", "3", 400, "invalid_parameter"},
		{"too large", id, "?last_event_id=99999999999999999999", "", 400, "invalid_parameter"},
		{"bad parameter", id, "?last_event_id=1.5", "", 400, "invalid_parameter"},
		{"bad follow", id, "?follow=maybe", "", 400, "invalid_parameter"},
		{"bad replay", id, "?replay=some", "", 400, "invalid_parameter"},
	}
	for _, test := range tests {
		e := h.open(t, t.Context(), test.session, test.query, "Last-Event-ID", test.header)
		defer e.leave()

		require.Equal(t, test.status, e.StatusCode, test.name)
		require.Equal(t, test.code, body(t, e.Response).Code, test.name)
	}
}

func TestFailedEventStreamEndsWithReason(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.journals.failure = errors.New("the database is gone")

	e := h.watch(t, id, "")
	require.Equal(t, sse{Event: "bye", Data: message{Type: "bye", Reason: "subscription failed, connect again"}}, e.next())
	e.over()
}

func TestEventStreamAnswersHEADWithoutStream(t *testing.T) {
	t.Parallel()

	h := newHub(t)

	response, err := h.server.Client().Head(h.server.URL + "/api/v1/sessions/" + h.session() + "/events")
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
}

func TestReconnectingEventStreamsMissAndRepeatNothing(t *testing.T) {
	t.Parallel()

	h := newHub(t)

	rapid.Check(t, func(rt *rapid.T) {
		total := rapid.IntRange(1, 60).Draw(rt, "total")
		reads := rapid.SliceOfN(rapid.IntRange(0, 20), 0, 6).Draw(rt, "events read before each drop")
		id := h.session()
		appended := make(chan struct{})

		go func() { // ends on its own; waited for below
			defer close(appended)

			h.stages(t, id, total-1)
			h.status(t, id, tarsy.SessionCompleted)
		}()

		seen := int64(0)

		for _, n := range append(reads, total) {
			e := h.open(rt, t.Context(), id, "", "Last-Event-ID", itoa(seen))
			require.Equal(rt, sse{Retry: "2000"}, e.next())

			upTo := min(seen+int64(n), int64(total))
			e.expect(seen+1, upTo)

			if upTo == int64(total) {
				require.Equal(rt, ended(tarsy.SessionCompleted), e.next())
			}

			e.leave()

			seen = upTo
		}

		<-appended
	})
}

func TestSlowEventStreamIsDropped(t *testing.T) {
	t.Parallel()

	h := newHub(t, func(cfg *stream.Config) { cfg.WriteLimit = time.Second })
	id := h.session()
	h.watch(t, id, "")

	big := make([]byte, 256<<10)
	for i := range big {
		big[i] = 'x'
	}

	for range 150 {
		h.append(t, id, tarsy.Event{Type: "big", Payload: json.RawMessage(`{"type":"big","content":"` + string(big) + `"}`)})
	}

	waitFor(t, h.journals.tailEnded)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }

func TestEventStreamReplayOverflowsAbove1000Events(t *testing.T) {
	t.Parallel()

	h := newHub(t)
	id := h.session()
	h.stages(t, id, 1001)

	e := h.watch(t, id, "?last_event_id=1")
	e.expect(2, 1001)

	overflow := sse{ID: "1001", Event: "catchup.overflow", Data: overflowed(id, 1001)}
	e = h.watch(t, id, "")
	require.Equal(t, overflow, e.next())
	h.stages(t, id, 1)
	e.expect(1002, 1002)

	e = h.watch(t, id, "?replay=all")
	e.expect(1, 1002)

	h.status(t, id, tarsy.SessionCompleted)

	e = h.watch(t, id, "")
	require.Equal(t, sse{ID: "1003", Event: "catchup.overflow", Data: overflowed(id, 1003)}, e.next())
	require.Equal(t, ended(tarsy.SessionCompleted), e.next())
	e.over()
}
