package slack

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	writeTime = 10 * time.Second
	// maxAttempts is how often an envelope is sent before giving up.
	maxAttempts = 4
)

// Envelope is a message from Slack to the app.
type Envelope struct {
	ID string `json:"envelope_id"`
	// Kind is events_api or interactive.
	Kind    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
	// Attempts is how often it was sent. Acked means that the app acknowledged it; Reply is the payload of the
	// acknowledgement.
	Attempts int             `json:"attempts"`
	Acked    bool            `json:"acked"`
	Reply    json.RawMessage `json:"reply,omitempty"`
	// LostAcks is how many acknowledgements of it were ignored, see LoseAcks.
	LostAcks int `json:"lost_acks,omitempty"`
}

// socketMode is the WebSocket server. Envelopes are sent to the newest connection. An envelope that is not acknowledged in
// time, or whose connection breaks before that, is sent again.
type socketMode struct {
	server *Server
	ctx    context.Context //nolint:containedctx // the life of all connections
	cancel context.CancelFunc

	running sync.WaitGroup

	mu      sync.Mutex
	conns   []*conn
	opened  int
	stopped bool
	// ignoring is how many acknowledgements of envelopes from ignoreFrom on are still to be ignored.
	ignoring   int
	ignoreFrom int
	envelopes  []*Envelope
}

// conn is a connection. write must be held to write to it.
type conn struct {
	socket *websocket.Conn
	write  sync.Mutex
}

func newSocketMode(s *Server) *socketMode {
	m := &socketMode{server: s}
	m.ctx, m.cancel = context.WithCancel(context.Background())

	return m
}

func (m *socketMode) stop() {
	m.mu.Lock()
	m.stopped = true
	m.mu.Unlock()

	m.cancel()
	m.running.Wait()
}

// begin counts a running task, and returns false if the server is stopped.
func (m *socketMode) begin() bool {
	m.mu.Lock()
	defer m.mu.Unlock()

	if m.stopped {
		return false
	}

	m.running.Add(1)

	return true
}

// ServeHTTP serves a connection from its start to its end.
func (m *socketMode) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// Libraries send Slack's origin; web pages have no business here.
	if o := r.Header.Get("Origin"); o != "" && o != "https://api.slack.com" || r.URL.Query().Get("ticket") == "" || !m.begin() {
		http.Error(w, "not for web pages, and only with an address of apps.connections.open", http.StatusForbidden)

		return
	}
	defer m.running.Done()

	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled, InsecureSkipVerify: true})
	if err != nil {
		return
	}

	c := &conn{socket: socket}
	ctx, done := context.WithCancel(m.ctx)

	defer done()
	defer m.leave(c)

	m.mu.Lock()
	m.opened++
	number := len(m.conns) + 1
	m.mu.Unlock()

	if c.send(ctx, object{
		"type": "hello", "num_connections": number, "connection_info": object{"app_id": appID},
		"debug_info": object{"host": "mock", "build_number": 1, "approximate_connection_time": 3600},
	}) != nil {
		return
	}

	m.join(c)

	var pinging sync.WaitGroup
	defer pinging.Wait()

	defer done()
	pinging.Go(func() { m.ping(ctx, c) })

	for {
		_, data, err := socket.Read(ctx)
		if err != nil {
			return
		}

		m.acknowledge(data)
	}
}

func (c *conn) send(ctx context.Context, value any) error {
	c.write.Lock()
	defer c.write.Unlock()

	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}

	limited, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()

	return c.socket.Write(limited, websocket.MessageText, raw)
}

