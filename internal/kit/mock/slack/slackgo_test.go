package slack_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/kit/mock/slack"
	"tarsy.dev/tarsy/internal/kit/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newServer returns a Slack with the channel general and the people alice and bob, and a client for it.
func newServer(t *testing.T) (*slack.Server, *api.Client) {
	t.Helper()

	server, err := slack.New(slack.Config{Setup: slack.Setup{
		Token: "xoxb-1", AppToken: "xapp-1", Users: []slack.User{{Name: "alice"}, {Name: "bob"}}, AckWithin: 300 * time.Millisecond,
	}})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(server.Stop)

	requests := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

	return server, api.New("xoxb-1", api.OptionAPIURL(server.API()+"/"), api.OptionAppLevelToken("xapp-1"), api.OptionHTTPClient(requests))
}

// connect runs a Socket Mode client and returns the events that it receives, without its own.
func connect(t *testing.T, client *api.Client) (*socketmode.Client, <-chan socketmode.Event) {
	t.Helper()

	socket, received := socketmode.New(client), make(chan socketmode.Event, 100)
	ctx, cancel := context.WithCancel(t.Context())
	ended, forwarded := make(chan struct{}), make(chan struct{})

	go func() {
		defer close(ended)

		_ = socket.RunContext(ctx)
	}()

	go func() {
		defer close(forwarded)

		for {
			select {
			case <-ctx.Done():
				return
			case e := <-socket.Events:
				if e.Type == socketmode.EventTypeEventsAPI || e.Type == socketmode.EventTypeInteractive {
					received <- e
				}
			}
		}
	}()

	t.Cleanup(func() {
		cancel()
		<-ended
		<-forwarded
	})

	return socket, received
}

func next(t *testing.T, received <-chan socketmode.Event) socketmode.Event {
	t.Helper()

	return wait.For(t, received, "an event")
}

func TestSlackGoPostsUpdatesAndFindsMessages(t *testing.T) {
	t.Parallel()

	server, client := newServer(t)

	self, err := client.AuthTestContext(t.Context())
	require.NoError(t, err)
	require.Equal(t, "tarsy", self.User)

	metadata := api.SlackMetadata{EventType: "test", EventPayload: map[string]any{"id": "1"}}
	channel, ts, err := client.PostMessageContext(t.Context(), "general", api.MsgOptionText("hello <!here>", false), api.MsgOptionMetadata(metadata))
	require.NoError(t, err)

	_, reply, err := client.PostMessageContext(t.Context(), channel, api.MsgOptionText("a reply", false), api.MsgOptionTS(ts))
	require.NoError(t, err)
	_, updated, _, err := client.UpdateMessageContext(t.Context(), channel, reply, api.MsgOptionText("a changed reply", false))
	require.NoError(t, err)
	require.Equal(t, reply, updated)

	history, err := client.GetConversationHistoryContext(t.Context(), &api.GetConversationHistoryParameters{ChannelID: channel, IncludeAllMetadata: true})
	require.NoError(t, err)
	require.Len(t, history.Messages, 1)
	require.Equal(t, metadata, history.Messages[0].Metadata)

	replies, more, cursor, err := client.GetConversationRepliesContext(t.Context(), &api.GetConversationRepliesParameters{ChannelID: channel, Timestamp: ts, Limit: 1})
	require.NoError(t, err)
	require.True(t, more)
	require.Len(t, replies, 1)

	replies, _, _, err = client.GetConversationRepliesContext(t.Context(), &api.GetConversationRepliesParameters{ChannelID: channel, Timestamp: ts, Limit: 1, Cursor: cursor})
	require.NoError(t, err)
	require.Equal(t, "a changed reply", replies[0].Text)

	user, err := client.GetUserInfoContext(t.Context(), "U0000000001")
	require.NoError(t, err)
	require.Equal(t, "alice", user.Name)

	_, err = client.PostEphemeralContext(t.Context(), channel, user.ID, api.MsgOptionText("only for you", false))
	require.NoError(t, err)
	require.Equal(t, user.ID, server.Messages("")[2].Ephemeral)
	require.Equal(t, []string{"<!here>"}, server.Messages("")[0].Mentions)
	require.Len(t, server.Sent("general"), 2)
}

