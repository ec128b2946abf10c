package flowtest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tarsy.dev/tarsy/flow/program"
	"tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/kit/mock/match"
)

// Types of the virtual Discord and its conversations.
type (
	// DiscordSetup defines the users, guilds and channels that exist.
	DiscordSetup = discord.Setup
	// DiscordStep is one step of a conversation.
	DiscordStep = discord.Step
	// DiscordSay is a message written by a user.
	DiscordSay = discord.Say
	// DiscordExpect is an action expected of the bot.
	DiscordExpect = discord.Expect
	// DiscordText is a condition on a text.
	DiscordText = match.Text
	// DiscordMessage is a message in its current state, with its texts before each edit.
	DiscordMessage = discord.Message
	// DiscordDrop is how the gateway connection breaks.
	DiscordDrop = discord.Drop
	// DiscordForce429 defines which requests are rejected, and for how long.
	DiscordForce429 = discord.Force429
)

// WithDiscord gives the program a virtual Discord: a guild with the channels general and random, the users alice and bob, and
// another bot, pager. The program gets its addresses and listens in general.
func WithDiscord(change ...func(*DiscordSetup)) Option {
	return func(h *Host) { h.discord = newDiscord(h, change) }
}

// Discord is a virtual Discord: a test writes as its users and reads what the bot sends.
type Discord struct {
	host   *Host
	server *discord.Server
	last   int // the number of the last action of the bot that the test waited for
	ended  chan struct{}
	end    func() // closes ended
}

func newDiscord(h *Host, change []func(*DiscordSetup)) *Discord {
	h.t.Helper()

	setup := DiscordSetup{
		Bot:   "bot",
		Users: []discord.User{{Name: "alice"}, {Name: "bob"}, {Name: "pager", Bot: true}},
		Guilds: []discord.Guild{{
			Name: "guild", Channels: []discord.Channel{{Name: "general"}, {Name: "random"}},
		}},
	}
	for _, by := range change {
		by(&setup)
	}

	server, err := discord.New(discord.Config{Setup: setup})
	if err == nil {
		err = server.Start()
	}

	if err != nil {
		h.t.Fatalf("start the virtual Discord: %v", err)
	}

	h.t.Cleanup(server.Stop)

	ended := make(chan struct{})

	return &Discord{host: h, server: server, ended: ended, end: sync.OnceFunc(func() { close(ended) })}
}

func (d *Discord) access() program.DiscordAccess {
	return program.DiscordAccess{
		Token: d.server.Token(), API: d.server.API(), Gateway: d.server.Gateway(), Channel: "general", End: d.ended,
	}
}

func (d *Discord) stop() { d.server.Stop() }

// SayOption sets an attribute of a message other than its content.
type SayOption func(*discord.Options)

// InThread writes the message in a thread of the channel, which is created if it does not exist.
func InThread(name string) SayOption { return func(o *discord.Options) { o.Thread = name } }

// InReplyTo makes the message a reply to the message with this id.
func InReplyTo(messageID string) SayOption { return func(o *discord.Options) { o.ReplyTo = messageID } }

// WithID sets the id of the message, which has 15 to 20 digits.
func WithID(id string) SayOption { return func(o *discord.Options) { o.ID = id } }

// WrittenAt sets when the message was written.
func WrittenAt(at time.Time) SayOption { return func(o *discord.Options) { o.Created = at } }

// Say writes a message as a user and returns it. The author can be a bot, such as pager. In the content, <@NAME> mentions a
// user by name; the bot is named bot.
func (d *Discord) Say(channel, author, content string, options ...SayOption) DiscordMessage {
	d.host.t.Helper()
	d.requireInput()

	var chosen discord.Options
	for _, option := range options {
		option(&chosen)
	}

	said, err := d.server.Say(channel, author, content, chosen)
	if err != nil {
		d.host.t.Fatalf("%v", err)
	}

	return said
}

// End ends the input, as Ctrl-D does on a console: no more messages are written, and the program handles those written so far.
func (d *Discord) End(options ...WaitOption) {
	d.host.t.Helper()

	ctx, cancel := d.host.assertion(options)
	defer cancel()

	err := d.server.WaitReceived(ctx)
	if err != nil {
		d.host.t.Fatalf("%v%s", err, d.host.problems())
	}

	d.end()
}

