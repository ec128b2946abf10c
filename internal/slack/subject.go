package slack

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/slack-go/slack"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maxParts is the maximum number of messages of an answer.
const maxParts = 10

// session returns the session of an announcement.
func (s *sender) session(ctx context.Context, id string) (*tarsy.Session, error) {
	session, err := s.cfg.Outbox.Session(ctx, id)
	if tarsy.CodeOf(err) == tarsy.CodeSessionNotFound {
		return nil, notify.ErrDeleted
	}

	return session, err
}

// message returns the content for the session of an announcement.
func (s *sender) message(ctx context.Context, a tarsy.Announcement, session tarsy.Session) (message.Message, error) {
	var (
		verdict *tarsy.Verdict
		err     error
	)

	if a.Subject == tarsy.SubjectEnd {
		if verdict, err = s.cfg.Outbox.Verdict(ctx, session.ID); err != nil {
			return message.Message{}, err
		}
	}

	return message.New(a, session, verdict, s.cfg.SessionURL(session.ID)), nil
}

// sendSession announces the start or the end of a session in the thread of its alert, in that order.
func (s *sender) sendSession(ctx context.Context, a *tarsy.Announcement, d *draft) (bool, error) {
	if a.Subject == tarsy.SubjectEnd && len(a.MessageIDs) == 0 {
		if pending, err := s.cfg.Outbox.StartPending(ctx, tarsy.ChannelSlack, a.SessionID); err != nil || pending {
			return false, err
		}
	}

	session, err := s.session(ctx, a.SessionID)
	if err != nil {
		return false, err
	}

	shown, err := s.content(ctx, *a, *session)
	if err != nil {
		return false, err
	}

	posted, err := s.postInThread(ctx, a, d, session.Fingerprint, shown, "")
	if err != nil || !posted || a.Subject == tarsy.SubjectStart {
		return posted && err == nil, err
	}

	err = s.sendResult(ctx, a, d, shown)

	return err == nil, err
}

// sendResult replies to the mention that submitted the session with its result, unless the announcement is in the same channel.
// The reply is recorded as the second message of the announcement.
func (s *sender) sendResult(ctx context.Context, a *tarsy.Announcement, d *draft, shown content) error {
	receipt, err := s.cfg.Outbox.Receipt(ctx, tarsy.ChannelSlack, a.SessionID)
	if err != nil || receipt == nil || len(a.MessageIDs) > 1 {
		return err
	}

	channelID, thread, _ := strings.Cut(receipt.Target, "/")
	if channelID == a.Target {
		return nil
	}

	own := a.ThreadID
	w := &writer{s: s, a: a, d: d, to: place{channel: channelID, thread: thread}, messages: []content{shown, shown}}
	ts, _, err := w.Create(ctx, 1)
	a.ThreadID = own

	switch {
	case err == nil:
		a.MessageIDs = append(a.MessageIDs, ts)
	case IsRefused(err):
		// The announcement itself is posted.
		a.Error = plaintext.Clean(err.Error())
		s.cfg.Logger.Warn("could not reply to a mention with the result of its session", "session_id", a.SessionID, "error", err)
	default:
		return err
	}

	return nil
}

// sendReceipt acknowledges an alert in the thread of its message.
func (s *sender) sendReceipt(ctx context.Context, a *tarsy.Announcement, d *draft) (bool, error) {
	session, err := s.session(ctx, a.SessionID)
	if err != nil {
		return false, err
	}

	channelID, thread, _ := strings.Cut(a.Target, "/")
	title := tarsy.AlertFacts{Title: session.Title}.TitleOr(session.AlertType)
	err = s.post(ctx, a, d, place{channel: channelID, thread: thread}, text("Investigating: "+literal(plaintext.Cut(title, maxNotice))+"\n"+s.link(session.ID)))

	return err == nil, err
}

// content returns the content of the message of a session's announcement.
func (s *sender) content(ctx context.Context, a tarsy.Announcement, session tarsy.Session) (content, error) {
	if a.Subject != tarsy.SubjectApproval {
		m, err := s.message(ctx, a, session)
		if err != nil {
			return content{}, err
		}

		return s.sessionContent(m)
	}

	call, err := s.cfg.Desk.Approval(ctx, *a.ApprovalID)
	if err != nil {
		return content{}, err
	}

	made, err := decisionOf(ctx, s.cfg, call)
	if err != nil {
		return content{}, err
	}

	return s.approvalContent(call, message.NewApproval(a, session, call, s.cfg.SessionURL(session.ID)), made)
}