func TestRequestsAreRefusedAsSlackDoes(t *testing.T) {
	t.Parallel()

	_, client := newServer(t)
	post := func(channel string, options ...api.MsgOption) error {
		_, _, err := client.PostMessageContext(t.Context(), channel, options...)

		return err
	}
	section := func(n int) api.Block {
		return api.NewSectionBlock(api.NewTextBlockObject(api.MarkdownType, strings.Repeat("x", n), false, false), nil, nil)
	}

	require.NoError(t, post("general", api.MsgOptionBlocks(section(3000))))
	require.EqualError(t, post("general", api.MsgOptionBlocks(section(3001))), "invalid_blocks")
	require.EqualError(t, post("general"), "no_text")
	require.EqualError(t, post("nowhere", api.MsgOptionText("x", false)), "channel_not_found")
	require.EqualError(t, post("general", api.MsgOptionText("x", false), api.MsgOptionTS("1.2")), "thread_not_found")

	blocks := make([]api.Block, 51)
	for i := range blocks {
		blocks[i] = section(1)
	}

	require.EqualError(t, post("general", api.MsgOptionBlocks(blocks...)), "invalid_blocks")
	_, err := client.OpenViewContext(t.Context(), "unknown", api.ModalViewRequest{})
	require.EqualError(t, err, "invalid_trigger_id")
}

func TestFaultsLimitBreakAndHideAnswers(t *testing.T) {
	t.Parallel()

	server, client := newServer(t)
	post := func() error {
		_, _, err := client.PostMessageContext(t.Context(), "general", api.MsgOptionText("hello", false))

		return err
	}

	server.Break(slack.Fault{Method: "chat.postMessage", Status: http.StatusTooManyRequests, RetryAfter: 7 * time.Second})
	server.Break(slack.Fault{Status: http.StatusServiceUnavailable})
	server.Break(slack.Fault{Method: "chat.postMessage", Unknown: true})
	server.Break(slack.Fault{Method: "users.info", Status: http.StatusTooManyRequests})

	var limited *api.RateLimitedError

	require.ErrorAs(t, post(), &limited)
	require.Equal(t, 7*time.Second, limited.RetryAfter)
	require.ErrorAs(t, post(), &api.StatusCodeError{})
	require.Empty(t, server.Sent(""))
	require.ErrorContains(t, post(), "EOF")
	require.Len(t, server.Sent(""), 1, "it had its effect")
	require.NoError(t, post())
	require.Equal(t, []string{"Slack: a fault for 1 requests to users.info"}, server.Unused())

	journal := server.Journal("chat.postMessage")
	require.Len(t, journal, 4)
	require.Equal(t, []int{429, 503, 0, 200}, []int{journal[0].Status, journal[1].Status, journal[2].Status, journal[3].Status})
	require.NotContains(t, journal[0].Arguments, "token")
}

