package discord

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	// maxContent is how long a message may be. Discord counts characters, of which there are at most as many as UTF-16 units.
	maxContent = 2000
	// editPause is the shortest time between two edits of a message that grows.
	editPause = time.Second
	// attempts is how often a message is sent that Discord does not accept for now; the pauses between double from a second.
	attempts = 4
)

// Config is the configuration of a branch.
type Config struct {
	// Name of the branch; "discord" by default.
	Name string
	// Client is the connection. If it is nil, one is made with Connection.
	Client     *Client
	Connection ClientConfig
	// Channels are the ids or names of the channels whose messages are produced, with those of their threads; empty is all
	// channels, and direct messages. Empty names are ignored.
	Channels []string
	// Shatter divides drafts into messages. What is longer than a message may be is divided in any case.
	Shatter flow.Shatter
	// Typing shows that the bot is typing from when a message is produced until the first draft for its channel, for a
	// minute at most.
	Typing bool
	// Clock paces edits, typing and repeated attempts; nil is the real one.
	Clock clockwork.Clock
	// Logger reports what cannot be delivered, and lost connections; nil is nobody.
	Logger *slog.Logger
}

// Draft is a text to send.
type Draft struct {
	ChannelID string `json:"channel_id"`
	// ReplyTo is the id of the message that the first message replies to.
	ReplyTo string `json:"reply_to,omitempty"`
	Text    string `json:"text"`
	// StreamID joins the parts of one response: the first is sent, the next ones edit that message until it is full, and
	// go on in another. Empty sends the draft by itself.
	StreamID string `json:"stream_id,omitempty"`
	// Last is the last part of a stream. It may have no text. A stream also ends when no part follows for ten minutes, or when
	// a hundred others got parts since; a part that comes after that begins a new message.
	Last bool `json:"last,omitempty"`
}

// Sent is a message that was sent, or one that was edited.
type Sent struct {
	ChannelID string `json:"channel_id"`
	MessageID string `json:"message_id"`
	StreamID  string `json:"stream_id,omitempty"`
	Text      string `json:"text"`
	Edited    bool   `json:"edited,omitempty"`
}

// Undelivered is a text that Discord did not accept, such as one for a channel that was deleted.
type Undelivered struct {
	ChannelID string `json:"channel_id"`
	StreamID  string `json:"stream_id,omitempty"`
	Text      string `json:"text"`
	Reason    string `json:"reason"`
}

// Discord is a branch.
type Discord struct {
	*flow.Branch

	Messages flow.Out[Message]
	Drafts   flow.In[Draft]

	config      Config
	client      *Client
	sent        flow.Log[Sent]
	undelivered flow.Log[Undelivered]
	streams     map[string]*stream // of the daemon that consumes drafts
	typing      *typing
}

// New returns a branch. It does not connect before its flow is started.
func New(config Config) (*Discord, error) {
	config.Name = cmp.Or(config.Name, "discord")

	if config.Clock == nil {
		config.Clock = clockwork.NewRealClock()
	}

	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}

	config.Channels = slices.DeleteFunc(slices.Clone(config.Channels), func(name string) bool { return name == "" })
	config.Connection.Logger = cmp.Or(config.Connection.Logger, config.Logger)

	if config.Shatter == nil {
		config.Shatter = flow.ShatterNone
	}

	config.Shatter = flow.ShatterEach(config.Shatter, flow.ShatterMaxLength(maxContent))

	client := config.Client
	if client == nil {
		var err error

		client, err = NewClient(config.Connection)
		if err != nil {
			return nil, err
		}
	}

	d := &Discord{Branch: flow.NewBranch(config.Name), config: config, client: client, streams: map[string]*stream{}}
	d.typing = newTyping(client, config.Clock)
	d.Messages = flow.Produces[Message](d.Branch)
	d.Drafts = flow.Consumes(d.Branch, d.deliver)
	d.sent = flow.Logs[Sent](d.Branch)
	d.undelivered = flow.Logs[Undelivered](d.Branch)
	d.Input(config.Name+" input", d.listen)

	return d, nil
}

// listen produces messages until the flow stops or the input ends.
func (d *Discord) listen(ctx context.Context, ready func()) error {
	defer d.typing.stopAll()

	return d.client.run(ctx, ready, d.Pending, d.receive)
}

func (d *Discord) receive(ctx context.Context, m Message) error {
	if m.Content == "" || !d.listensTo(ctx, m) {
		return nil
	}

	if d.config.Typing {
		d.typing.start(ctx, m.ChannelID)
	}

	return d.Messages.Send(ctx, m)
}

func (d *Discord) listensTo(ctx context.Context, m Message) bool {
	for _, id := range []string{m.ChannelID, m.ParentID} {
		switch {
		case id == "":
		case len(d.config.Channels) == 0 || slices.Contains(d.config.Channels, id):
			return true
		case m.GuildID != "":
			channel, err := d.client.Channel(ctx, id)
			if err == nil && slices.ContainsFunc(d.config.Channels, func(name string) bool {
				return strings.TrimPrefix(name, "#") == channel.Name
			}) {
				return true
			}
		}
	}

	return false
}

// deliver handles one draft. A message that Discord does not accept is no failure of the flow.
func (d *Discord) deliver(ctx context.Context, draft Draft) error {
	if strings.TrimSpace(draft.Text) != "" || draft.Last {
		d.typing.stop(draft.ChannelID)
	}

	if draft.StreamID != "" {
		return d.addToStream(ctx, draft)
	}

	for _, part := range d.config.Shatter(plaintext.Clean(draft.Text)) {
		_, delivered, err := d.send(ctx, draft, part)
		if err != nil || !delivered {
			return err
		}

		draft.ReplyTo = "" // the other messages follow the first
	}

	return nil
}

// send sends one message; text without content is not sent. It reports false if Discord does not accept it.
func (d *Discord) send(ctx context.Context, draft Draft, text string) (messageID string, delivered bool, err error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return "", true, nil
	}

	post := Post{Text: text, ReplyTo: draft.ReplyTo, Nonce: ident.New()}

	failure := d.persist(ctx, func() error {
		messageID, err = d.client.Send(ctx, draft.ChannelID, post)

		return err
	})
	if failure != nil {
		return "", false, d.giveUp(ctx, draft, text, failure)
	}

	return messageID, true, d.sent.Append(ctx, Sent{
		ChannelID: draft.ChannelID, MessageID: messageID, StreamID: draft.StreamID, Text: text,
	})
}

// persist repeats a request while it fails with an error that may go away.
func (d *Discord) persist(ctx context.Context, request func() error) error {
	pause := time.Second

	for attempt := 1; ; attempt++ {
		err := request()
		if err == nil || IsPermanent(err) || attempt == attempts {
			return err
		}

		select {
		case <-d.config.Clock.After(pause):
			pause *= 2
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// giveUp notes that a text was not delivered. The end of the context is no such reason.
func (d *Discord) giveUp(ctx context.Context, draft Draft, text string, reason error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	d.config.Logger.Warn("discord message not delivered", "channel_id", draft.ChannelID, "error", reason)

	return d.undelivered.Append(ctx, Undelivered{
		ChannelID: draft.ChannelID, StreamID: draft.StreamID, Text: text, Reason: reason.Error(),
	})
}