// requireInput fails the test if the input has ended.
func (d *Discord) requireInput() {
	d.host.t.Helper()

	select {
	case <-d.ended:
		d.host.t.Fatalf("the Discord input has ended: no more messages can be sent")
	default:
	}
}

// Play runs the steps of a conversation in order. If a step fails, so does the test, with a list of the bot's actions.
func (d *Discord) Play(steps ...DiscordStep) {
	d.host.t.Helper()

	if slices.ContainsFunc(steps, func(step DiscordStep) bool { return step.Say != nil }) {
		d.requireInput()
	}

	ctx, cancel := d.host.assertion(nil)
	defer cancel()

	found, err := d.server.Play(ctx, steps...)
	if err != nil {
		d.host.t.Fatalf("%v%s", err, d.host.problems())
	}

	d.last = max(d.last, found)
}

// WaitSent waits until a message of the bot matches, as sent or after an edit, and returns it in that state. The reason
// describes the wait in failures.
func (d *Discord) WaitSent(reason string, matches func(DiscordMessage) bool, options ...WaitOption) DiscordMessage {
	d.host.t.Helper()

	ctx, cancel := d.host.assertion(options)
	defer cancel()

	action, err := d.server.WaitAction(ctx, func(a discord.Action) bool {
		return (a.Kind == discord.KindMessage || a.Kind == discord.KindEdit) && matches(*a.Message)
	})
	if err != nil {
		d.host.t.Fatalf("waited for %s: %v; %s%s", reason, err, d.describe(), d.host.problems())
	}

	d.last = max(d.last, action.Number)

	return *action.Message
}

// AssertQuiet fails the test if the bot has sent or edited a message after the last one that the test waited for, now or after
// it has handled everything that was written. It does not wait for time to pass.
func (d *Discord) AssertQuiet(options ...WaitOption) {
	d.host.t.Helper()
	d.host.WaitQuiet(options...)

	for _, action := range d.server.Sent().Actions {
		if action.Number > d.last && (action.Kind == discord.KindMessage || action.Kind == discord.KindEdit) {
			d.host.t.Fatalf("expected no message after action %d; %s", d.last, d.describe())
		}
	}
}

// WaitTyping waits until the bot has shown that it is typing in a channel.
func (d *Discord) WaitTyping(channel string, options ...WaitOption) {
	d.host.t.Helper()

	ctx, cancel := d.host.assertion(options)
	defer cancel()

	_, err := d.server.Wait(ctx, "typing", discord.Expect{Kind: discord.KindTyping, Channel: channel})
	if err != nil {
		d.host.t.Fatalf("%v%s", err, d.host.problems())
	}
}

// Content matches messages with exactly this content.
func Content(text string) func(DiscordMessage) bool {
	return func(m DiscordMessage) bool { return m.Content == text }
}

// Sent returns the messages that the bot sent, in that order and in their current state.
func (d *Discord) Sent() []DiscordMessage { return d.server.Sent().Messages }

// Contents returns the contents of the messages that the bot sent.
func (d *Discord) Contents() []string {
	var contents []string
	for _, m := range d.Sent() {
		contents = append(contents, m.Content)
	}

	return contents
}

// DropGateway breaks the connections to the gateway. Sessions can be resumed.
func (d *Discord) DropGateway(how DiscordDrop) { d.server.DropGateway(how) }

// Force429 rejects the next requests with status 429.
func (d *Discord) Force429(which DiscordForce429) { d.server.Force429(which) }

// ID returns the id of a channel or thread, of a user given as @NAME, or of a guild.
func (d *Discord) ID(name string) string {
	d.host.t.Helper()

	id, err := d.server.ID(name)
	if err != nil {
		d.host.t.Fatalf("%v", err)
	}

	return id
}

// describe lists the bot's actions.
func (d *Discord) describe() string {
	actions := d.server.Sent().Actions
	if len(actions) == 0 {
		return "the bot did nothing"
	}

	lines := make([]string, 0, len(actions))
	for _, action := range actions {
		lines = append(lines, fmt.Sprintf("\n  %s", action))
	}

	return "the bot did:" + strings.Join(lines, "")
}
