package discord_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/discord"
	mock "tarsy.dev/tarsy/internal/kit/mock/discord"
)

// order is a draft that a test sends through the branch.
type order struct{ discord.Draft }

// desk is a running flow to which a test sends drafts. Messages are not routed anywhere.
type desk struct {
	*discord.Discord

	t      *testing.T
	server *mock.Server
	clock  *clockwork.FakeClock
	flow   *flow.Flow
	orders flow.Out[order]
}

func newDesk(t *testing.T, server *mock.Server, config discord.Config) *desk {
	t.Helper()

	d := &desk{t: t, server: server, clock: clockwork.NewFakeClock()}
	config.Clock = d.clock

	if config.Connection.API == "" {
		config.Connection.API = server.API()
	}

	config.Connection.Token, config.Connection.Gateway = token, server.Gateway()

	branch, err := discord.New(config)
	require.NoError(t, err)

	d.Discord = branch
	writer := flow.NewBranch("writer")
	d.orders = flow.Produces[order](writer)

	d.flow, err = flow.Build([]*flow.Branch{branch.Branch, writer}, flow.Terminal(branch.Messages),
		flow.Route(d.orders, branch.Drafts, func(_ context.Context, o order) (discord.Draft, error) { return o.Draft, nil }))
	require.NoError(t, err)
	require.NoError(t, d.flow.Start(within(t)))
	t.Cleanup(func() { require.NoError(t, d.flow.Stop(context.Background())) })

	return d
}

// write sends a draft to general and waits until it is handled.
func (d *desk) write(draft discord.Draft) {
	d.t.Helper()

	if draft.ChannelID == "" {
		draft.ChannelID = id(d.t, d.server, "general")
	}

	require.NoError(d.t, d.orders.Send(within(d.t), order{draft}))
	require.NoError(d.t, d.flow.WaitIdle(within(d.t)))
}

// contents returns the current contents of the messages that the bot sent.
func (d *desk) contents() []string {
	var all []string
	for _, m := range d.server.Sent().Messages {
		all = append(all, m.Content)
	}

	return all
}

// entries returns the entries of one type in the journal of the branch, oldest first.
func entries[T any](t *testing.T, d *desk) []T {
	t.Helper()

	var all []T

	for record, err := range d.Journal().Backward(within(t), 0) {
		require.NoError(t, err)

		if flow.Is[T](record.Entry) {
			value, err := flow.As[T](record.Entry)
			require.NoError(t, err)

			all = append([]T{value}, all...)
		}
	}

	return all
}

func TestBranchSendsDraftsInMessagesThatDiscordAccepts(t *testing.T) {
	t.Parallel()

	d := newDesk(t, serve(t), discord.Config{Shatter: flow.ShatterParagraph})
	question := say(t, d.server, "general", "alice", "?")

	d.write(discord.Draft{Text: "One.\n\nTwo.\n\n   \n\n", ReplyTo: question.ID})
	require.Equal(t, []string{"One.", "Two."}, d.contents())
	require.Equal(t, question.ID, d.server.Sent().Messages[0].ReplyTo)
	require.Empty(t, d.server.Sent().Messages[1].ReplyTo)

	d.write(discord.Draft{Text: " \n\t"})
	require.Len(t, d.contents(), 2, "there are no messages without content")

	d.write(discord.Draft{Text: strings.Repeat("word ", 900)})
	require.Len(t, d.contents(), 5)

	for _, sent := range entries[discord.Sent](t, d) {
		require.NotEmpty(t, sent.MessageID)
		require.LessOrEqual(t, len(sent.Text), 2000)
	}
}

func TestStreamedResponseGrowsInOneMessage(t *testing.T) {
	t.Parallel()

	d := newDesk(t, serve(t), discord.Config{})
	part := func(text string, last bool) { d.write(discord.Draft{StreamID: "s", Text: text, Last: last}) }

	part(" \n", false)
	require.Empty(t, d.contents())

	part("The", false)
	require.Equal(t, []string{"The"}, d.contents())

	d.clock.Advance(400 * time.Millisecond)
	part(" answer", false)
	require.Equal(t, []string{"The"}, d.contents(), "an edit a second is enough")

	d.clock.Advance(700 * time.Millisecond)
	part(" is", false)
	require.Equal(t, []string{"The answer is"}, d.contents())

	part(" 42.", false)
	part("", true)
	require.Equal(t, []string{"The answer is 42."}, d.contents())
	require.Len(t, d.server.Sent().Messages[0].Earlier, 2)

	sent := entries[discord.Sent](t, d)
	require.Len(t, sent, 3)
	require.True(t, sent[2].Edited)
	require.Equal(t, "s", sent[2].StreamID)
}

