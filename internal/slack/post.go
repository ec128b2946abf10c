package slack

import (
	"context"
	"encoding/json"

	"tarsy.dev/tarsy"
)

// post brings the messages of an announcement in line with what they should show: new ones are posted and recorded at once, changed ones
// are updated.
func (s *sender) post(ctx context.Context, a *tarsy.Announcement, d *draft, to place, messages []content) error {
	for i, m := range messages {
		if i < len(a.MessageIDs) {
			if err := s.edit(ctx, a, d, to.channel, i, m); err != nil {
				return err
			}

			continue
		}

		ts, found, err := s.create(ctx, a, d, to, i, m)
		if err != nil {
			return err
		}

		a.MessageIDs = append(a.MessageIDs, ts)

		if a.ThreadID = to.thread; to.thread == "" {
			a.ThreadID = a.MessageIDs[0]
		}

		s.record(*a)

		if !found {
			d.show(i, m)
		} else if err := s.edit(ctx, a, d, to.channel, i, m); err != nil {
			return err
		}
	}

	// An answer that another server began again may have become shorter.
	for i := len(messages); i < len(a.MessageIDs); i++ {
		if err := s.edit(ctx, a, d, to.channel, i, text("_(replaced)_")); err != nil {
			return err
		}
	}

	return nil
}

// create posts a message, unless an earlier attempt did: Slack does not recognize a message that is sent twice, so after an attempt of which the
// result is unknown, or that another server may have made, the message is looked for.
func (s *sender) create(ctx context.Context, a *tarsy.Announcement, d *draft, to place, part int, m content) (ts string, found bool, err error) {
	if d.unknown || a.CreatedAt.Before(s.began.Add(skew)) {
		ts, err := s.cfg.Client.find(ctx, to, a.ID, part, a.CreatedAt.Add(-skew))
		if err != nil || ts != "" {
			return ts, true, err
		}
	}

	ts, err = s.cfg.Client.post(ctx, to, m, a.ID, part)
	d.unknown = err != nil && (d.unknown || unknown(err))

	return ts, false, err
}

func (s *sender) edit(ctx context.Context, a *tarsy.Announcement, d *draft, channelID string, i int, m content) error {
	if i < len(d.shown) && d.shown[i] == m.key() {
		return nil
	}

	if err := s.cfg.Client.update(ctx, channelID, a.MessageIDs[i], m); err != nil {
		return err
	}

	d.show(i, m)

	return nil
}

// show notes what a message shows.
func (d *draft) show(i int, m content) {
	for len(d.shown) <= i {
		d.shown = append(d.shown, "")
	}

	d.shown[i] = m.key()
}

// key identifies what a message shows.
func (m content) key() string {
	blocks, err := json.Marshal(m.blocks)
	if err != nil {
		return m.text
	}

	return m.text + "\n" + string(blocks)
}
