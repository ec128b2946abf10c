package discord

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/kit/mock/virtual"
)

// The operations of the gateway.
const (
	opDispatch            = 0
	opHeartbeat           = 1
	opIdentify            = 2
	opPresence            = 3
	opVoiceState          = 4
	opResume              = 6
	opReconnect           = 7
	opRequestGuildMembers = 8
	opInvalidSession      = 9
	opHello               = 10
	opHeartbeatAck        = 11
)

// gateway has the connections and sessions. Its description of guilds and users comes from functions.
type gateway struct {
	setup    *Setup
	clock    clockwork.Clock
	interval time.Duration
	// snapshot returns the bot and the events that describe its guilds. It is called without the gateway's lock.
	snapshot func() (bot object, guilds []event)
	// members answers a request for the members of a guild.
	members func(request memberRequest) (event, bool)

	running sync.WaitGroup
	ctx     context.Context //nolint:containedctx // the life of all connections, ended by stop
	cancel  context.CancelFunc

	mu       sync.Mutex
	conns    map[*conn]*session // nil session: not identified
	sessions map[string]*session
	made     int
	opened   int
	stopAcks bool
	log      []Connection
	changes  virtual.Changes
}

// Connection is a connection that a client made to the gateway.
type Connection struct {
	Number int `json:"number"`
	// How is "identify" or "resume", "" if the client did neither.
	How     string `json:"how"`
	Session string `json:"session,omitempty"`
	// ResumeURL means that the client used the address that it was given for resuming.
	ResumeURL  bool `json:"resume_url"`
	Heartbeats int  `json:"heartbeats"`
	Open       bool `json:"open"`
	// ClosedBy is "client" or "server"; Code is the close code, 0 if there was none.
	ClosedBy string `json:"closed_by,omitempty"`
	Code     int    `json:"code,omitempty"`
}

func newGateway(setup *Setup, clock clockwork.Clock) *gateway {
	g := &gateway{
		setup: setup, clock: clock, interval: setup.Heartbeat, conns: map[*conn]*session{}, sessions: map[string]*session{},
	}
	if g.interval == 0 {
		g.interval = 41250 * time.Millisecond
	}

	g.ctx, g.cancel = context.WithCancel(context.Background())

	return g
}

// stop breaks all connections and waits for them to end.
func (g *gateway) stop() {
	g.cancel()
	g.drop(Drop{})
	g.running.Wait()
}

// ServeHTTP serves a connection from its start to its end.
func (g *gateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	values := r.URL.Query()

	encoder, ok := newEncoder(values.Get("compress"))
	if !ok {
		http.Error(w, "unknown compression", http.StatusBadRequest)

		return
	}

	if r.Header.Get("Origin") != "" || g.ctx.Err() != nil {
		http.Error(w, "not for web pages", http.StatusForbidden)

		return
	}

	g.running.Add(1)
	defer g.running.Done()

	socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return
	}

	c := g.open(socket, encoder, strings.HasSuffix(r.URL.Path, resumePath))
	defer c.alive.Stop()

	var writing sync.WaitGroup
	defer writing.Wait()

	ctx, done := context.WithCancel(g.ctx)
	defer done()

	writing.Go(func() { c.write(ctx) })

	if v := values.Get("v"); v != "" && v != "9" && v != "10" {
		c.close(closeVersion)
	} else if e := values.Get("encoding"); e != "" && e != "json" {
		c.close(closeDecodeError)
	} else {
		c.sendOp(opHello, object{"heartbeat_interval": g.interval.Milliseconds(), "_trace": []string{"tarsy-mock"}})
	}

	for {
		_, data, err := socket.Read(ctx)
		if err != nil {
			g.disconnected(c, err)

			return
		}

		g.receive(c, data, r.Host)
	}
}

// open registers a connection.
func (g *gateway) open(socket *websocket.Conn, encoder encoder, resumeURL bool) *conn {
	socket.SetReadLimit(1 << 16)

	g.mu.Lock()
	defer g.mu.Unlock()

	g.opened++
	c := newConn(socket, encoder, g.opened)
	// Clients get half an interval more than they are told.
	c.alive = g.clock.AfterFunc(g.interval*3/2, func() { g.timeout(c) })
	g.conns[c] = nil
	g.log = append(g.log, Connection{Number: c.number, ResumeURL: resumeURL, Open: true})
	g.changes.Notify()

	return c
}

