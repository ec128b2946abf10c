package tarsytest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// Socket is a WebSocket client that collects the messages it receives.
type Socket struct {
	*log

	conn   *websocket.Conn
	cancel context.CancelFunc
	reader sync.WaitGroup
}

// Socket connects to the server's WebSocket. The connection is closed at the end of the test, if not before.
func (a *App) Socket() *Socket {
	a.t.Helper()

	s, refusal := a.DialSocket(http.Header{})
	require.NotNil(a.t, s, "refused with %d: %s", refusal.Status, refusal.Body)

	return s
}

// DialSocket connects to the server's WebSocket with these headers, or returns nil and the server's refusal.
func (a *App) DialSocket(header http.Header) (*Socket, Response) {
	a.t.Helper()

	ctx, cancel := context.WithCancel(context.Background())

	header = header.Clone()
	a.authorize(header)

	conn, resp, err := websocket.Dial(ctx, "ws"+strings.TrimPrefix(a.URL, "http")+"/api/v1/ws", &websocket.DialOptions{
		HTTPHeader: header, HTTPClient: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	})
	if err != nil {
		cancel()
		require.NotNil(a.t, resp, "no answer: %v", err)

		raw, readErr := io.ReadAll(resp.Body)
		require.NoError(a.t, errors.Join(readErr, resp.Body.Close()))

		return nil, Response{Status: resp.StatusCode, Header: resp.Header, Body: raw}
	}

	conn.SetReadLimit(-1)

	s := &Socket{log: newLog(a), conn: conn, cancel: cancel}
	s.reader.Go(func() {
		for {
			_, raw, err := conn.Read(ctx)
			if err != nil {
				s.end(err)

				return
			}

			s.add(raw)
		}
	})
	a.t.Cleanup(s.Close)

	return s, Response{Status: resp.StatusCode, Header: resp.Header}
}

// Watch connects and subscribes to a session's journal.
func (a *App) Watch(sessionID string) *Socket {
	a.t.Helper()

	s := a.Socket()
	s.Subscribe(tarsy.SessionChannel(sessionID))
	a.holder.follow(sessionID, s.log)

	return s
}

// Subscribe subscribes to a channel and waits until the server has confirmed it.
func (s *Socket) Subscribe(channel string) {
	s.t.Helper()
	s.subscribe(map[string]any{"action": "subscribe", "channel": channel})
}

// SubscribeAfter subscribes to a channel, starting after an event, and waits until the server has confirmed it.
func (s *Socket) SubscribeAfter(channel string, lastEventID int64) {
	s.t.Helper()
	s.subscribe(map[string]any{"action": "subscribe", "channel": channel, "last_event_id": lastEventID})
}

func (s *Socket) subscribe(message map[string]any) {
	s.t.Helper()
	s.Send(message)

	channel, _ := message["channel"].(string)
	s.Wait("the confirmation of "+channel, func(e Event) bool {
		return e.Type == "subscription.confirmed" && e.Fields["channel"] == channel
	})
}

// Send sends a message.
func (s *Socket) Send(message any) {
	s.t.Helper()

	raw, err := json.Marshal(message)
	require.NoError(s.t, err)
	s.SendText(string(raw))
}

// SendText sends text as it is.
func (s *Socket) SendText(text string) {
	s.t.Helper()

	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()

	require.NoError(s.t, s.conn.Write(ctx, websocket.MessageText, []byte(text)))
}

// Close drops the connection without a close handshake, as a network failure would.
func (s *Socket) Close() {
	_ = s.conn.CloseNow() // the connection may be gone already
	s.cancel()
	s.reader.Wait()
}
