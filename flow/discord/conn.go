package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/disgoorg/disgo/gateway"
)

const (
	// intents select the events that the bot receives: guilds with their channels, and messages with their content.
	intents = gateway.IntentGuilds | gateway.IntentGuildMessages | gateway.IntentDirectMessages | gateway.IntentMessageContent

	// connectTimeout bounds the time to connect and exchange greetings with Discord.
	connectTimeout = 30 * time.Second
	// maxFrame bounds the size of a frame: one frame contains all channels of a large guild.
	maxFrame = 64 << 20
	// closeResumable is a close code after which Discord keeps the session.
	closeResumable = websocket.StatusCode(4000)
)

var (
	errReconnect      = errors.New("discord asked to reconnect")
	errInvalidSession = errors.New("discord no longer knows the session")
	errNoAck          = errors.New("discord does not answer heartbeats")
)

// closedError reports that Discord closed the connection.
type closedError struct {
	code   int
	reason string
}

func (e *closedError) Error() string {
	return fmt.Sprintf("discord closed the connection with code %d %s", e.code, e.reason)
}

// frame is a message on a gateway connection.
type frame struct {
	Op       gateway.Opcode    `json:"op"`
	Data     json.RawMessage   `json:"d"`
	Sequence int               `json:"s,omitempty"`
	Type     gateway.EventType `json:"t,omitempty"`
}

// conn is one connection to the gateway. The goroutine of session.connect reads, another sends heartbeats.
type conn struct {
	socket *websocket.Conn
	// sequence is the number of the last handled event; answered reports whether Discord answered the last heartbeat.
	sequence atomic.Int64
	answered atomic.Bool
}

// connect opens a connection and reads it until it ends. The error is the reason.
func (s *session) connect(ctx context.Context) error {
	c, interval, err := s.open(ctx)
	if err != nil {
		return err
	}

	// Reads have their own context: when ctx ends, the connection is closed gracefully, so that Discord shows the bot as
	// offline immediately.
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))

	var running sync.WaitGroup

	running.Go(func() { end(c.heartbeat(life, interval)) })
	running.Go(func() {
		select {
		case <-ctx.Done():
			_ = c.socket.Close(websocket.StatusNormalClosure, "")
		case <-life.Done():
		}
	})

	waiting := time.AfterFunc(guildTimeout, s.ready)

	err = s.read(life, ctx, c)
	if errors.Is(context.Cause(life), errNoAck) {
		err = errNoAck
	}

	end(err)
	waiting.Stop()
	running.Wait()

	_ = c.socket.CloseNow()

	return err
}

// open connects, then identifies the bot or resumes its session.
func (s *session) open(ctx context.Context) (*conn, time.Duration, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, connectTimeout, errors.New("discord did not send a hello in time"))
	defer cancel()

	base := s.client.gateway
	if s.id != "" && s.resumeURL != "" {
		base = s.resumeURL
	}

	address, err := url.Parse(base)
	if err != nil {
		return nil, 0, fmt.Errorf("the address of the gateway: %w", err)
	}

	address.RawQuery = url.Values{"v": {fmt.Sprint(gateway.Version)}, "encoding": {"json"}}.Encode()

	socket, _, err := websocket.Dial(ctx, address.String(), &websocket.DialOptions{ //nolint:bodyclose // not to be closed, by its documentation
		HTTPClient: s.client.http, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, 0, fmt.Errorf("connect to the gateway: %w", err)
	}

	socket.SetReadLimit(maxFrame)

	c := &conn{socket: socket}

	interval, err := s.greet(ctx, c)
	if err != nil {
		_ = socket.CloseNow()

		return nil, 0, err
	}

	return c, interval, nil
}