// postInThread posts a message as the first of a thread or as a reply, and edits it when its content changes. It returns false
// while another announcement is starting the thread. A request for a decision that was already made is no longer posted.
func (s *sender) postInThread(ctx context.Context, a *tarsy.Announcement, d *draft, fingerprint string, shown content, decided tarsy.ApprovalStatus) (bool, error) {
	w := &writer{s: s, a: a, d: d, to: place{channel: a.Target}, messages: []content{shown}, decided: decided}

	if len(a.MessageIDs) > 0 {
		if err := s.beginThread(ctx, a); err != nil {
			return false, err
		}

		return true, s.loop.Post(ctx, a, d, keys(w.messages), w)
	}

	thread, err := s.cfg.Outbox.JoinSlackThread(ctx, *a, fingerprint, threadAge)
	if err != nil || thread.TS == "" && thread.AnnouncementID != a.ID {
		return false, err
	}

	// A waiting call is also shown in the channel: a reply in the thread alone might notify no one.
	w.to.thread, w.to.broadcast = thread.TS, a.Subject == tarsy.SubjectApproval

	err = s.loop.Post(ctx, a, d, keys(w.messages), w)
	if err != nil && thread.TS != "" && gone(err) {
		return false, s.cfg.Outbox.EndSlackThread(ctx, thread.ID) // the next attempt starts another thread
	}

	if err != nil {
		return false, err
	}

	err = s.beginThread(ctx, a)

	return err == nil, err
}

// beginThread records the message of an announcement as the first of a thread, if it is.
func (s *sender) beginThread(ctx context.Context, a *tarsy.Announcement) error {
	if a.ThreadID != a.MessageIDs[0] {
		return nil
	}

	return s.cfg.Outbox.SetSlackThread(ctx, a.ID, a.ThreadID)
}

// sendApproval announces a waiting call, and updates the message until the call is decided, here or elsewhere.
func (s *sender) sendApproval(ctx context.Context, a *tarsy.Announcement, d *draft) (bool, error) {
	call, err := s.cfg.Desk.Approval(ctx, *a.ApprovalID)
	if tarsy.CodeOf(err) == tarsy.CodeApprovalNotFound {
		return false, notify.ErrDeleted
	}

	if err != nil {
		return false, err
	}

	session, err := s.session(ctx, a.SessionID)
	if err != nil {
		return false, err
	}

	made, err := decisionOf(ctx, s.cfg, call)
	if err != nil {
		return false, err
	}

	shown, err := s.approvalContent(call, message.NewApproval(*a, *session, call, s.cfg.SessionURL(session.ID)), made)
	if err != nil {
		return false, err
	}

	posted, err := s.postInThread(ctx, a, d, session.Fingerprint, shown, made.status)

	return posted && made.status != tarsy.ApprovalWaiting, err
}

// sendAnswer posts the answer as written so far. It is done when the answer is complete.
func (s *sender) sendAnswer(ctx context.Context, a *tarsy.Announcement, d *draft) (bool, error) {
	answer, err := s.cfg.Outbox.Answer(ctx, a.SessionID, *a.StageID)
	if err != nil {
		return false, err
	}

	shown, done := answerMarkup().Answer(answer, s.cfg.Clock.Since(a.CreatedAt))
	channelID, thread, _ := strings.Cut(a.Target, "/")

	if err := s.paceAnswer(ctx, d); err != nil {
		return false, err
	}

	// Before there is an answer, people see that their question was received.
	err = s.post(ctx, a, d, place{channel: channelID, thread: thread}, s.split(cmp.Or(shown, "_Working on it…_"), a.SessionID)...)
	d.Own.answered = s.cfg.Clock.Now()

	return done && err == nil, err
}

// paceAnswer waits until an answer can be updated again: at most once per second, however long updates take.
func (s *sender) paceAnswer(ctx context.Context, d *draft) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.cfg.Clock.After(s.cfg.Clock.Until(d.Own.answered.Add(notify.SendEvery))):
		return nil
	}
}

// answerMarkup formats the parts of an answer.
func answerMarkup() notify.Markup {
	return notify.Markup{
		Call:   func(tool string) string { return "Tool call: " + literal(plaintext.Cut(tool, maxFact)) },
		Text:   mrkdwn,
		Failed: func(reason string) string { return "*The answer failed:* " + literal(reason) },
	}
}

// split divides an answer into messages. Beyond maxParts, the rest is replaced by a link.
func (s *sender) split(shown, sessionID string) []content {
	var messages []content

	for group := range slices.Chunk(divide(shown), maxSections) {
		if len(messages) == maxParts-1 {
			return append(messages, text("The answer is longer than what is posted here. "+s.link(sessionID)))
		}

		m := content{text: fit(oneLine(group[0]), maxNotice)}
		for _, part := range group {
			m.blocks = append(m.blocks, section(part))
		}

		messages = append(messages, m)
	}

	return messages
}

// text returns a message with one short text.
func text(shown string) content { return content{text: shown, blocks: []slack.Block{section(shown)}} }