// ping pings a connection periodically, as Slack does: libraries reconnect without pings.
func (m *socketMode) ping(ctx context.Context, c *conn) {
	every := m.server.setup.PingEvery
	if every == 0 {
		every = 5 * time.Second
	}

	ticker := time.NewTicker(every)
	defer ticker.Stop()

	for {
		if c.socket.Ping(ctx) != nil {
			return
		}

		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// join makes a connection available for envelopes, and sends the unacknowledged ones.
func (m *socketMode) join(c *conn) {
	m.mu.Lock()
	m.conns = append(m.conns, c)

	var waiting []*Envelope

	for _, e := range m.envelopes {
		if !e.Acked && e.Attempts < maxAttempts {
			waiting = append(waiting, e)
		}
	}

	m.server.changes.Notify()
	m.mu.Unlock()

	for _, e := range waiting {
		m.attempt(e, "timeout")
	}
}

func (m *socketMode) leave(c *conn) {
	_ = c.socket.CloseNow()

	m.mu.Lock()
	defer m.mu.Unlock()

	m.conns = slices.DeleteFunc(m.conns, func(other *conn) bool { return other == c })
	m.server.changes.Notify()
}

// deliver sends a new envelope.
func (m *socketMode) deliver(id, kind string, payload json.RawMessage) string {
	e := &Envelope{ID: id, Kind: kind, Payload: payload}

	m.mu.Lock()
	m.envelopes = append(m.envelopes, e)
	connected := len(m.conns) > 0
	m.mu.Unlock()

	if connected {
		m.attempt(e, "")
	}

	return id
}

// attempt sends an envelope to the newest connection, and resends it if it is not acknowledged in time.
func (m *socketMode) attempt(e *Envelope, reason string) {
	if !m.begin() {
		return
	}

	m.mu.Lock()
	if len(m.conns) == 0 || e.Acked || e.Attempts >= maxAttempts {
		m.mu.Unlock()
		m.running.Done()

		return
	}

	to := m.conns[len(m.conns)-1]
	sent := object{"envelope_id": e.ID, "type": e.Kind, "payload": e.Payload, "accepts_response_payload": e.Kind == "interactive"}

	if e.Attempts > 0 {
		sent["retry_attempt"], sent["retry_reason"] = e.Attempts, reason
	} else if e.Kind == "events_api" {
		sent["retry_attempt"], sent["retry_reason"] = 0, ""
	}

	e.Attempts++
	number := e.Attempts
	m.server.changes.Notify()
	m.mu.Unlock()

	go func() {
		defer m.running.Done()

		_ = to.send(m.ctx, sent)

		within := m.server.setup.AckWithin
		if within == 0 {
			within = 3 * time.Second
		}

		timer := time.NewTimer(within)
		defer timer.Stop()

		select {
		case <-m.ctx.Done():
			return
		case <-timer.C:
		}

		m.mu.Lock()
		again := !e.Acked && e.Attempts == number
		m.mu.Unlock()

		if again {
			m.attempt(e, "timeout")
		}
	}()
}

// acknowledge handles an acknowledgement from a client.
func (m *socketMode) acknowledge(data []byte) {
	var ack struct {
		EnvelopeID string          `json:"envelope_id"`
		Payload    json.RawMessage `json:"payload"`
	}

	if json.Unmarshal(data, &ack) != nil || ack.EnvelopeID == "" {
		return
	}

	m.mu.Lock()

	i := slices.IndexFunc(m.envelopes, func(e *Envelope) bool { return e.ID == ack.EnvelopeID })
	if i < 0 || m.envelopes[i].Acked {
		m.mu.Unlock()

		return
	}

	if m.ignoring > 0 && i >= m.ignoreFrom {
		m.ignoring--
		m.envelopes[i].LostAcks++
		m.mu.Unlock()

		return
	}

	e := m.envelopes[i]
	e.Acked = true

	if string(ack.Payload) != "null" {
		e.Reply = ack.Payload
	}

	m.server.changes.Notify()
	m.mu.Unlock()
	m.server.submitted(*e)
}

// submitted applies the app's reply to a submitted modal.
func (s *Server) submitted(e Envelope) {
	var payload struct {
		Type string `json:"type"`
		View struct {
			ID string `json:"id"`
		} `json:"view"`
	}

	if json.Unmarshal(e.Payload, &payload) != nil || payload.Type != "view_submission" {
		return
	}

	var reply submission

	_ = json.Unmarshal(e.Reply, &reply)

	s.mu.Lock()
	defer s.mu.Unlock()

	if m := s.modalByID(payload.View.ID); m != nil {
		s.applyReply(m, reply)
	}

	s.changes.Notify()
}