func TestStreamedResponseContinuesInNewMessageWhenFull(t *testing.T) {
	t.Parallel()

	d := newDesk(t, serve(t), discord.Config{})

	var whole strings.Builder

	for i := range 60 {
		line := strings.Repeat("é😀", 40) + "\n" // 121 units
		whole.WriteString(line)
		d.write(discord.Draft{StreamID: "s", Text: line, Last: i == 59})
	}

	contents := d.contents()
	require.Len(t, contents, 4)
	require.Equal(t, strings.TrimSpace(whole.String()), strings.Join(contents, "\n"))

	for _, content := range contents {
		require.LessOrEqual(t, len([]rune(content)), 2000)
	}
}

func TestParallelStreamsDoNotMix(t *testing.T) {
	t.Parallel()

	d := newDesk(t, serve(t), discord.Config{})

	for _, text := range []string{"1", "2", "3"} {
		d.write(discord.Draft{StreamID: "a", Text: "a" + text, Last: text == "3"})
		d.write(discord.Draft{StreamID: "b", Text: "b" + text, Last: text == "3"})
	}

	require.Equal(t, []string{"a1a2a3", "b1b2b3"}, d.contents())
}

func TestStreamWithoutLastPartIsFinishedAfterTenMinutes(t *testing.T) {
	t.Parallel()

	d := newDesk(t, serve(t), discord.Config{})

	d.write(discord.Draft{StreamID: "a", Text: "One"})
	d.write(discord.Draft{StreamID: "a", Text: " two"}) // too soon to be shown
	d.clock.Advance(10*time.Minute - time.Second)
	d.write(discord.Draft{StreamID: "b", Text: "Other"})
	require.Equal(t, []string{"One", "Other"}, d.contents())

	d.clock.Advance(time.Second)
	d.write(discord.Draft{StreamID: "c", Text: "Third"})
	require.Equal(t, []string{"One two", "Other", "Third"}, d.contents(), "a has ended, b has not")

	d.write(discord.Draft{StreamID: "a", Text: "Late", Last: true})
	d.write(discord.Draft{StreamID: "b", Text: " goes on", Last: true})
	require.Equal(t, []string{"One two", "Other goes on", "Third", "Late"}, d.contents())
}

func TestOldestStreamIsFinishedWhenThereAreTooMany(t *testing.T) {
	t.Parallel()

	const most = 100

	d := newDesk(t, serve(t), discord.Config{})

	for i := range most {
		d.clock.Advance(time.Millisecond)
		d.write(discord.Draft{StreamID: fmt.Sprint(i), Text: "begin"})
	}

	d.clock.Advance(time.Millisecond)
	d.write(discord.Draft{StreamID: "0", Text: " again"}) // so that 1 has waited longest
	d.write(discord.Draft{StreamID: "one more", Text: "more"})
	d.write(discord.Draft{StreamID: "0", Text: " end", Last: true})
	d.write(discord.Draft{StreamID: "2", Text: " end", Last: true})
	d.write(discord.Draft{StreamID: "1", Text: "late", Last: true})

	contents := d.contents()
	require.Len(t, contents, most+2)
	require.Equal(t, []string{"begin again end", "begin", "begin end", "begin"}, contents[:4])
	require.Equal(t, []string{"more", "late"}, contents[most:])
}

func TestUndeliverableMessageDoesNotFailTheFlow(t *testing.T) {
	t.Parallel()

	d := newDesk(t, serve(t), discord.Config{})

	d.write(discord.Draft{ChannelID: id(t, d.server, "read-only"), Text: "forbidden"})
	d.write(discord.Draft{ChannelID: "123456789012345678", StreamID: "s", Text: "deleted"})
	d.write(discord.Draft{ChannelID: "123456789012345678", StreamID: "s", Text: " channel", Last: true})
	d.write(discord.Draft{Text: "delivered"})

	require.Equal(t, []string{"delivered"}, d.contents())
	require.NoError(t, d.flow.Failures())

	lost := entries[discord.Undelivered](t, d)
	require.Len(t, lost, 2, "a stream is given up once")
	require.Equal(t, "forbidden", lost[0].Text)
	require.Contains(t, lost[0].Reason, "Missing Permissions")
	require.Equal(t, "deleted", lost[1].Text)
	require.Contains(t, lost[1].Reason, "Unknown Channel")
}

