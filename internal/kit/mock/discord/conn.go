package discord

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/jonboulle/clockwork"
)

const (
	// maxQueue is how many payloads can wait for a client that does not read.
	maxQueue = 10_000
	// writeTime is how long a client may take to accept a payload.
	writeTime = 10 * time.Second
)

// closeCode is the reason for closing a connection.
type closeCode struct {
	code   websocket.StatusCode
	reason string
}

// The close codes that the gateway uses on its own.
var (
	closeUnknownOpcode  = closeCode{4001, "Unknown opcode."}
	closeDecodeError    = closeCode{4002, "Error while decoding payload."}
	closeNotAuthed      = closeCode{4003, "Not authenticated."}
	closeAuthFailed     = closeCode{4004, "Authentication failed."}
	closeAlreadyAuthed  = closeCode{4005, "Already authenticated."}
	closeInvalidSeq     = closeCode{4007, "Invalid seq."}
	closeRateLimited    = closeCode{4008, "Rate limited."}
	closeSessionTimeout = closeCode{4009, "Session timed out."}
	closeInvalidShard   = closeCode{4010, "Invalid shard."}
	closeVersion        = closeCode{4012, "Invalid API version."}
	closeIntents        = closeCode{4013, "Invalid intent(s)."}
	closeDisallowed     = closeCode{4014, "Disallowed intent(s)."}
)

// outgoing is something to send: a payload, or the close code.
type outgoing struct {
	payload  []byte
	compress bool
	end      *closeCode
}

// conn is a connection to the gateway. One goroutine writes and one reads; any goroutine can send.
type conn struct {
	socket  *websocket.Conn
	encoder encoder
	number  int

	mu    sync.Mutex
	queue []outgoing
	ended bool
	wake  chan struct{}

	pace pace // only used by the reading goroutine

	// alive closes the connection if no heartbeat arrives in time.
	alive clockwork.Timer
}

func newConn(socket *websocket.Conn, encoder encoder, number int) *conn {
	return &conn{socket: socket, encoder: encoder, number: number, wake: make(chan struct{}, 1)}
}

// payload is a message of the gateway.
type payload struct {
	Op       int             `json:"op"`
	Data     json.RawMessage `json:"d"`
	Sequence *int64          `json:"s"`
	Type     *string         `json:"t"`
}

// sendOp sends a payload that is not an event.
func (c *conn) sendOp(op int, data any) {
	raw, err := json.Marshal(data)
	if err != nil {
		panic("discord: data of an operation: " + err.Error())
	}

	text, err := json.Marshal(payload{Op: op, Data: raw})
	if err != nil {
		panic("discord: an operation: " + err.Error())
	}

	c.put(outgoing{payload: text})
}

// close closes the connection after sending the queue.
func (c *conn) close(why closeCode) { c.put(outgoing{end: &why}) }

func (c *conn) put(o outgoing) {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.ended {
		return
	}

	if len(c.queue) >= maxQueue {
		o = outgoing{end: &closeRateLimited}
	}

	c.ended = o.end != nil
	c.queue = append(c.queue, o)

	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *conn) take() []outgoing {
	c.mu.Lock()
	defer c.mu.Unlock()

	taken := c.queue
	c.queue = nil

	return taken
}

// write sends the queue until the connection ends.
func (c *conn) write(ctx context.Context) {
	for {
		for _, o := range c.take() {
			if o.end != nil {
				_ = c.socket.Close(o.end.code, o.end.reason)

				return
			}

			if c.writeOne(ctx, o) != nil {
				_ = c.socket.CloseNow()

				return
			}
		}

		select {
		case <-c.wake:
		case <-ctx.Done():
			_ = c.socket.CloseNow()

			return
		}
	}
}

func (c *conn) writeOne(ctx context.Context, o outgoing) error {
	data, binary, err := c.encoder.encode(o.payload)
	if err == nil && o.compress && !binary {
		data, err = compressPayload(o.payload)
		binary = true
	}

	if err != nil {
		return err
	}

	kind := websocket.MessageText
	if binary {
		kind = websocket.MessageBinary
	}

	limited, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()

	return c.socket.Write(limited, kind, data)
}