// timeout ends a connection without heartbeats, and its session.
func (g *gateway) timeout(c *conn) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.end(c, closeSessionTimeout, true)
}

// end closes a connection from the server's side; forget also ends its session. The lock is held.
func (g *gateway) end(c *conn, why closeCode, forget bool) {
	if s := g.conns[c]; s != nil {
		g.detach(c)

		if forget {
			delete(g.sessions, s.id)
		}
	}

	if l := &g.log[c.number-1]; l.ClosedBy == "" {
		l.ClosedBy, l.Code = "server", int(why.code)
	}

	if why.code == 0 {
		_ = c.socket.CloseNow()
	} else {
		c.close(why)
	}
}

// detach separates a connection from its session, which can be resumed. The lock is held.
func (g *gateway) detach(c *conn) {
	if s := g.conns[c]; s != nil {
		s.conn = nil
		g.conns[c] = nil

		g.changes.Notify()
	}
}

// disconnected handles the end of a connection. A client that closes with 1000 or 1001 gives up its session, as in Discord.
func (g *gateway) disconnected(c *conn, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()

	l := &g.log[c.number-1]
	l.Open = false

	if l.ClosedBy == "" {
		l.ClosedBy = "client"

		if closed, ok := errors.AsType[websocket.CloseError](err); ok {
			l.Code = int(closed.Code)

			if s := g.conns[c]; s != nil && (closed.Code == websocket.StatusNormalClosure || closed.Code == websocket.StatusGoingAway) {
				delete(g.sessions, s.id)
			}
		}
	}

	g.detach(c)
	delete(g.conns, c)
	_ = c.socket.CloseNow()
	g.changes.Notify()
}

// dispatch sends an event to all sessions that want it.
func (g *gateway) dispatch(e event) {
	g.mu.Lock()
	defer g.mu.Unlock()

	for _, id := range g.order() {
		s := g.sessions[id]
		if !s.wants(e) {
			continue
		}

		data := e.data
		if e.hidden != nil && s.intents&intentMessageContent == 0 {
			data = e.hidden
		}

		s.dispatch(e.name, data)
	}
}

// order returns the IDs of the sessions, oldest first. The lock is held.
func (g *gateway) order() []string {
	ids := make([]string, 0, len(g.sessions))
	for id := range g.sessions {
		ids = append(ids, id)
	}

	slices.Sort(ids)

	return ids
}

// drop closes all connections.
func (g *gateway) drop(d Drop) {
	g.mu.Lock()
	defer g.mu.Unlock()

	why := closeCode{}
	if d.Code != 0 {
		why = closeCode{websocket.StatusCode(d.Code), "Closed on purpose."}
	}

	for c := range g.conns {
		g.end(c, why, d.Forget)
	}

	if d.Forget {
		clear(g.sessions)
	}
}

// reconnect asks all clients to reconnect.
func (g *gateway) reconnect() {
	g.mu.Lock()
	defer g.mu.Unlock()

	for c, s := range g.conns {
		if s != nil {
			c.sendOp(opReconnect, nil)
		}
	}
}

// invalidate tells all clients that their session is invalid. They identify or resume on the same connection or a new one.
func (g *gateway) invalidate(resumable bool) {
	g.mu.Lock()
	defer g.mu.Unlock()

	for c, s := range g.conns {
		if s == nil {
			continue
		}

		g.detach(c)

		if !resumable {
			delete(g.sessions, s.id)
		}

		c.sendOp(opInvalidSession, resumable)
	}
}

func (g *gateway) setStopAcks(stop bool) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.stopAcks = stop
}

// connections returns all connections that were ever made.
func (g *gateway) connections() []Connection {
	g.mu.Lock()
	defer g.mu.Unlock()

	return slices.Clone(g.log)
}

// connected returns how many sessions have a connection.
func (g *gateway) connected() int {
	g.mu.Lock()
	defer g.mu.Unlock()

	n := 0
	for _, s := range g.sessions {
		if s.conn != nil {
			n++
		}
	}

	return n
}

// String describes a connection on one line.
func (c Connection) String() string {
	state := "open"
	if c.ClosedBy != "" {
		state = fmt.Sprintf("closed by the %s with code %d", c.ClosedBy, c.Code)
	}

	how := c.How
	if how == "" {
		how = "not identified"
	}

	return fmt.Sprintf("%d. %s, %d heartbeats, %s", c.Number, how, c.Heartbeats, state)
}