func TestStreamEndsWhenItsMessageIsDeleted(t *testing.T) {
	t.Parallel()

	d := newDesk(t, serve(t), discord.Config{})
	d.write(discord.Draft{StreamID: "s", Text: "One"})

	path := "/channels/" + id(t, d.server, "general") + "/messages/" + d.server.Sent().Messages[0].ID
	request, err := http.NewRequestWithContext(within(t), http.MethodDelete, d.server.API()+path, nil)
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bot "+token)

	request.Close = true

	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())

	for _, last := range []bool{false, true} {
		d.clock.Advance(time.Second)
		d.write(discord.Draft{StreamID: "s", Text: " more", Last: last})
	}

	lost := entries[discord.Undelivered](t, d)
	require.Len(t, lost, 1)
	require.Contains(t, lost[0].Reason, "Unknown Message")
	require.Len(t, d.contents(), 1)
}

func TestTransientFailureIsRetriedWithoutDuplicate(t *testing.T) {
	t.Parallel()

	server := serve(t)

	// Discord accepts the first message, but its response is lost.
	var posts atomic.Int32

	d := newDesk(t, server, discord.Config{Connection: discord.ClientConfig{API: proxy(t, server, func(r *http.Response) {
		if r.Request.Method == http.MethodPost && posts.Add(1) == 1 {
			r.StatusCode = http.StatusBadGateway
		}
	})}})

	require.NoError(t, d.orders.Send(within(t), order{discord.Draft{ChannelID: id(t, server, "general"), Text: "once"}}))
	require.NoError(t, d.clock.BlockUntilContext(within(t), 1))
	d.clock.Advance(time.Second)
	require.NoError(t, d.flow.WaitIdle(within(t)))

	require.Equal(t, []string{"once"}, d.contents())
	require.EqualValues(t, 2, posts.Load())
	require.Len(t, entries[discord.Sent](t, d), 1)
}

func TestTypingIsShownUntilTheFirstPart(t *testing.T) {
	t.Parallel()

	d := newDesk(t, serve(t), discord.Config{Typing: true})

	say(t, d.server, "general", "alice", "Think about it")

	for range 2 { // shown, and shown again before Discord hides it
		require.NoError(t, d.clock.BlockUntilContext(within(t), 1))
		d.clock.Advance(8 * time.Second)
	}

	require.NoError(t, d.clock.BlockUntilContext(within(t), 1))
	d.write(discord.Draft{StreamID: "s", Text: "Well", Last: true})
	d.clock.Advance(8 * time.Second)

	_, err := d.server.WaitAction(within(t), func(a mock.Action) bool { return a.Number == 4 })
	require.NoError(t, err)

	shortly, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()

	_, err = d.server.WaitAction(shortly, func(a mock.Action) bool { return a.Number > 4 })
	require.Error(t, err, "nothing follows the message")

	var kinds []string
	for _, action := range d.server.Sent().Actions {
		kinds = append(kinds, action.Kind)
	}

	require.Equal(t, []string{"typing", "typing", "typing", "message"}, kinds)
}

func TestBranchListensInItsChannelsAndTheirThreads(t *testing.T) {
	t.Parallel()

	server := serve(t)
	d := newDesk(t, server, discord.Config{Channels: []string{"#general", id(t, server, "read-only")}})

	say(t, server, "other", "alice", "elsewhere")
	say(t, server, "@alice", "alice", "in private")
	say(t, server, "general", "alice", "here")
	say(t, server, "general", "alice", "<@"+id(t, server, "@tarsy")+">")
	say(t, server, "read-only", "alice", "by id")

	_, err := server.Say("general", "bob", "in a thread", mock.Options{Thread: "incident"})
	require.NoError(t, err)

	var contents []string

	for record, err := range d.Journal().Tail(within(t), 0) {
		require.NoError(t, err)

		m, err := flow.As[discord.Message](record.Entry)
		require.NoError(t, err)

		contents = append(contents, m.Content)
		if m.Content == "in a thread" {
			break
		}
	}

	require.Equal(t, []string{"here", "by id", "in a thread"}, contents, "a mention alone has no content")
}

func TestBranchWithoutATokenIsNotBuilt(t *testing.T) {
	t.Parallel()

	_, err := discord.New(discord.Config{})
	require.ErrorContains(t, err, "the token of the Discord bot is missing")
}
