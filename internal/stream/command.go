package stream

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/coder/websocket"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
)

const (
	// replayLimit is how many events a WebSocket subscription replays.
	replayLimit = 200
	// subscriptionLimit is how many channels a connection can follow.
	subscriptionLimit = 100
	// feedBuffer is how many changes are buffered for a connection before it must reload.
	feedBuffer = 256
)

// The codes of error frames that have no counterpart in HTTP.
const (
	codeUnknownAction        tarsy.Code = "unknown_action"
	codeUnknownChannel       tarsy.Code = "unknown_channel"
	codeNotSubscribed        tarsy.Code = "not_subscribed"
	codeTooManySubscriptions tarsy.Code = "too_many_subscriptions"
)

// command is a message from the client.
type command struct {
	Action      string `json:"action"`
	Channel     string `json:"channel"`
	LastEventID *int64 `json:"last_event_id"`
}

// handleCommand runs a command from the client, or responds with an error frame.
func (c *conn) handleCommand(kind websocket.MessageType, data []byte) {
	var cmd command

	err := json.Unmarshal(data, &cmd)
	if err != nil || kind != websocket.MessageText {
		c.refuse(cmd, tarsy.Errorf(tarsy.CodeInvalidJSON, "a message is a text frame with a JSON object"))

		return
	}

	switch cmd.Action {
	case "ping":
		c.send(tarsy.PongFrame{Type: tarsy.TypePong})
	case "subscribe":
		err = c.subscribe(cmd)
	case "unsubscribe":
		err = c.unsubscribe(cmd)
	case "catchup":
		err = c.catchUp(cmd)
	default:
		err = tarsy.Errorf(codeUnknownAction, "the actions are subscribe, unsubscribe, catchup and ping")
	}

	if err != nil {
		c.refuse(cmd, err)
	}
}

// refuse sends an error frame. Internal errors are logged instead of sent.
func (c *conn) refuse(cmd command, err error) {
	reason, ok := errors.AsType[*tarsy.Error](err)
	if !ok {
		c.hub.logger.WarnContext(c.ctx, "websocket command failed",
			"connection_id", c.id, "action", cmd.Action, "channel", cmd.Channel, "error", err)

		reason = tarsy.Errorf(tarsy.CodeInternal, "the command failed in the server; try again")
	}

	c.send(tarsy.ErrorFrame{Type: tarsy.TypeError, Channel: cmd.Channel, Code: reason.Code, Message: reason.Message})
}

func (c *conn) subscribe(cmd command) error {
	ch, err := c.hub.channel(cmd.Channel, c.sight.visible)
	if err != nil {
		return err
	}

	err = c.sight.check(c.ctx, ch.sessionID)
	if err != nil {
		return err
	}

	if _, again := c.subscriptions[cmd.Channel]; !again && len(c.subscriptions) >= subscriptionLimit {
		return tarsy.Errorf(codeTooManySubscriptions, "a connection may follow %d channels", subscriptionLimit)
	}

	confirmed := tarsy.SubscriptionFrame{Type: tarsy.TypeSubscribed, Channel: cmd.Channel}

	if ch.isFeed() {
		err = c.countSubscription(cmd.Channel)
		if err != nil {
			return err
		}

		changes, behind, stop := c.hub.feed.Changes(feedBuffer)
		c.send(confirmed)
		c.start(cmd.Channel, func(ctx context.Context) error {
			defer stop()

			return c.follow(ctx, changes, behind)
		})

		return nil
	}

	return c.replay(cmd, ch, func() { c.send(confirmed) })
}

func (c *conn) unsubscribe(cmd command) error {
	_, err := c.hub.channel(cmd.Channel, c.sight.visible)
	if err != nil {
		return err
	}

	c.drop(cmd.Channel)
	c.send(tarsy.SubscriptionFrame{Type: tarsy.TypeUnsubscribed, Channel: cmd.Channel})

	return nil
}

func (c *conn) catchUp(cmd command) error {
	ch, err := c.hub.channel(cmd.Channel, c.sight.visible)
	if err != nil {
		return err
	}

	if _, ok := c.subscriptions[cmd.Channel]; !ok {
		return tarsy.Errorf(codeNotSubscribed, "subscribe to the channel first")
	}

	if ch.isFeed() { // it has no history
		c.outbox.put(c.ctx, func() error { return c.text(encodeChange(tarsy.SessionChangedPayload{Behind: true})) })

		return nil
	}

	if cmd.LastEventID == nil {
		return tarsy.FieldErrorf(tarsy.CodeMissingField, "last_event_id", "last_event_id is missing")
	}

	return c.replay(cmd, ch, func() {})
}

// drop ends the subscription to the channel, if there is one.
func (c *conn) drop(channel string) {
	if r, ok := c.subscriptions[channel]; ok {
		r.stop()
		delete(c.subscriptions, channel)
		c.hub.holdings.subscriptions.Release(c.owner, 1)
	}
}

// countSubscription counts a subscription to the channel, and ends an earlier one to it. If the subscription is refused, nothing changes.
func (c *conn) countSubscription(channel string) error {
	if _, again := c.subscriptions[channel]; !again {
		return c.hub.holdings.subscribe(c.ctx, c.owner)
	}

	c.subscriptions[channel].stop()
	delete(c.subscriptions, channel)

	return nil
}

// replay sends the channel's journal after the event that the client has, replacing an earlier subscription. If that is not possible,
// nothing changes.
func (c *conn) replay(cmd command, ch channel, confirm func()) error {
	head, err := ch.journal.Head(c.ctx)
	if err != nil {
		return err
	}

	after := journal.Position(0)
	if cmd.LastEventID != nil {
		after = journal.Position(*cmd.LastEventID)
	}

	if after < 0 || after > head {
		return tarsy.FieldErrorf(tarsy.CodeInvalidParameter, "last_event_id",
			"last_event_id is not the number of an event of this channel; the last one is %d", head)
	}

	err = c.countSubscription(cmd.Channel)
	if err != nil {
		return err
	}

	confirm()

	if head-after > replayLimit {
		c.send(overflowFrame(cmd.Channel, head))

		after = head
	}

	c.start(cmd.Channel, c.hub.subscribe(ch, after, c, c.outbox).run)

	return nil
}

var errFeedEnded = errors.New("the feed ended")

// follow sends the feed of all sessions.
func (c *conn) follow(ctx context.Context, changes <-chan Change, behind func() bool) error {
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case change, ok := <-changes:
			if !ok {
				return errFeedEnded
			}

			lost := behind()

			seen, err := c.sight.follows(ctx, change.SessionID)
			if err != nil {
				// The change may be relevant to the reader, so make it reload.
				seen, lost, change = true, true, Change{}
			}

			if !seen && !lost {
				continue
			}

			if !seen {
				change = Change{}
			}

			c.outbox.put(ctx, func() error { return c.sendChange(change, lost) })
		}
	}
}

func (c *conn) sendChange(change Change, behind bool) error {
	if behind {
		err := c.text(encodeChange(tarsy.SessionChangedPayload{Behind: true}))
		if err != nil {
			return err
		}
	}

	if change.SessionID == "" {
		return nil
	}

	return c.text(encodeChange(tarsy.SessionChangedPayload{SessionID: change.SessionID, Version: change.Version}))
}
