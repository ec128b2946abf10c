package slack

import (
	"cmp"
	"context"
	"encoding/json"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify"
)

// post synchronizes the messages of an announcement with their intended content.
func (s *sender) post(ctx context.Context, a *tarsy.Announcement, d *draft, to place, messages ...content) error {
	return s.loop.Post(ctx, a, d, keys(messages), &writer{s: s, a: a, d: d, to: to, messages: messages})
}

// writer implements notify.Writer for one announcement.
type writer struct {
	s        *sender
	a        *tarsy.Announcement
	d        *draft
	to       place
	messages []content
	// decided is the decision about the announced call. Once there is one, the message is no longer posted, only edited;
	// waiting or empty means none.
	decided tarsy.ApprovalStatus
}

// Create posts a message, unless an earlier attempt did. Slack does not detect duplicates, so after an attempt with an unknown
// result, or one that another server may have made, it searches for the message.
func (w *writer) Create(ctx context.Context, number int) (ts string, found bool, err error) {
	if w.d.Own.unknown || w.a.CreatedAt.Before(w.s.loop.Began().Add(skew)) {
		ts, err = w.s.cfg.Client.find(ctx, w.to, w.a.ID, number, w.a.CreatedAt.Add(-skew))
		if err != nil {
			return "", false, err
		}
	}

	if found = ts != ""; !found {
		if w.decided != "" && w.decided != tarsy.ApprovalWaiting {
			return "", false, notify.SkippedForStatus(w.decided)
		}

		ts, err = w.s.cfg.Client.post(ctx, w.to, w.messages[number], w.a.ID, number)
		w.d.Own.unknown = err != nil && (w.d.Own.unknown || unknown(err))

		if err != nil {
			return "", false, err
		}
	}

	if w.a.ThreadID = w.to.thread; w.to.thread == "" {
		w.a.ThreadID = cmp.Or(first(w.a.MessageIDs), ts)
	}

	return ts, found, nil
}

// Edit also shows the state of the alert if the message is the first of a thread.
func (w *writer) Edit(ctx context.Context, number int, ts string) error {
	if number >= len(w.messages) {
		return w.s.cfg.Client.update(ctx, w.to.channel, ts, text("_(replaced)_"))
	}

	shown := w.messages[number]

	if w.a.Subject == tarsy.SubjectAnswer {
		return w.s.cfg.Client.update(ctx, w.to.channel, ts, shown)
	}

	whole, err := w.s.withState(ctx, *w.a, shown)
	if err != nil {
		return err
	}

	// The message may have been deleted.
	if err := w.s.cfg.Client.update(ctx, w.to.channel, ts, whole); err != nil && !gone(err) {
		return err
	}

	return nil
}

func first(ids []string) string {
	if len(ids) == 0 {
		return ""
	}

	return ids[0]
}

// keys returns the keys of messages.
func keys(messages []content) []string {
	all := make([]string, len(messages))
	for i, m := range messages {
		all[i] = m.key()
	}

	return all
}

// key identifies the content of a message.
func (m content) key() string {
	blocks, err := json.Marshal(m.blocks)
	if err != nil {
		return m.text
	}

	return m.text + "\n" + string(blocks)
}
