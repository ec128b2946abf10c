package tarsytest

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
)

// EventStream is an SSE client that collects the events it receives.
type EventStream struct {
	*log

	cancel context.CancelFunc
	reader sync.WaitGroup
}

// Events reads a session's journal over SSE, starting after lastEventID. The stream ends with the session.
func (a *App) Events(sessionID string, lastEventID int64) *EventStream {
	a.t.Helper()

	s := a.stream("/api/v1/sessions/"+sessionID+"/events", lastEventID)
	a.holder.follow(sessionID, s.log)

	return s
}

// Follow is Events for a session that continues with a chat: the stream stays open after the session has ended.
func (a *App) Follow(sessionID string, lastEventID int64) *EventStream {
	a.t.Helper()

	s := a.stream("/api/v1/sessions/"+sessionID+"/events?follow=true", lastEventID)
	a.holder.follow(sessionID, s.log)

	return s
}

func (a *App) stream(path string, lastEventID int64) *EventStream {
	a.t.Helper()

	ctx, cancel := context.WithCancel(context.Background())

	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.URL+path, nil)
	require.NoError(a.t, err)

	if lastEventID > 0 {
		req.Header.Set("Last-Event-ID", strconv.FormatInt(lastEventID, 10))
	}

	a.authorize(req.Header)

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Do(req)
	require.NoError(a.t, err)
	require.Equal(a.t, http.StatusOK, resp.StatusCode)

	s := &EventStream{log: newLog(a), cancel: cancel}
	s.reader.Go(func() {
		s.read(resp.Body)
		_ = resp.Body.Close() // read to its end, or cut off
	})
	a.t.Cleanup(s.Close)

	return s
}

func (s *EventStream) read(body io.Reader) {
	reader := bufio.NewReader(body)

	for {
		line, err := reader.ReadString('\n')
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			s.add([]byte(strings.TrimSpace(data)))
		}

		if err != nil {
			s.end(err)

			return
		}
	}
}

// Close drops the connection.
func (s *EventStream) Close() {
	s.cancel()
	s.reader.Wait()
}
