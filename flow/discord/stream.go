package discord

import (
	"context"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow"
)

// stream is the message that the parts of a response build up.
type stream struct {
	messageID string // empty before the first part with content
	text      string // of the message
	shown     string // what Discord has of it
	changed   time.Time
	// lost reports that Discord did not accept a message of the stream. The rest is dropped.
	lost bool
}

// addToStream adds a part. What is not shown for a part, because the last edit was less than a second ago, is shown with one
// that follows.
func (d *Discord) addToStream(ctx context.Context, draft Draft) error {
	s := d.streams[draft.StreamID]
	if s == nil {
		s = &stream{}
		d.streams[draft.StreamID] = s
	}

	if draft.Last {
		delete(d.streams, draft.StreamID)
	}

	s.text += tarsy.CleanText(draft.Text)

	messages := flow.ShatterMaxLength(maxContent)(s.text)
	for i, text := range messages {
		if s.lost {
			return nil
		}

		full := i < len(messages)-1
		s.text = text

		err := d.show(ctx, draft, s, full || draft.Last)
		if err != nil {
			return err
		}

		if full { // it stays as it is, and the next one is sent
			*s = stream{lost: s.lost}
			draft.ReplyTo = ""
		}
	}

	return nil
}

// show makes Discord show the text of the message: now, or if the last change was long enough ago.
func (d *Discord) show(ctx context.Context, draft Draft, s *stream, now bool) error {
	text := strings.TrimSpace(s.text)
	if text == "" || text == s.shown {
		return nil
	}

	if s.messageID == "" {
		id, delivered, err := d.send(ctx, draft, text)
		s.messageID, s.shown, s.changed, s.lost = id, text, d.config.Clock.Now(), !delivered

		return err
	}

	if !now && d.config.Clock.Since(s.changed) < editPause {
		return nil
	}

	failure := d.persist(ctx, func() error { return d.client.Edit(ctx, draft.ChannelID, s.messageID, text) })
	if failure != nil {
		s.lost = true

		return d.giveUp(ctx, draft, text, failure)
	}

	s.shown, s.changed = text, d.config.Clock.Now()

	return d.sent.Append(ctx, Sent{
		ChannelID: draft.ChannelID, MessageID: s.messageID, StreamID: draft.StreamID, Text: text, Edited: true,
	})
}
