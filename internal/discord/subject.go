package discord

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/plaintext"
)

// permanent reports whether a retry is pointless. An operator can fix a token, a permission or a channel, so the announcement
// of a start or an end is retried; a deleted thread of an answer does not come back.
func permanent(a *tarsy.Announcement, err error) bool {
	refused, ok := errors.AsType[*discord.APIError](err)
	fixable := ok && (refused.Status == http.StatusUnauthorized ||
		(a.Subject == tarsy.SubjectEnd || a.Subject == tarsy.SubjectStart) && (refused.Status == http.StatusForbidden || refused.Status == http.StatusNotFound))

	return discord.IsPermanent(err) && !fixable
}

// link returns the URL of a session, or its ID if no URL is configured.
func (s *sender) link(sessionID string) string {
	if url := s.cfg.SessionURL(sessionID); url != "" {
		return "<" + url + ">"
	}

	return "Session `" + sessionID + "`"
}

// sendStart announces the start of a session. It opens no thread: questions belong to the announcement of the end.
func (s *sender) sendStart(ctx context.Context, a *tarsy.Announcement, d *draft) (bool, error) {
	outcome, err := s.cfg.Outbox.SessionOutcome(ctx, a.SessionID)
	if err != nil {
		return false, err
	}

	if outcome == nil {
		return false, notify.ErrDeleted
	}

	text, err := s.templated(ctx, a, nil)
	if err != nil {
		return false, err
	}

	if err := s.post(ctx, a, d, cmp.Or(text, "**Investigation started:** "+subject(*outcome)+"\n"+s.link(a.SessionID))); err != nil {
		return false, err
	}

	return true, nil
}

// sendEnd announces the end of a session and opens a thread for questions under it.
func (s *sender) sendEnd(ctx context.Context, a *tarsy.Announcement, d *draft) (bool, error) {
	outcome, err := s.cfg.Outbox.SessionOutcome(ctx, a.SessionID)
	if err != nil {
		return false, err
	}

	if outcome == nil {
		return false, notify.ErrDeleted
	}

	text, err := s.templated(ctx, a, nil)
	if err != nil {
		return false, err
	}

	text = cmp.Or(text, endText(*outcome, s.link(a.SessionID)))

	if len(a.MessageIDs) == 0 {
		if err := s.post(ctx, a, d, text); err != nil {
			return false, err
		}
	}

	a.ThreadID, err = s.cfg.Client.StartThread(ctx, a.Target, a.MessageIDs[0], threadName(*outcome, a.SessionID))

	switch {
	case err == nil:
	case discord.IsPermanent(err):
		// The announcement itself is posted.
		a.Error = plaintext.Clean(err.Error())
		s.cfg.Logger.Error("could not open a thread under an announcement; questions cannot be asked there", "session_id", a.SessionID, "error", err)
	default:
		return false, err
	}

	if err := s.sendResult(ctx, a, text); err != nil {
		return false, err
	}

	return true, nil
}

// sendResult replies to the mention that submitted the session with its result, unless the announcement is in the same channel.
// The reply is recorded as the second message of the announcement.
func (s *sender) sendResult(ctx context.Context, a *tarsy.Announcement, text string) error {
	receipt, err := s.cfg.Outbox.Receipt(ctx, tarsy.ChannelDiscord, a.SessionID)
	if err != nil || receipt == nil || receipt.Target == a.Target || len(a.MessageIDs) > 1 {
		return err
	}

	if a.ThreadID != "" {
		hint := "\nAsk questions or give `!feedback` in <#" + a.ThreadID + ">."
		text = shorten(text, maxMessage-len(hint)-len("\n…")) + hint
	}

	id, err := s.cfg.Client.Send(ctx, receipt.Target, discord.Post{Text: text, ReplyTo: receipt.ReplyTo, Nonce: nonce(a.ID, 1)})

	switch {
	case err == nil:
		a.MessageIDs = append(a.MessageIDs, id)
	case discord.IsPermanent(err):
		// The announcement itself is posted.
		a.Error = plaintext.Clean(err.Error())
		s.cfg.Logger.Warn("could not reply to a mention with the result of its session", "session_id", a.SessionID, "error", err)
	default:
		return err
	}

	return nil
}

// sendReceipt acknowledges an alert.
func (s *sender) sendReceipt(ctx context.Context, a *tarsy.Announcement, d *draft) (bool, error) {
	outcome, err := s.cfg.Outbox.SessionOutcome(ctx, a.SessionID)
	if err != nil {
		return false, err
	}

	if outcome == nil {
		return false, notify.ErrDeleted
	}

	if err := s.post(ctx, a, d, "Investigating: "+subject(*outcome)+"\n"+s.link(a.SessionID)); err != nil {
		return false, err
	}

	return true, nil
}

// sendAnswer posts the answer as written so far. It is done when the answer is complete.
func (s *sender) sendAnswer(ctx context.Context, a *tarsy.Announcement, d *draft) (bool, error) {
	answer, err := s.cfg.Outbox.Answer(ctx, a.SessionID, *a.StageID)
	if err != nil {
		return false, err
	}

	text, done := answerMarkup().Answer(answer, s.cfg.Clock.Since(a.CreatedAt))

	if !done && s.cfg.Clock.Since(d.Own.typed) >= typingEvery {
		d.Own.typed = s.cfg.Clock.Now()

		// The indicator is cosmetic, so its error is ignored.
		_ = s.cfg.Client.Typing(ctx, a.Target)
	}

	if err := s.post(ctx, a, d, split(text, s.link(a.SessionID))...); err != nil {
		return false, err
	}

	return done, nil
}