// An envelope that is not acknowledged is sent again: after a timeout, and over the next connection.
func TestEnvelopesAreDeliveredUntilTheyAreAcknowledged(t *testing.T) {
	t.Parallel()

	server, client := newServer(t)
	socket, received := connect(t, client)
	require.NoError(t, server.WaitReady(t.Context()))

	said, err := server.Say("general", "alice", "<@tarsy> hello & bye", "")
	require.NoError(t, err)

	first := next(t, received)
	require.Equal(t, 0, first.Request.RetryAttempt)

	for first.Request.RetryAttempt == 0 {
		first = next(t, received)
	}

	require.Equal(t, "timeout", first.Request.RetryReason)
	server.Disconnect(false)

	require.NoError(t, server.Wait(t.Context(), "the next connection", func() bool { return server.Opened() == 2 && server.Connected() == 1 }))

	// Envelopes sent over the broken connection are acknowledged too, whether or not that has an effect.
	mentioned, acked := false, func() bool {
		return !slices.ContainsFunc(server.Envelopes(), func(e slack.Envelope) bool { return !e.Acked })
	}

	wait.Until(t, "every envelope to be acknowledged", func() bool {
		select {
		case e := <-received:
			require.NoError(t, socket.Ack(*e.Request))

			event, ok := e.Data.(slackevents.EventsAPIEvent)
			require.True(t, ok)

			if m, ok := event.InnerEvent.Data.(*slackevents.AppMentionEvent); ok {
				mentioned = m.TimeStamp == said.TS && m.User == "U0000000001"
			}
		default:
		}

		return acked()
	})

	require.True(t, mentioned)
	require.Len(t, server.Envelopes(), 2)
	require.Equal(t, 2, server.Opened())
}

func TestPeopleClickButtonsAndSubmitModals(t *testing.T) {
	t.Parallel()

	server, client := newServer(t)
	socket, received := connect(t, client)
	require.NoError(t, server.WaitReady(t.Context()))

	plain := func(text string) *api.TextBlockObject {
		return api.NewTextBlockObject(api.PlainTextType, text, false, false)
	}
	channel, ts, err := client.PostMessageContext(t.Context(), "general",
		api.MsgOptionBlocks(api.NewActionBlock("", api.NewButtonBlockElement("go", "42", plain("Go")))), api.MsgOptionText("a button", false))
	require.NoError(t, err)

	_, err = server.Click(channel, "bob", ts, "stop")
	require.ErrorContains(t, err, "no button stop")

	id, err := server.Click(channel, "bob", ts, "go")
	require.NoError(t, err)

	clicked := next(t, received)
	callback, ok := clicked.Data.(api.InteractionCallback)
	require.True(t, ok)
	require.Equal(t, "42", callback.ActionCallback.BlockActions[0].Value)
	require.Equal(t, "U0000000002", callback.User.ID)

	view := api.ModalViewRequest{
		Type: api.VTModal, Title: plain("Why?"), CallbackID: "why", PrivateMetadata: "42", Submit: plain("Go"),
		Blocks: api.Blocks{BlockSet: []api.Block{api.NewInputBlock("reason", plain("Reason"), nil, api.NewPlainTextInputBlockElement(nil, "text"))}},
	}
	_, err = client.OpenViewContext(t.Context(), callback.TriggerID, view)
	require.NoError(t, err)
	_, err = client.OpenViewContext(t.Context(), callback.TriggerID, view)
	require.EqualError(t, err, "exchanged_trigger_id")
	require.NoError(t, socket.Ack(*clicked.Request))
	_, err = server.WaitAck(t.Context(), id)
	require.NoError(t, err)

	submit := func(reply any) slack.Envelope {
		id, err := server.Submit("bob", map[string]string{"reason": "because"})
		require.NoError(t, err)

		e := next(t, received)
		for e.Request.EnvelopeID != id {
			e = next(t, received)
		}

		callback, ok := e.Data.(api.InteractionCallback)
		require.True(t, ok)
		require.Equal(t, "because", callback.View.State.Values["reason"]["text"].Value)
		require.Equal(t, "42", callback.View.PrivateMetadata)
		require.NoError(t, socket.Ack(*e.Request, reply))

		done, err := server.WaitAck(t.Context(), id)
		require.NoError(t, err)

		return done
	}

	refused := submit(api.NewErrorsViewSubmissionResponse(map[string]string{"reason": "no"}))
	require.True(t, json.Valid(refused.Reply))
	require.NoError(t, server.Wait(t.Context(), "the error", func() bool { return server.Modals()[0].Errors["reason"] == "no" }))
	require.True(t, server.Modals()[0].Open)
	submit(nil)
	require.NoError(t, server.Wait(t.Context(), "the end", func() bool { return !server.Modals()[0].Open }))
}
