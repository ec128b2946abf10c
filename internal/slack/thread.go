package slack

import (
	"context"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/postgres/outbox"
)

const (
	// maxThreads is how many first messages are updated at a time, and updateEvery the minimum interval between updates of one.
	maxThreads  = 200
	updateEvery = 5 * time.Second
)

// updateThreads starts to update the first messages of threads whose alerts have changed: a newer session, a repetition, a
// resolution.
func (s *sender) updateThreads(ctx, limited context.Context) error {
	// Taken before the states are read, so that a concurrent change is shown one interval later.
	now := s.cfg.Clock.Now()

	changed, err := s.cfg.Outbox.ChangedSlackThreads(limited, threadAge, maxThreads)
	if err != nil {
		return err
	}

	for _, state := range changed {
		ready := func(m *memory) bool { return !now.Before(m.again) && now.Sub(m.updated) >= updateEvery }

		// The announcement of the message may be editing it too.
		s.loop.Go(state.AnnouncementID, ready, func(d *draft) (over bool) {
			s.updateThread(ctx, &d.Own, state, now)

			return false
		})
	}

	s.loop.Forget(func(m *memory) bool { return m.forgettable(now) })

	return nil
}

// forgettable reports whether a draft only paces the updates of a thread, and no longer delays one.
func (m *memory) forgettable(now time.Time) bool {
	return !m.updated.IsZero() && now.Sub(m.updated) > skew && now.After(m.again)
}

// updateThread updates the first message of a thread with a state that was read after a time, and records the state as shown.
func (s *sender) updateThread(ctx context.Context, m *memory, state outbox.SlackThreadState, read time.Time) {
	ctx, cancel := context.WithTimeout(ctx, notify.SendLimit)
	defer cancel()

	err := s.showState(ctx, state)
	if gone(err) {
		err = s.cfg.Outbox.EndSlackThread(ctx, state.ID)
	}

	if err == nil {
		err = s.cfg.Outbox.ShowSlackThread(ctx, state.ID, state.State)
	}

	if err == nil || ctx.Err() != nil {
		m.updated, m.failures = read, 0

		return
	}

	wait, limited := retryAfter(err)
	if !limited {
		wait = notify.Pause(m.failures)
		m.failures++
	}

	m.again = s.cfg.Clock.Now().Add(wait)
	s.cfg.Logger.Warn("the first message of a Slack thread could not be updated; trying again", "channel_id", state.Channel, "ts", state.TS, "error", err)
}

func (s *sender) showState(ctx context.Context, state outbox.SlackThreadState) error {
	owner, err := s.cfg.Outbox.Announcement(ctx, state.AnnouncementID)
	if err != nil || owner == nil {
		return err
	}

	line, err := s.stateOf(ctx, state, *owner)
	if err != nil || line == "" && state.Shown == "" {
		return err
	}

	session, err := s.session(ctx, owner.SessionID)
	if err != nil {
		return ignoreDeleted(err)
	}

	shown, err := s.content(ctx, *owner, *session)
	if err != nil {
		return ignoreDeleted(err)
	}

	if line != "" {
		shown.blocks = append(shown.blocks, small(line))
	}

	return s.cfg.Client.update(ctx, state.Channel, state.TS, shown)
}

// ignoreDeleted leaves a message unchanged if its subject was deleted.
func ignoreDeleted(err error) error {
	if tarsy.CodeOf(err) == tarsy.CodeApprovalNotFound || err == notify.ErrDeleted { //nolint:errorlint // it is not wrapped
		return nil
	}

	return err
}

// stateOf returns the state of the alert for the first message of a thread.
func (s *sender) stateOf(ctx context.Context, state outbox.SlackThreadState, owner tarsy.Announcement) (string, error) {
	outcome, err := s.cfg.Outbox.SessionOutcome(ctx, state.SessionID)
	if err != nil || outcome == nil {
		return "", err
	}

	words := "Investigation " + strings.ReplaceAll(string(outcome.Status), "_", " ")
	if outcome.Verdict != nil {
		words = outcome.Verdict.Outcome.Words()
	}

	return s.stateLine(state, owner, words), nil
}

// withState adds the state of the alert to the message of an announcement if it is the first of a thread.
func (s *sender) withState(ctx context.Context, a tarsy.Announcement, shown content) (content, error) {
	state, err := s.cfg.Outbox.SlackThreadOf(ctx, a.ID)
	if err != nil || state == nil || state.TS != a.MessageIDs[0] {
		return shown, err
	}

	line, err := s.stateOf(ctx, *state, a)
	if err != nil || line == "" {
		return shown, err
	}

	shown.blocks = append(shown.blocks, small(line))

	return shown, nil
}
