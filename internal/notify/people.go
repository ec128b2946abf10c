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
	"tarsy.dev/tarsy/internal/postgres"
)

// Intake takes what people write. Its errors for people are *tarsy.Error; it returns after what it did is durable.
type Intake interface {
	Submit(ctx context.Context, alert tarsy.Alert) (tarsy.Session, error)
	AskForStage(ctx context.Context, sessionID, author, content, stageID string) (tarsy.Question, error)
}

// Decisions takes what people decide: a *people.Desk. Its errors for people are *tarsy.Error.
type Decisions interface {
	GiveFeedback(ctx context.Context, feedback tarsy.Feedback) (tarsy.Feedback, error)
	WithdrawFeedback(ctx context.Context, sessionID string, by tarsy.Person) (tarsy.Feedback, error)
	Approval(ctx context.Context, id string) (tarsy.ApprovalRequest, error)
	Approvals(ctx context.Context, sessionID string, visible tarsy.Visibility) ([]tarsy.ApprovalRequest, error)
	Approve(ctx context.Context, id, by string, arguments json.RawMessage, reason string) (tarsy.ApprovalRequest, error)
	Reject(ctx context.Context, id, by, reason string) (tarsy.ApprovalRequest, error)
}

// saidFailed is what people read where an internal error refuses them.
const saidFailed = "This could not be processed. Try again later."

// People takes what people write in the threads of a channel. Who may write is for the channel to say.
type People struct {
	DB      *postgres.DB
	Channel tarsy.AnnouncementChannel
	Intake  Intake
	Desk    Decisions
	// Mask hides secrets in names; intake masks the rest.
	Mask   func(text string) string
	Clock  clockwork.Clock
	Logger *slog.Logger
}

// Message is what somebody wrote in the thread of a session.
type Message struct {
	// Key identifies the message in its channel: one that is delivered twice counts once. Target is where the answer goes.
	Key, Target string
	// UserID and UserName are those of the author in the channel.
	UserID, UserName string
	Text             string
	// Details are kept in the audit log.
	Details map[string]string
}

// Discuss takes a message in the thread of a session: feedback, or else a question. It returns what its author should read, if there is anything;
// an answer follows as an announcement.
func (p People) Discuss(ctx context.Context, sessionID string, m Message) (reply string) {
	if isFeedback(m.Text) {
		return p.rate(ctx, sessionID, m)
	}

	return p.ask(ctx, sessionID, m)
}

// ask asks a question. The announcement of its answer is stored first, with the id of the stage that will answer: a crash in between leaves
// an answer that reports that the question was lost, and never an answer that nobody delivers.
func (p People) ask(ctx context.Context, sessionID string, m Message) (reply string) {
	answer, stageID := p.reply(sessionID, tarsy.SubjectAnswer, m), ident.New()
	answer.StageID = &stageID

	added, err := p.DB.AddAnnouncement(ctx, answer)
	if err != nil {
		return p.Reason(err)
	}

	if !added {
		return "" // it was delivered twice
	}

	asking := p.decide(ctx, m, "session.ask", "session", sessionID)

	if _, err := p.Intake.AskForStage(asking, sessionID, p.Author(m.UserName), m.Text, stageID); err != nil {
		if err := p.DB.RemoveAnnouncement(context.WithoutCancel(ctx), answer.ID); err != nil {
			p.Logger.Warn("could not remove the announcement of a refused question", "error", err)
		}

		return p.Reason(err)
	}

	return ""
}

// Approve lets a tool call be made, as it is shown. The message is what somebody wrote or clicked.
func (p People) Approve(ctx context.Context, m Message, id, reason string) error {
	_, err := p.Desk.Approve(p.decide(ctx, m, "approval.approve", "approval", id), id, p.Author(m.UserName), nil, reason)

	return err
}

// Reject decides against a tool call.
func (p People) Reject(ctx context.Context, m Message, id, reason string) error {
	_, err := p.Desk.Reject(p.decide(ctx, m, "approval.reject", "approval", id), id, p.Author(m.UserName), reason)

	return err
}

// saidNothing is what people read who mention the bot and say nothing.
const saidNothing = "Describe the alert after the mention."

// Submit takes a message that mentions the bot as an alert. It returns what its author should read, if there is anything; a receipt follows as an
// announcement. A message that is delivered twice makes one session.
func (p People) Submit(ctx context.Context, m Message, alertType string) (reply string) {
	if m.Text == "" {
		return saidNothing
	}

	key := sha256.Sum256([]byte(string(p.Channel) + "\x00" + m.Key))

	session, err := p.Intake.Submit(ctx, tarsy.Alert{
		AlertType: alertType, Data: m.Text, Author: p.Author(m.UserName), Facts: tarsy.AlertFacts{Source: tarsy.AlertSource(p.Channel)},
		// A message keeps its key and arrives as it was sent, so the key also identifies its content.
		Idempotency: &tarsy.IdempotencyKey{Hash: key[:], Fingerprint: key[:]},
	})
	if err != nil {
		return p.Reason(err)
	}

	if _, err := p.DB.AddAnnouncement(ctx, p.reply(session.ID, tarsy.SubjectReceipt, m)); err != nil {
		p.Logger.Error("an alert from a channel was accepted, but the receipt could not be stored", "session_id", session.ID, "error", err)
	}

	return ""
}

// reply is an announcement that replies to a message.
func (p People) reply(sessionID string, subject tarsy.AnnouncementSubject, m Message) tarsy.Announcement {
	now := calendar.Time(p.Clock.Now())

	return tarsy.Announcement{
		ID: ident.New(), SessionID: sessionID, Channel: p.Channel, Subject: subject, Target: m.Target, ReplyTo: m.Key,
		State: tarsy.AnnouncementPending, DueAt: now, CreatedAt: now,
	}
}

// decide returns a context in which the author of a message makes a decision. The names of actions are those of the API. Alerts are none, as
// there.
func (p People) decide(ctx context.Context, m Message, action, targetType, target string) context.Context {
	return audit.By(ctx, tarsy.AuditEntry{
		At: p.Clock.Now(), Actor: p.Author(m.UserName), ActorKind: tarsy.ActorKind(p.Channel), Action: action, TargetType: targetType, TargetID: target,
		Outcome: tarsy.AuditOK, Details: m.Details,
	})
}

// Author is the name under which what a person writes is stored.
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

// person is who wrote a message. Names change and are not unique.
func (p People) person(m Message) tarsy.Person {
	return tarsy.Person{Name: p.Author(m.UserName), ID: string(p.Channel) + ":" + m.UserID}
}

// Reason is an error as people read it. Internal errors are logged and not shown.
func (p People) Reason(err error) string {
	known, ok := errors.AsType[*tarsy.Error](err)
	if !ok || known.Code == tarsy.CodeInternal || known.Message == "" {
		p.Logger.Error("what somebody wrote could not be processed", "error", err)

		return saidFailed
	}

	return strings.ToUpper(known.Message[:1]) + known.Message[1:] + "."
}

// anyone in a list allows everything that the list is about.
const anyone = "*"

// Allowed reports whether a list allows one of some ids. An empty list allows nothing.
func Allowed(list []string, ids ...string) bool {
	return slices.Contains(list, anyone) || slices.ContainsFunc(ids, func(id string) bool { return id != "" && slices.Contains(list, id) })
}
