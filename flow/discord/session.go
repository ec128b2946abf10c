package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/disgoorg/disgo/gateway"
)

const (
	// queueLength is how many messages can wait for the handler. While the queue is full, the connection is not read, so
	// Discord closes it; the missed messages arrive when the session is resumed.
	queueLength = 1000
	// guildTimeout is how long Run waits for unavailable guilds before it is ready without them.
	guildTimeout = 10 * time.Second
	// stableTime is how long a connection must last not to count as a failed attempt.
	stableTime = 10 * time.Second
	maxDelay   = time.Minute
)

// Run connects to the gateway and passes people's messages to handle, one at a time and in order. It calls ready once, when the
// bot is connected and its guilds are available. It reconnects on its own, and resumes its session if Discord allows that, so
// that no message is lost. It returns the cause of the context when that ends, the error of handle, or an error that
// reconnecting cannot fix and that includes advice; it returns nil after the end of the input, see [ClientConfig].
func (c *Client) Run(ctx context.Context, ready func(), handle func(context.Context, Message) error) error {
	return c.run(ctx, ready, func() func() { return func() {} }, handle)
}

// run implements Run. It calls pending when a message arrives, and the function that pending returned after the message was
// handled.
func (c *Client) run(
	ctx context.Context, ready func(), pending func() (done func()), handle func(context.Context, Message) error,
) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	connection, disconnect := context.WithCancelCause(ctx)
	defer disconnect(nil)

	connected := make(chan struct{})
	s := &session{
		client: c, connected: connected, pending: pending, messages: make(chan arrival, queueLength),
		ready: sync.OnceFunc(func() {
			ready()
			close(connected)
		}),
	}

	var connecting sync.WaitGroup

	connecting.Go(func() {
		err := s.stayConnected(connection)
		if !errors.Is(err, errEndOfInput) {
			cancel(err)
		}
	})

	err := s.deliver(ctx, handle)
	if errors.Is(err, errEndOfInput) {
		disconnect(errEndOfInput)
		connecting.Wait() // nothing arrives after that

		err = s.deliverQueued(ctx, handle)
	}

	cancel(err)
	connecting.Wait()
	c.Close()

	if err == nil {
		return nil
	}

	return context.Cause(ctx)
}

// errEndOfInput is the cause that disconnects a client whose input has ended.
var errEndOfInput = errors.New("the input has ended")

// session is the state that outlives a connection. The goroutine of stayConnected owns it, except for connected, messages and bot.
type session struct {
	client    *Client
	ready     func()
	connected <-chan struct{} // closed by ready
	pending   func() (done func())
	messages  chan arrival

	bot       atomic.Value // the id of the bot, a string; set by the first READY
	id        string       // empty if there is no session to resume
	resumeURL string
	sequence  int
	missing   map[string]bool // guilds that are not available yet
}

func (s *session) botID() string {
	id, _ := s.bot.Load().(string)

	return id
}

// arrival is a message queued for the handler.
type arrival struct {
	messageObject

	done func()
}

