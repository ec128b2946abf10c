package chat

import (
	"context"
	"errors"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/internal/cli/watch"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/client/live"
)

// retryWait is the delay before a failed connection is retried.
const retryWait = time.Second

// follow produces an answer as it is written, until its stage has ended. The first result is why the question gets no answer.
func (c *Chat) follow(ctx context.Context, detail tarsy.SessionDetail, asked client.Asked) (reason string, err error) {
	session := live.NewSession(detail)
	out := &output{chat: c, blocks: map[string]*block{}}

	for {
		reason, ended, err := c.read(ctx, session, detail.Version, asked, out)

		_, unreachable := errors.AsType[*client.UnreachableError](err)
		if ended || !unreachable || ctx.Err() != nil {
			return reason, err
		}

		// The client reconnects after an established connection is lost; this one was never established.
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(retryWait):
		}
	}
}

func (c *Chat) read(
	ctx context.Context, session *live.Session, after int64, asked client.Asked, out *output,
) (reason string, ended bool, err error) {
	for update, err := range c.config.Client.FollowOn(ctx, c.config.SessionID, after) {
		if err != nil {
			return "", false, err
		}

		session.Apply(update)

		err = out.take(ctx, update, watch.Pieces(session, asked.StageID))
		if err != nil {
			return "", true, err
		}

		if reason := session.Refusal(asked.MessageID); reason != "" {
			return reason, true, nil
		}

		if session.StageStatus(asked.StageID).Terminal() {
			return "", true, out.finish(ctx, watch.Pieces(session, asked.StageID))
		}
	}

	return "", true, nil
}

// output is what has been produced of one answer.
type output struct {
	chat   *Chat
	blocks map[string]*block // by the keys of their pieces
}

// block is the state of a piece of the answer.
type block struct {
	number   int
	window   *flow.Windower
	added    string // what the window has received
	sent     string // what it has released
	reported bool   // the start of a tool call or a warning was reported
	done     bool
}

func (o *output) take(ctx context.Context, update client.Update, pieces []watch.Piece) error {
	var err error

	switch {
	case update.Lost != nil:
		err = o.chat.Notices.Send(ctx, Notice{Text: "Connection lost; reconnecting…"})
	case update.Back:
		err = o.chat.Notices.Send(ctx, Notice{Text: "Reconnected."})
	}

	for _, piece := range pieces {
		if err == nil {
			err = o.piece(ctx, piece)
		}
	}

	return err
}

// finish produces the rest after the answer has ended.
func (o *output) finish(ctx context.Context, pieces []watch.Piece) error {
	for _, piece := range pieces {
		piece.Complete = true

		err := o.piece(ctx, piece)
		if err != nil {
			return err
		}
	}

	return nil
}

func (o *output) piece(ctx context.Context, piece watch.Piece) error {
	b := o.blocks[piece.Key]
	if b == nil {
		b = &block{number: len(o.blocks) + 1, window: flow.NewWindower(o.chat.config.Window)}
		o.blocks[piece.Key] = b
	}

	if b.done {
		return nil
	}

	b.done = piece.Complete

	switch piece.Kind {
	case watch.PieceText:
		return o.text(ctx, b, piece)
	case watch.PieceTool:
		if piece.Complete || !b.reported {
			b.reported = true

			return o.chat.Tools.Send(ctx, Tool{piece.Tool})
		}
	case watch.PieceWarning:
		return o.chat.Notices.Send(ctx, Notice{Text: piece.Text})
	}

	return nil
}

// text produces the new part of a text. If the text was started over, it continues where the new text differs. If the new text differs from
// what was already produced, it is produced again from its beginning.
func (o *output) text(ctx context.Context, b *block, piece watch.Piece) error {
	if !strings.HasPrefix(piece.Text, b.added) {
		if !piece.Complete && strings.HasPrefix(b.added, piece.Text) {
			return nil // it is being rewritten and has not caught up
		}

		b.window = flow.NewWindower(o.chat.config.Window)
		b.added = ""

		if strings.HasPrefix(piece.Text, b.sent) {
			b.added = b.sent
		} else {
			b.sent = ""

			err := o.chat.Notices.Send(ctx, Notice{Text: "The answer was started over."})
			if err != nil {
				return err
			}
		}
	}

	parts := b.window.Add(piece.Text[len(b.added):])
	b.added = piece.Text

	if piece.Complete {
		parts = append(parts, b.window.Flush())
	}

	for _, part := range parts {
		if part == "" {
			continue
		}

		b.sent += part

		err := o.chat.Texts.Send(ctx, Text{Text: part, Block: b.number})
		if err != nil {
			return err
		}
	}

	return nil
}
