package slack

import (
	"context"
	"encoding/json"
	"io"
	"log"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"
)

// listen keeps the Socket Mode connection open. The library reconnects on its own; listen pauses only when receive returns.
func (b *Bot) listen(ctx context.Context) {
	const pause = 15 * time.Second

	for ctx.Err() == nil {
		err := b.receive(ctx)
		if ctx.Err() != nil {
			return
		}

		b.online.Note(ctx, err)

		select {
		case <-ctx.Done():
		case <-b.cfg.Clock.After(pause):
		}
	}
}

// receive handles the events of successive connections until Slack rejects one.
func (b *Bot) receive(ctx context.Context) error {
	self, _, err := b.cfg.Client.Self(ctx)
	if err != nil {
		return err
	}

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	socket := socketmode.New(b.cfg.Client.api, socketmode.OptionLog(log.New(io.Discard, "", 0)), socketmode.OptionReadLimit(maxEnvelope))
	ended := make(chan error, 1)

	go func() { ended <- socket.RunContext(ctx) }()

	for {
		select {
		case err := <-ended:
			return err
		case e := <-socket.Events:
			b.take(ctx, socket, self, e)
		}
	}
}

// maxEnvelope limits the size of one message from Slack.
const maxEnvelope = 4 << 20

// take handles one event. An envelope is acknowledged after its effect is durable; otherwise Slack delivers it again.
func (b *Bot) take(ctx context.Context, socket *socketmode.Client, self string, e socketmode.Event) {
	var reply any

	switch e.Type {
	case socketmode.EventTypeHello:
		b.online.Note(ctx, nil)

		return
	case socketmode.EventTypeConnectionError:
		if failed, ok := e.Data.(*slack.ConnectionErrorEvent); ok && ctx.Err() == nil {
			b.online.Note(ctx, failed.ErrorObj)
		}

		return
	case socketmode.EventTypeEventsAPI:
		if event, ok := e.Data.(slackevents.EventsAPIEvent); ok && !b.handleEvent(ctx, self, event.InnerEvent.Data) {
			return
		}
	case socketmode.EventTypeInteractive:
		if interaction, ok := e.Data.(slack.InteractionCallback); ok {
			reply = b.handleInteraction(ctx, interaction)
		}
	case socketmode.EventTypeErrorBadMessage:
		e.Request = unread(e)
	default: // internal to the library
	}

	if e.Request == nil || e.Request.EnvelopeID == "" || ctx.Err() != nil {
		return
	}

	if err := socket.AckCtx(ctx, e.Request.EnvelopeID, reply); err != nil && ctx.Err() == nil {
		b.cfg.Logger.Warn("could not acknowledge what Slack sent; it is sent again", "error", err)
	}
}

// unread returns the request of an envelope that the library could not decode. It is acknowledged, because a redelivery would
// fail as well.
func unread(e socketmode.Event) *socketmode.Request {
	bad, ok := e.Data.(*socketmode.ErrorBadMessage)
	if !ok {
		return nil
	}

	var request socketmode.Request
	if json.Unmarshal(bad.Message, &request) != nil {
		return nil
	}

	return &request
}
