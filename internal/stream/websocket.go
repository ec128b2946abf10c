package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/problem"
)

// readLimit is the maximum size of a frame from a client.
const readLimit = 32 << 10

// WebSocket serves any number of channels over one connection, in JSON text frames.
//
// The client sends {"action": …}: "subscribe" and "unsubscribe" with a "channel", which is "session:<id>", "notes" or "sessions"; "catchup"
// with a "channel" and the "last_event_id" to begin after; "ping". A subscription to a journal is confirmed, then delivers the journal
// after "last_event_id", or from its beginning, and continues with live events: in order, without gaps or duplicates, with the number of
// each event as "db_event_id". If that would be more than 200 events, or if some of them are gone, "catchup.overflow" asks the client to
// load the current state over REST, and the events after "head" follow. Invalid commands are answered with frames of type "error" and do
// not end the connection, except frames of more than 32 KiB.
func (h *Hub) WebSocket() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.admit(w, r) {
			return
		}
		defer h.release(r)

		if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "websocket")
			problem.Write(w, r, h.logger, tarsy.Errorf(tarsy.CodeUpgradeRequired, "This endpoint accepts WebSocket connections only."))

			return
		}

		// The origin was already checked by admit, which responds with a problem.
		socket, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
		if err != nil {
			h.logger.DebugContext(r.Context(), "websocket handshake failed", "error", err)

			return
		}

		h.webSockets.Add(1)
		defer h.webSockets.Add(-1)

		// After the handshake the request's context is unrelated to the connection.
		c := h.newConn(context.WithoutCancel(r.Context()), h.holdings.owner(r), socket, h.loginEnded(r))
		c.sight = sight{visible: h.visible(r), teamOf: h.teamOf, known: map[string]bool{}}
		c.serve()
	})
}

// conn is one WebSocket connection. The goroutine of the request reads; one other writes, one pings, and each
// subscription has its own. All end before serve returns.
type conn struct {
	hub    *Hub
	id     string
	owner  string // the owner that subscriptions are counted for
	socket *websocket.Conn
	outbox *outbox
	sight  sight
	// loginEnded is closed when the reader may no longer read.
	loginEnded <-chan struct{}

	// overdue runs while a message is being written, and closes the connection when it fires.
	overdue *time.Timer

	ctx    context.Context //nolint:containedctx // the life of the connection
	cancel context.CancelCauseFunc

	subscriptions map[string]*running // by channel; belongs to the goroutine that reads
}

// running is a subscription's goroutine.
type running struct {
	cancel context.CancelFunc
	done   sync.WaitGroup
}

func (r *running) stop() {
	r.cancel()
	r.done.Wait()
}

func (h *Hub) newConn(parent context.Context, owner string, socket *websocket.Conn, loginEnded <-chan struct{}) *conn {
	ctx, cancel := context.WithCancelCause(parent)

	return &conn{
		hub: h, id: ident.New(), owner: owner, socket: socket, outbox: newOutbox(), loginEnded: loginEnded, ctx: ctx, cancel: cancel,
		subscriptions: map[string]*running{},
	}
}

func (c *conn) serve() {
	defer context.AfterFunc(c.hub.ctx, func() { c.cancel(errShuttingDown) })()

	var helpers sync.WaitGroup

	c.overdue = time.AfterFunc(c.hub.writeLimit, func() {
		c.cancel(errTooSlow)
		_ = c.socket.CloseNow()
	})
	c.overdue.Stop()

	helpers.Go(c.write)
	helpers.Go(c.ping)

	c.socket.SetReadLimit(readLimit)
	c.send(tarsy.EstablishedFrame{Type: tarsy.TypeEstablished, ConnectionID: c.id})
	c.cancel(c.read())

	// This ends a write that waits for the peer, unless the writer is sending a close frame.
	_ = c.socket.CloseNow()

	for channel := range c.subscriptions {
		c.drop(channel)
	}

	helpers.Wait()

	c.hub.logger.DebugContext(c.ctx, "websocket closed", "connection_id", c.id, "cause", context.Cause(c.ctx))
}

// read handles commands of the client until the connection ends.
func (c *conn) read() error {
	for {
		kind, data, err := c.socket.Read(c.ctx)
		if err != nil {
			return fmt.Errorf("read: %w", err)
		}

		c.handleCommand(kind, data)
	}
}

// write is the only goroutine that writes messages. It must not be interrupted within a message when the hub closes, or the client would
// not receive the reason.
func (c *conn) write() {
	for {
		var err error

		select {
		case <-c.ctx.Done():
			return
		case <-c.hub.closing:
			c.cancel(c.bye(websocket.StatusGoingAway, errShuttingDown))

			return
		case <-c.loginEnded:
			c.cancel(c.bye(statusLoggedOut, errLoggedOut))

			return
		case task := <-c.outbox.tasks:
			err = task()
		case <-c.outbox.wake:
			err = c.outbox.drain()
		}

		if err != nil {
			c.cancel(fmt.Errorf("write: %w", err))

			return
		}
	}
}

// bye closes the connection with a close frame and returns the reason.
func (c *conn) bye(code websocket.StatusCode, reason error) error {
	_ = c.socket.Close(code, reason.Error())

	return reason
}

// ping checks periodically whether the peer is alive.
func (c *conn) ping() {
	ticker := time.NewTicker(c.hub.pingEvery)
	defer ticker.Stop()

	for {
		select {
		case <-c.ctx.Done():
			return
		case <-ticker.C:
			ctx, cancel := context.WithTimeout(c.ctx, c.hub.writeLimit)
			err := c.socket.Ping(ctx)

			cancel()

			if err != nil {
				c.cancel(fmt.Errorf("keep-alive: %w", err))

				return
			}
		}
	}
}

// send passes a frame to the writer. It returns when the writer has taken it, or the connection has ended.
func (c *conn) send(frame any) {
	c.outbox.put(c.ctx, func() error { return c.text(encode(frame)) })
}

// text writes a message. A reader that does not accept it in time is dropped, and catches up when it reconnects.
func (c *conn) text(message string) error { return c.frame([]byte(message)) }

// frame is text for bytes that other connections may be writing too. One timer for all writes of the connection is much cheaper than a
// context with a timeout for each; the timer closes the socket.
func (c *conn) frame(message []byte) error {
	c.overdue.Reset(c.hub.writeLimit)
	defer c.overdue.Stop()

	return c.socket.Write(context.WithoutCancel(c.ctx), websocket.MessageText, message)
}

func (c *conn) event(channel string, record journal.Record[tarsy.Event]) error {
	return c.text(encodeEvent(channel, record))
}

func (c *conn) chunk(chunk *Encoded) error { return c.frame(chunk.frame()) }

func (c *conn) overflow(channel string, through journal.Position) error {
	return c.text(encode(overflowFrame(channel, through)))
}

// start runs a subscription in its own goroutine. If it fails, the connection is closed; the client reconnects and continues where it was.
func (c *conn) start(channel string, run func(context.Context) error) {
	ctx, cancel := context.WithCancel(c.ctx)
	r := &running{cancel: cancel}
	c.subscriptions[channel] = r

	r.done.Go(func() {
		err := run(ctx)
		if ctx.Err() != nil {
			return
		}

		c.hub.logger.WarnContext(ctx, "subscription failed", "connection_id", c.id, "channel", channel, "error", err)
		c.outbox.put(ctx, func() error { return c.bye(websocket.StatusInternalError, errSubscription) })
	})
}

var errTooSlow = errors.New("the reader did not take a message in time")

var errSubscription = errors.New("subscription failed, connect again")