// deliver passes messages to the handler until the context or the input ends. The end of the input takes effect only once the
// bot is connected.
func (s *session) deliver(ctx context.Context, handle func(context.Context, Message) error) error {
	var end <-chan struct{}

	for connected := s.connected; ; {
		select {
		case arrived := <-s.messages:
			err := s.handle(ctx, arrived, handle)
			if err != nil {
				return err
			}
		case <-connected:
			connected, end = nil, s.client.end
		case <-end:
			return errEndOfInput
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// deliverQueued passes the queued messages to the handler.
func (s *session) deliverQueued(ctx context.Context, handle func(context.Context, Message) error) error {
	for {
		select {
		case arrived := <-s.messages:
			err := s.handle(ctx, arrived, handle)
			if err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (s *session) handle(ctx context.Context, arrived arrival, handle func(context.Context, Message) error) error {
	defer arrived.done()

	return handle(ctx, s.complete(ctx, arrived.messageObject))
}

// complete returns the message, with ParentID set if its channel is a thread.
func (s *session) complete(ctx context.Context, object messageObject) Message {
	m := object.message(s.botID())
	if m.GuildID == "" {
		return m
	}

	channel, err := s.client.Channel(ctx, m.ChannelID)
	if err != nil && ctx.Err() == nil {
		s.client.logger.Warn("discord channel of a message cannot be read", "channel_id", m.ChannelID, "error", err)
	}

	if channel.Thread {
		m.ParentID = channel.ParentID
	}

	return m
}

// stayConnected keeps reconnecting until the context ends or an error is permanent.
func (s *session) stayConnected(ctx context.Context) error {
	for failures := 0; ; {
		begin := time.Now()

		err := s.connect(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}

		if permanent := permanentError(err); permanent != nil {
			return permanent
		}

		if time.Since(begin) >= stableTime {
			failures = 0
		}

		delay := reconnectDelay(failures)
		failures++

		s.client.logger.Warn("discord gateway connection lost; reconnecting", "error", err, "resumable", s.id != "", "delay", delay)

		timer := time.NewTimer(delay)

		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()

			return context.Cause(ctx)
		}
	}
}

// reconnectDelay returns zero for the first failure in a row, then delays that double from a second, with up to half added at
// random so that many bots do not reconnect at the same time.
func reconnectDelay(failures int) time.Duration {
	if failures == 0 {
		return 0
	}

	delay := min(time.Second<<min(failures-1, 6), maxDelay)

	return delay + rand.N(delay/2) //nolint:gosec // not a secret
}

// permanentError returns an error with advice if reconnecting cannot fix err, and nil otherwise.
func permanentError(err error) error {
	var closed *closedError
	if !errors.As(err, &closed) {
		return nil
	}

	switch closed.code {
	case gateway.CloseEventCodeAuthenticationFailed.Code:
		return fmt.Errorf("discord refused the token: check that it is the token of the bot, or reset it in the developer portal "+
			"on the page Bot: %w", err)
	case gateway.CloseEventCodeDisallowedIntent.Code:
		return fmt.Errorf("discord refused the intents: enable \"Message Content Intent\" in the developer portal on the page "+
			"Bot: %w", err)
	}

	if !gateway.CloseEventCodeByCode(closed.code).Reconnect {
		return fmt.Errorf("discord permanently rejected the connection: %w", err)
	}

	return nil
}

// dispatch handles an event. While the message queue is full it blocks, and so does reading the connection.
func (s *session) dispatch(ctx context.Context, name gateway.EventType, data json.RawMessage) error {
	switch name {
	case gateway.EventTypeReady:
		return decode(data, s.welcome)
	case gateway.EventTypeGuildCreate:
		return decode(data, s.guildAvailable)
	case gateway.EventTypeGuildDelete:
		return decode(data, func(g guildObject) { s.guildSettled(g.ID) })
	case gateway.EventTypeChannelCreate, gateway.EventTypeChannelUpdate, gateway.EventTypeThreadCreate, gateway.EventTypeThreadUpdate:
		return decode(data, func(o channelObject) { s.client.channels.put(o.channel()) })
	case gateway.EventTypeChannelDelete, gateway.EventTypeThreadDelete:
		return decode(data, func(o channelObject) { s.client.channels.remove(o.ID) })
	case gateway.EventTypeMessageCreate:
		var object messageObject

		err := json.Unmarshal(data, &object)
		if err != nil || !object.fromPerson(s.botID()) {
			return err
		}

		arrived := arrival{messageObject: object, done: s.pending()}

		select {
		case s.messages <- arrived:
		case <-ctx.Done():
			arrived.done()

			return context.Cause(ctx)
		}
	default: // not relevant to the bot
	}

	return nil
}

func decode[T any](data json.RawMessage, use func(T)) error {
	var value T

	err := json.Unmarshal(data, &value)
	if err == nil {
		use(value)
	}

	return err
}

// readyObject is the response to an identify.
type readyObject struct {
	User      userObject    `json:"user"`
	SessionID string        `json:"session_id"`
	ResumeURL string        `json:"resume_gateway_url"`
	Guilds    []guildObject `json:"guilds"`
}

type guildObject struct {
	ID       string          `json:"id"`
	Channels []channelObject `json:"channels"`
	Threads  []channelObject `json:"threads"`
}

func (s *session) welcome(r readyObject) {
	s.bot.Store(r.User.ID)
	s.id, s.resumeURL, s.missing = r.SessionID, r.ResumeURL, map[string]bool{}

	for _, guild := range r.Guilds {
		s.missing[guild.ID] = true
	}

	s.checkGuilds()
}

func (s *session) guildAvailable(g guildObject) {
	for _, object := range append(g.Channels, g.Threads...) {
		object.GuildID = g.ID // the gateway omits it here
		s.client.channels.put(object.channel())
	}

	s.guildSettled(g.ID)
}

func (s *session) guildSettled(id string) {
	delete(s.missing, id)
	s.checkGuilds()
}

func (s *session) checkGuilds() {
	if len(s.missing) == 0 {
		s.ready()
	}
}
