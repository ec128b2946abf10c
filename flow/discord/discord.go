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
	// maxContent is the maximum length of a message. Discord counts characters, and a text has at most as many as UTF-16 units.
	maxContent = 2000
	// editPause is the minimum time between two edits of a growing message.
	editPause = time.Second
	// attempts is how many times a message is sent while Discord fails temporarily; the pauses between attempts start at a
	// second and double.
	attempts = 4
)

// Config is the configuration of a branch.
type Config struct {
	// Name is the name of the branch; "discord" by default.
	Name string
	// Client is the connection. If it is nil, one is created from Connection.
	Client     *Client
	Connection ClientConfig
	// Channels are the ids or names of the channels whose messages are produced, including their threads. Empty means all
	// channels and direct messages. Empty names are ignored.
	Channels []string
	// Shatter splits drafts into messages. Text that exceeds the maximum length of a message is split in any case.
	Shatter flow.Shatter
	// Typing shows the bot as typing from the moment a message is produced until the first draft for its channel, for about a
	// minute at most.
	Typing bool
	// Clock paces edits, typing and retries; nil is the real clock.
	Clock clockwork.Clock
	// Logger reports undelivered texts and lost connections; nil discards them.
	Logger *slog.Logger
}

// Draft is a text to send.
type Draft struct {
	ChannelID string `json:"channel_id"`
	// ReplyTo is the id of the message that the draft's first message replies to.
	ReplyTo string `json:"reply_to,omitempty"`
	Text    string `json:"text"`
	// StreamID joins the parts of one response: the first part is sent, later ones edit that message until it is full and then
	// continue in a new one. A draft with an empty StreamID is sent on its own.
	StreamID string `json:"stream_id,omitempty"`
	// Last marks the last part of a stream, which can be empty. A stream also ends when no part follows for ten minutes, or
	// when a hundred other streams have received parts since; a later part begins a new message.
	Last bool `json:"last,omitempty"`
}

// Sent is a message that was sent or edited.
type Sent struct {
	ChannelID string `json:"channel_id"`
	MessageID string `json:"message_id"`
	StreamID  string `json:"stream_id,omitempty"`
	Text      string `json:"text"`
	Edited    bool   `json:"edited,omitempty"`
}

// Undelivered is a text that Discord did not accept, such as one for a deleted channel.
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
	streams     map[string]*stream // owned by the daemon that consumes drafts
	typing      *typing
}

// New returns a branch. It does not connect until its flow starts.
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

// deliver handles one draft. A message that Discord does not accept does not fail the flow.
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

		draft.ReplyTo = "" // only the first message is a reply
	}

	return nil
}

// send sends one message; blank text is not sent. It reports false if Discord does not accept the message.
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

// persist makes a request, up to attempts times while its error may be temporary.
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

// giveUp records that a text was not delivered, unless the reason is the end of the context.
func (d *Discord) giveUp(ctx context.Context, draft Draft, text string, reason error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	d.config.Logger.Warn("discord message not delivered", "channel_id", draft.ChannelID, "error", reason)

	return d.undelivered.Append(ctx, Undelivered{
		ChannelID: draft.ChannelID, StreamID: draft.StreamID, Text: text, Reason: reason.Error(),
	})
}
