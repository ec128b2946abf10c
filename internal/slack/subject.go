package slack

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/writeback/message"
)

const (
	// lostAfter is when a question that is neither waiting nor being answered counts as lost: it was not stored before its server was killed.
	lostAfter = 30 * time.Second
	// maxParts is how many messages an answer has before it is cut.
	maxParts = 10
)

// session returns the session of an announcement.
func (s *sender) session(ctx context.Context, id string) (*tarsy.Session, error) {
	session, err := s.cfg.DB.Session(ctx, id)
	if tarsy.CodeOf(err) == tarsy.CodeSessionNotFound {
		return nil, errDeleted
	}

	return session, err
}

// message is what there is to tell about the session of an announcement.
func (s *sender) message(ctx context.Context, a tarsy.Announcement, session tarsy.Session) (message.Message, error) {
	var (
		verdict *tarsy.Verdict
		err     error
	)

	if a.Subject == tarsy.SubjectEnd {
		if verdict, err = s.cfg.DB.Verdict(ctx, session.ID); err != nil {
			return message.Message{}, err
		}
	}

	return message.New(a, session, verdict, s.cfg.SessionURL(session.ID)), nil
}

// sendSession announces the beginning or the end of a session in the thread of its alert, one after the other.
func (s *sender) sendSession(ctx context.Context, a *tarsy.Announcement, d *draft) (bool, error) {
	if a.Subject == tarsy.SubjectEnd && len(a.MessageIDs) == 0 {
		if pending, err := s.cfg.DB.StartPending(ctx, tarsy.ChannelSlack, a.SessionID); err != nil || pending {
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

	return s.postInThread(ctx, a, d, session.Fingerprint, shown)
}

// content is what the message of an announcement of a session shows.
func (s *sender) content(ctx context.Context, a tarsy.Announcement, session tarsy.Session) (content, error) {
	if a.Subject != tarsy.SubjectApproval {
		m, err := s.message(ctx, a, session)
		if err != nil {
			return content{}, err
		}

		return s.sessionContent(m)
	}

	call, err := s.cfg.Approvals.Get(ctx, *a.ApprovalID)
	if err != nil {
		return content{}, err
	}

	made, err := decisionOf(ctx, s.cfg, call)
	if err != nil {
		return content{}, err
	}

	return s.approvalContent(call, message.NewApproval(a, session, call, s.cfg.SessionURL(session.ID)), made)
}

// postInThread posts a message as the first of a thread or as a reply. It reports false while another announcement begins the thread.
func (s *sender) postInThread(ctx context.Context, a *tarsy.Announcement, d *draft, fingerprint string, shown content) (bool, error) {
	if len(a.MessageIDs) == 0 {
		thread, err := s.cfg.DB.JoinSlackThread(ctx, *a, fingerprint, threadAge)
		if err != nil || thread.TS == "" && thread.AnnouncementID != a.ID {
			return false, err
		}

		// A call that waits is worth more than a reply that nobody is told of.
		to := place{channel: a.Target, thread: thread.TS, broadcast: a.Subject == tarsy.SubjectApproval}

		err = s.post(ctx, a, d, to, []content{shown})
		if err != nil && thread.TS != "" && gone(err) {
			return false, s.cfg.DB.EndSlackThread(ctx, thread.ID) // the next attempt begins another one
		}

		if err != nil {
			return false, err
		}
	}

	if a.ThreadID != a.MessageIDs[0] {
		return true, nil
	}

	err := s.cfg.DB.SetSlackThread(ctx, a.ID, a.ThreadID)

	return err == nil, err
}

// announceApprovals stores an announcement for each call that waits and has none. Whether it has one is for an index to say, so that it is
// sent once, whichever server holds the connection.
func (s *sender) announceApprovals(ctx context.Context) error {
	if !s.cfg.Routes.Announces(message.ApprovalNeeded) {
		return nil
	}

	waiting, err := s.cfg.DB.UnannouncedApprovals(ctx, tarsy.ChannelSlack)
	if err != nil {
		return err
	}

	for _, open := range waiting {
		now := tarsy.Time(s.cfg.Clock.Now())

		if _, err := s.cfg.DB.AddAnnouncement(ctx, tarsy.Announcement{
			ID: tarsy.NewID(), SessionID: open.SessionID, Channel: tarsy.ChannelSlack, Subject: tarsy.SubjectApproval, ApprovalID: &open.ID,
			Target: s.cfg.Routes.Of(open.Team), State: tarsy.AnnouncementPending, DueAt: s.cfg.Routes.DueAt(open.Severity, now), CreatedAt: now,
		}); err != nil {
			return err
		}
	}

	return nil
}

// sendApproval posts that a call waits, and follows it until it is decided, here or elsewhere.
func (s *sender) sendApproval(ctx context.Context, a *tarsy.Announcement, d *draft) (bool, error) {
	call, err := s.cfg.Approvals.Get(ctx, *a.ApprovalID)
	if tarsy.CodeOf(err) == tarsy.CodeApprovalNotFound {
		return false, errDeleted
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

	posted, err := s.postInThread(ctx, a, d, session.Fingerprint, shown)
	if err != nil || !posted {
		return false, err
	}

	return made.status != tarsy.ApprovalWaiting, s.updateApproval(ctx, a, d, shown)
}

// updateApproval shows what became of a call.
func (s *sender) updateApproval(ctx context.Context, a *tarsy.Announcement, d *draft, shown content) error {
	if len(d.shown) > 0 && d.shown[0] == shown.key() {
		return nil
	}

	whole, err := s.withState(ctx, *a, shown)
	if err != nil {
		return err
	}

	if err := s.cfg.Client.update(ctx, a.Target, a.MessageIDs[0], whole); err != nil && !gone(err) {
		return err
	}

	d.show(0, shown)

	return nil
}

// sendAnswer posts the answer as far as it is written. It is done when the answer is over.
func (s *sender) sendAnswer(ctx context.Context, a *tarsy.Announcement, d *draft) (bool, error) {
	answer, err := s.cfg.DB.Answer(ctx, a.SessionID, *a.StageID)
	if err != nil {
		return false, err
	}

	shown, done := answerMessage(answer, s.cfg.Clock.Since(a.CreatedAt))
	channelID, thread, _ := strings.Cut(a.Target, "/")

	if err := s.paceAnswer(ctx, d); err != nil {
		return false, err
	}

	err = s.post(ctx, a, d, place{channel: channelID, thread: thread}, s.split(shown, a.SessionID))
	d.answered = s.cfg.Clock.Now()

	return done && err == nil, err
}

// paceAnswer waits until an answer may be updated again: at most once per second, however long updates take.
func (s *sender) paceAnswer(ctx context.Context, d *draft) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.cfg.Clock.After(s.cfg.Clock.Until(d.answered.Add(sendEvery))):
		return nil
	}
}

// answerMessage is what people see of an answer to a question of some age, and whether that is all.
func answerMessage(answer *postgres.Answer, age time.Duration) (shown string, done bool) {
	shown, done = answerText(answer), answer.Status.Terminal()

	switch {
	case answer.Status == "" && !answer.Waiting && age > lostAfter:
		return "The question was not answered. Ask again.", true
	case done && shown == "":
		return "The answer is empty.", true
	case shown == "":
		// People see that their question was received.
		return "_Working on it…_", false
	}

	return shown, done
}

// split divides an answer into messages. Too many are cut, with a link to the rest.
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

// text is a message of one short text.
func text(shown string) content { return content{text: shown, blocks: []slack.Block{section(shown)}} }

// answerText is the answer as far as it is written: a line for each tool call, and the texts.
func answerText(answer *postgres.Answer) string {
	var (
		parts []string
		said  string
		calls bool
	)

	for _, e := range answer.Events {
		written := strings.TrimSpace(e.Content)

		switch e.EventType {
		case tarsy.EventToolCall:
			call := tarsy.MetadataAs[tarsy.ToolCallMetadata](e.Metadata)
			line := "Tool call: " + literal(tarsy.CutText(call.ServerName+"."+call.ToolName, maxFact))

			if calls {
				parts[len(parts)-1] += "\n" + line
			} else {
				parts = append(parts, line)
			}

			calls = true
		case tarsy.EventResponse, tarsy.EventFinalAnalysis:
			// The analysis of an answer repeats the last response.
			if written != "" && written != said {
				parts = append(parts, mrkdwn(written))
				said, calls = written, false
			}
		default: // only for the dashboard
		}
	}

	switch answer.Status {
	case tarsy.StatusFailed, tarsy.StatusTimedOut:
		parts = append(parts, "*The answer failed:* "+literal(answer.Error))
	case tarsy.StatusCancelled:
		parts = append(parts, "The answer was cancelled.")
	case tarsy.StatusCompleted, tarsy.StatusPending, tarsy.StatusActive:
	}

	return strings.Join(parts, "\n\n")
}