// greet receives Discord's greeting and answers it. It returns the heartbeat interval.
func (s *session) greet(ctx context.Context, c *conn) (time.Duration, error) {
	hello, err := c.receive(ctx)
	if err != nil {
		return 0, err
	}

	var greeting struct {
		Interval int `json:"heartbeat_interval"`
	}

	if hello.Op != gateway.OpcodeHello || json.Unmarshal(hello.Data, &greeting) != nil || greeting.Interval <= 0 {
		return 0, fmt.Errorf("the gateway greeted with op %d %s", hello.Op, hello.Data)
	}

	if s.id == "" {
		s.sequence = 0
		err = c.send(ctx, gateway.OpcodeIdentify, gateway.MessageDataIdentify{
			Token: s.client.token, Intents: intents,
			Properties: gateway.IdentifyCommandDataProperties{OS: runtime.GOOS, Browser: "tarsy", Device: "tarsy"},
		})
	} else {
		err = c.send(ctx, gateway.OpcodeResume, gateway.MessageDataResume{Token: s.client.token, SessionID: s.id, Seq: s.sequence})
	}

	c.sequence.Store(int64(s.sequence))

	return time.Duration(greeting.Interval) * time.Millisecond, err
}

// read handles frames until the connection ends. outer is the context of the session.
func (s *session) read(life, outer context.Context, c *conn) error {
	for {
		f, err := c.receive(life)
		if err != nil {
			s.forgetUnlessResumable(err)

			return err
		}

		switch f.Op {
		case gateway.OpcodeDispatch:
			err := s.dispatch(outer, f.Type, f.Data)
			if outer.Err() != nil {
				return context.Cause(outer)
			}

			if err != nil {
				s.client.logger.Error("discord event cannot be read; skipping it", "event", f.Type, "error", err)
			}

			// Only handled events count: a resumed session continues after the last one.
			s.sequence = f.Sequence
			c.sequence.Store(int64(f.Sequence))
		case gateway.OpcodeHeartbeat:
			_ = c.sendHeartbeat(life) // the next read notices a lost connection
		case gateway.OpcodeHeartbeatACK:
			c.answered.Store(true)
		case gateway.OpcodeReconnect:
			_ = c.socket.Close(closeResumable, "")

			return errReconnect
		case gateway.OpcodeInvalidSession:
			if string(f.Data) != "true" {
				s.id = ""
			}

			_ = c.socket.Close(closeResumable, "")

			return errInvalidSession
		default:
		}
	}
}

// forgetUnlessResumable drops the session after close codes that end it.
func (s *session) forgetUnlessResumable(err error) {
	var closed *closedError
	if !errors.As(err, &closed) {
		return
	}

	switch closed.code {
	case gateway.CloseEventCodeInvalidSeq.Code, gateway.CloseEventCodeSessionTimed.Code:
		s.id = ""
	}
}

func (c *conn) receive(ctx context.Context) (frame, error) {
	var f frame

	err := wsjson.Read(ctx, c.socket, &f)

	if closed, ok := errors.AsType[websocket.CloseError](err); ok {
		return f, &closedError{code: int(closed.Code), reason: closed.Reason}
	}

	return f, err
}

func (c *conn) send(ctx context.Context, op gateway.Opcode, data any) error {
	raw, err := json.Marshal(data)
	if err != nil {
		return err
	}

	return wsjson.Write(ctx, c.socket, frame{Op: op, Data: raw})
}

func (c *conn) sendHeartbeat(ctx context.Context) error {
	var last any // null before the first event
	if n := c.sequence.Load(); n > 0 {
		last = n
	}

	return c.send(ctx, gateway.OpcodeHeartbeat, last)
}

// heartbeat sends heartbeats. It returns when Discord does not answer one, when sending fails, or when the context ends.
func (c *conn) heartbeat(ctx context.Context, interval time.Duration) error {
	c.answered.Store(true)

	// The first heartbeat comes after a random delay, so that all bots of a restarted gateway do not send theirs at the same time.
	timer := time.NewTimer(rand.N(interval)) //nolint:gosec // not a secret
	defer timer.Stop()

	for {
		select {
		case <-timer.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}

		if !c.answered.Swap(false) {
			return errNoAck
		}

		err := c.sendHeartbeat(ctx)
		if err != nil {
			return err
		}

		timer.Reset(interval)
	}
}
