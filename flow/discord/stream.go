package discord

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	// maxStreams is the maximum number of open streams. Opening another one finishes the stream that has waited longest for its
	// next part.
	maxStreams = 100
	// streamTimeout is how long a stream waits for its next part before it counts as finished.
	streamTimeout = 10 * time.Minute
)

// stream is a message that grows with the parts of a response.
type stream struct {
	channelID string
	added     time.Time // when the last part was added
	messageID string    // empty before the first part with content
	text      string    // of the message
	shown     string    // the text that Discord shows
	changed   time.Time
	// lost reports that Discord did not accept a message of the stream; the rest of the stream is dropped.
	lost bool
}

// addToStream adds a part. Text that is not shown now, because the last edit was less than a second ago, is shown with a later
// part.
func (d *Discord) addToStream(ctx context.Context, draft Draft) error {
	s := d.streams[draft.StreamID]
	if s == nil {
		err := d.finishAbandoned(ctx)
		if err != nil {
			return err
		}

		s = &stream{}
		d.streams[draft.StreamID] = s
	}

	if draft.Last {
		delete(d.streams, draft.StreamID)
	}

	s.channelID, s.added = draft.ChannelID, d.config.Clock.Now()
	s.text += plaintext.Clean(draft.Text)

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

		if full { // this message is final, and the next one is new
			*s = stream{channelID: s.channelID, added: s.added, lost: s.lost}
			draft.ReplyTo = ""
		}
	}

	return nil
}

// finishAbandoned finishes streams whose last part never comes because their writer was stopped: those that have waited too
// long, and the oldest ones if there are too many. Their remaining text is shown. It is called before a stream is added, so the
// number of streams is bounded.
func (d *Discord) finishAbandoned(ctx context.Context) error {
	ids := slices.SortedFunc(maps.Keys(d.streams), func(a, b string) int {
		return d.streams[a].added.Compare(d.streams[b].added)
	})

	for _, id := range ids {
		s := d.streams[id]
		if len(d.streams) < maxStreams && d.config.Clock.Since(s.added) < streamTimeout {
			return nil
		}

		delete(d.streams, id)

		if s.lost {
			continue
		}

		err := d.show(ctx, Draft{ChannelID: s.channelID, StreamID: id}, s, true)
		if err != nil {
			return err
		}
	}

	return nil
}

// show sends the message, or edits it if now is set or the last change was long enough ago.
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
