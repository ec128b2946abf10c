package notify

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"unicode"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/postgres/outbox"
)

// Intake accepts alerts and questions. Its errors for people are *tarsy.Error; when it returns, its changes are durable.
type Intake interface {
	Submit(ctx context.Context, alert tarsy.Alert) (tarsy.Session, error)
	AskForStage(ctx context.Context, sessionID, author, content, stageID string) (tarsy.Question, error)
}

// Decisions accepts people's decisions; *people.Desk implements it. Its errors for people are *tarsy.Error.
type Decisions interface {
	GiveFeedback(ctx context.Context, feedback tarsy.Feedback) (tarsy.Feedback, error)
	WithdrawFeedback(ctx context.Context, sessionID string, by tarsy.Person) (tarsy.Feedback, error)
	Approval(ctx context.Context, id string) (tarsy.ApprovalRequest, error)
	Approvals(ctx context.Context, sessionID string, visible tarsy.Visibility) ([]tarsy.ApprovalRequest, error)
	Approve(ctx context.Context, id, by string, arguments json.RawMessage, reason string) (tarsy.ApprovalRequest, error)
	Reject(ctx context.Context, id, by, reason string) (tarsy.ApprovalRequest, error)
}

// failedReply is the reply if an internal error occurs.
const failedReply = "This could not be processed. Try again later."

// People processes what people write in the threads of a channel. The channel decides who is allowed to write.
type People struct {
	Outbox  *outbox.Store
	Channel tarsy.AnnouncementChannel
	Intake  Intake
	Desk    Decisions
	// Mask hides secrets in names; intake masks the rest.
	Mask   func(text string) string
	Clock  clockwork.Clock
	Logger *slog.Logger
}

// Message is a message in the thread of a session.
type Message struct {
	// Key identifies the message in its channel: if delivered twice, it counts once. Target is where to reply.
	Key, Target string
	// UserID and UserName identify the author in the channel.
	UserID, UserName string
	Text             string
	// Details are stored in the audit log.
	Details map[string]string
}

// Discuss processes a message in the thread of a session: feedback, or else a question. It returns a reply to the author, if
// any; an answer follows as an announcement.
func (p People) Discuss(ctx context.Context, sessionID string, m Message) (reply string) {
	if isFeedback(m.Text) {
		return p.rate(ctx, sessionID, m)
	}

	return p.ask(ctx, sessionID, m)
}

// ask asks a question. The announcement of its answer is stored first, with the ID of the stage that will answer: after a crash
// in between, the announcement reports that the question was lost; an answer is never left undelivered.
func (p People) ask(ctx context.Context, sessionID string, m Message) (reply string) {
	answer, stageID := p.reply(sessionID, tarsy.SubjectAnswer, m), ident.New()
	answer.StageID = &stageID

	added, err := p.Outbox.AddAnnouncement(ctx, answer)
	if err != nil {
		return p.Reason(err)
	}

	if !added {
		return "" // delivered twice
	}

	asking := p.decide(ctx, m, "session.ask", "session", sessionID)

	if _, err := p.Intake.AskForStage(asking, sessionID, p.Author(m.UserName), m.Text, stageID); err != nil {
		if err := p.Outbox.RemoveAnnouncement(context.WithoutCancel(ctx), answer.ID); err != nil {
			p.Logger.Warn("could not remove the announcement of a refused question", "error", err)
		}

		return p.Reason(err)
	}

	return ""
}

// Approve approves a tool call as it is shown. m is what the person wrote or clicked.
func (p People) Approve(ctx context.Context, m Message, id, reason string) error {
	_, err := p.Desk.Approve(p.decide(ctx, m, "approval.approve", "approval", id), id, p.Author(m.UserName), nil, reason)

	return err
}

// Reject rejects a tool call.
func (p People) Reject(ctx context.Context, m Message, id, reason string) error {
	_, err := p.Desk.Reject(p.decide(ctx, m, "approval.reject", "approval", id), id, p.Author(m.UserName), reason)

	return err
}

// emptyMentionReply is the reply to a mention of the bot without text.
const emptyMentionReply = "Describe the alert after the mention."

// Submit submits a message that mentions the bot as an alert. It returns a reply to the author, if any; a receipt follows as an
// announcement. A message that is delivered twice creates one session.
func (p People) Submit(ctx context.Context, m Message, alertType string) (reply string) {
	if m.Text == "" {
		return emptyMentionReply
	}

	key := sha256.Sum256([]byte(string(p.Channel) + "\x00" + m.Key))

	session, err := p.Intake.Submit(ctx, tarsy.Alert{
		AlertType: alertType, Data: m.Text, Author: p.Author(m.UserName), Facts: tarsy.AlertFacts{Source: tarsy.AlertSource(p.Channel)},
		// A message keeps its key and its content, so the key also identifies the content.
		Idempotency: &tarsy.IdempotencyKey{Hash: key[:], Fingerprint: key[:]},
	})
	if err != nil {
		return p.Reason(err)
	}

	if _, err := p.Outbox.AddAnnouncement(ctx, p.reply(session.ID, tarsy.SubjectReceipt, m)); err != nil {
		p.Logger.Error("an alert from a channel was accepted, but the receipt could not be stored", "session_id", session.ID, "error", err)
	}

	return ""
}

// reply returns an announcement that replies to a message.
func (p People) reply(sessionID string, subject tarsy.AnnouncementSubject, m Message) tarsy.Announcement {
	now := calendar.Time(p.Clock.Now())

	return tarsy.Announcement{
		ID: ident.New(), SessionID: sessionID, Channel: p.Channel, Subject: subject, Target: m.Target, ReplyTo: m.Key,
		State: tarsy.AnnouncementPending, DueAt: now, CreatedAt: now,
	}
}

// decide returns a context that carries a decision by the author of a message. Actions have the same names as in the API. As in
// the API, submitting an alert is not a decision.
func (p People) decide(ctx context.Context, m Message, action, targetType, target string) context.Context {
	return audit.By(ctx, tarsy.AuditEntry{
		At: p.Clock.Now(), Actor: p.Author(m.UserName), ActorKind: tarsy.ActorKind(p.Channel), Action: action, TargetType: targetType, TargetID: target,
		Outcome: tarsy.AuditOK, Details: m.Details,
	})
}

// Author returns the name under which a person's messages are stored.
func (p People) Author(userName string) string {
	const most = 100

	name := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || plaintext.Invisible(r) {
			return -1
		}

		return r
	}, plaintext.Clean(userName))

	return string(p.Channel) + ":" + plaintext.Cut(p.Mask(strings.TrimSpace(name)), most)
}

// person returns the author of a message, identified by ID because names change and are not unique.
func (p People) person(m Message) tarsy.Person {
	return tarsy.Person{Name: p.Author(m.UserName), ID: string(p.Channel) + ":" + m.UserID}
}

// Reason returns an error as a message for people. Internal errors are logged and not shown.
func (p People) Reason(err error) string {
	known, ok := errors.AsType[*tarsy.Error](err)
	if !ok || known.Code == tarsy.CodeInternal || known.Message == "" {
		p.Logger.Error("could not process a message from a channel", "error", err)

		return failedReply
	}

	return strings.ToUpper(known.Message[:1]) + known.Message[1:] + "."
}

// anyone in a list allows everything.
const anyone = "*"

// Allowed reports whether a list allows at least one of the IDs. An empty list allows nothing.
func Allowed(list []string, ids ...string) bool {
	return slices.Contains(list, anyone) || slices.ContainsFunc(ids, func(id string) bool { return id != "" && slices.Contains(list, id) })
}
