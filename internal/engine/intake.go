package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/postgres"
)

// IntakeConfig configures an Intake.
type IntakeConfig struct {
	DB *postgres.DB
	// Route finds the alert's chain and rejects unconfigured values, with errors that list the configured ones.
	Route func(alert tarsy.Alert) (chain.Route, error)
	// TakesQuestions reports whether a chain has a chat, and whether the chain is configured at all.
	TakesQuestions func(chainID string) (takes, known bool)
	// Decode reads a stored recipe.
	Decode func(body json.RawMessage) (chain.Recipe, error)
	// Mask hides secrets in what people wrote. If it fails, it returns the text unmasked.
	Mask   func(text string) string
	Limits IntakeLimits
	Clock  clockwork.Clock
}

// Intake accepts alerts, questions and cancel requests. It runs on every server, including those that run no sessions.
type Intake struct {
	cfg       IntakeConfig
	admission *admission
}

// NewIntake returns an Intake.
func NewIntake(cfg IntakeConfig) *Intake {
	return &Intake{cfg: cfg, admission: newAdmission(cfg.Limits, cfg.Clock)}
}

// Reconfigured returns an Intake with another configuration. Both share the counts of what is held in memory.
func (i *Intake) Reconfigured(cfg IntakeConfig) *Intake {
	return &Intake{cfg: cfg, admission: i.admission}
}

// Submit turns an alert into a session, which is durable when it returns without error. If the limits are reached it fails with
// CodeOverloaded. For a session that an earlier request with the same idempotency key created, only ID and Status are those of the stored
// session.
func (i *Intake) Submit(ctx context.Context, alert tarsy.Alert) (tarsy.Session, error) {
	leave, err := i.Enter(alert)
	if err != nil {
		return tarsy.Session{}, err
	}
	defer leave()

	if err := i.cfg.DB.CheckBacklog(); err != nil {
		return tarsy.Session{}, err
	}

	prepared, err := i.Prepare(ctx, alert)
	if err != nil {
		return tarsy.Session{}, err
	}

	if err := i.store(ctx, &prepared.Session, alert.Idempotency, prepared.Terms); err != nil {
		return tarsy.Session{}, fmt.Errorf("submit alert: %w", err)
	}

	return prepared.Session, nil
}

// Enter counts alerts that are held in memory together until leave is called, or rejects them with CodeOverloaded.
func (i *Intake) Enter(alerts ...tarsy.Alert) (leave func(), err error) {
	bytes := 0
	for _, alert := range alerts {
		bytes += len(alert.Data) + len(alert.Runbook)
	}

	return i.admission.enter(bytes)
}

// Prepare finds an alert's chain and masks all of the sender's texts. It stores nothing.
func (i *Intake) Prepare(ctx context.Context, alert tarsy.Alert) (postgres.Prepared, error) {
	route, err := i.cfg.Route(alert)
	if err != nil {
		return postgres.Prepared{}, err
	}

	alert.Runbook = runbookOf(alert, route)

	if err := i.admission.mask(ctx, func() { i.mask(&alert) }); err != nil {
		return postgres.Prepared{}, err
	}

	return i.session(alert, route)
}

// PrepareMasked is Prepare for an alert built from texts that Prepare has returned.
func (i *Intake) PrepareMasked(alert tarsy.Alert) (postgres.Prepared, error) {
	route, err := i.cfg.Route(alert)
	if err != nil {
		return postgres.Prepared{}, err
	}

	alert.Runbook = runbookOf(alert, route)

	return i.session(alert, route)
}

// runbookOf returns the text of an alert's runbook. A runbook given as a URL is fetched when the session starts.
func runbookOf(alert tarsy.Alert, route chain.Route) string {
	if alert.Runbook == "" && alert.RunbookURL == "" {
		return route.Runbook
	}

	return alert.Runbook
}

// mask masks the sender's texts in an alert.
func (i *Intake) mask(alert *tarsy.Alert) {
	alert.Data, alert.Runbook = i.cfg.Mask(plaintext.Clean(alert.Data)), i.cfg.Mask(plaintext.Clean(alert.Runbook))
	alert.SlackMessageFingerprint = i.cfg.Mask(plaintext.Clean(alert.SlackMessageFingerprint))
	alert.Facts = maskFacts(alert.Facts, i.cfg.Mask)
}

// session builds the session of a masked alert.
func (i *Intake) session(alert tarsy.Alert, route chain.Route) (postgres.Prepared, error) {
	if len(alert.Data) > tarsy.MaxAlertBytes {
		return postgres.Prepared{}, tarsy.FieldErrorf(tarsy.CodeTooLarge, "data", "the alert's data is larger than %d bytes", tarsy.MaxAlertBytes)
	}

	session := tarsy.Session{
		ID: ident.New(), AlertType: route.AlertType, AlertData: alert.Data, ChainID: route.Chain.ID, AgentType: route.AgentType,
		Status: tarsy.SessionPending, Author: plaintext.Clean(cmp.Or(alert.Author, tarsy.DefaultAuthor)), Runbook: alert.Runbook,
		RunbookURL: plaintext.Clean(alert.RunbookURL), MCPSelection: alert.MCPSelection, RerunOf: alert.RerunOf, LLMProvider: alert.LLMProvider,
		SlackMessageFingerprint: alert.SlackMessageFingerprint, StageCount: route.Chain.StageCount(), CreatedAt: calendar.Time(i.cfg.Clock.Now()),
		AlertFacts: alert.Facts,
	}

	if session.Labels == nil {
		session.Labels = map[string]string{}
	}

	if session.Links == nil {
		session.Links = []tarsy.AlertLink{}
	}

	session.Source = cmp.Or(session.Source, tarsy.SourceAPI)

	return postgres.Prepared{Session: session, Terms: postgres.Terms{EngineVersion: lowestVersion(route.Chain), Recipe: route.Recipe}}, nil
}

// store stores a new session. If the sender's key has already created one, session gets the ID and status of that one.
func (i *Intake) store(ctx context.Context, session *tarsy.Session, key *tarsy.IdempotencyKey, terms postgres.Terms) error {
	created := tarsy.SessionStatusChanged(*session, session.CreatedAt)
	if key == nil {
		return i.cfg.DB.CreateSession(ctx, *session, terms, created)
	}

	existing, err := i.cfg.DB.CreateSessionOnce(ctx, *key, *session, terms, created)
	if existing != nil {
		session.ID, session.Status = existing.SessionID, existing.Status
	}

	return err
}

// Ask asks a question about a session that has ended. It returns once the question is durable; the server that claims the session answers
// it. A refused question stores nothing.
func (i *Intake) Ask(ctx context.Context, sessionID, author, content string) (tarsy.Question, error) {
	return i.AskForStage(ctx, sessionID, author, content, ident.New())
}

// AskForStage is Ask with the caller's ID for the answering stage, so that the caller can store what depends on it first.
func (i *Intake) AskForStage(ctx context.Context, sessionID, author, content, stageID string) (tarsy.Question, error) {
	content = plaintext.Clean(content)

	switch {
	case strings.TrimSpace(content) == "":
		return tarsy.Question{}, tarsy.FieldErrorf(tarsy.CodeInvalidField, "content", "content must not be empty")
	case len(content) > tarsy.MaxQuestionBytes:
		return tarsy.Question{}, tarsy.FieldErrorf(tarsy.CodeTooLarge, "content", "the question is longer than %d bytes", tarsy.MaxQuestionBytes)
	}

	target, err := i.cfg.DB.RequestTarget(ctx, sessionID)
	if err != nil {
		return tarsy.Question{}, err
	}

	takes, err := i.takesQuestions(ctx, sessionID, target.ChainID)
	if err != nil {
		return tarsy.Question{}, err
	}

	if !takes {
		return tarsy.Question{}, tarsy.Errorf(tarsy.CodeChatDisabled,
			"the chain %q accepts no questions: set chat.enabled in its configuration", target.ChainID)
	}

	if err := i.admission.mask(ctx, func() { content = i.cfg.Mask(content) }); err != nil {
		return tarsy.Question{}, err
	}

	now := calendar.Time(i.cfg.Clock.Now())

	question, asked, err := i.cfg.DB.AddQuestion(ctx,
		tarsy.Request{ID: ident.New(), SessionID: sessionID, Kind: tarsy.RequestChat, Author: plaintext.Clean(author), CreatedAt: now},
		tarsy.Question{ChatID: ident.New(), MessageID: ident.New(), StageID: stageID, Content: content})
	if err != nil {
		return tarsy.Question{}, fmt.Errorf("ask about session: %w", err)
	}

	if !asked {
		return tarsy.Question{}, i.refusal(ctx, sessionID)
	}

	return question, nil
}

// refusal returns the error that says why a session accepts no question.
func (i *Intake) refusal(ctx context.Context, sessionID string) error {
	target, err := i.cfg.DB.RequestTarget(ctx, sessionID)
	if err != nil {
		return err
	}

	switch target.Status {
	case tarsy.SessionCompleted, tarsy.SessionFailed, tarsy.SessionTimedOut:
		return tarsy.Errorf(tarsy.CodeChatBusy, "another question is being answered: wait for its answer, or cancel it")
	case tarsy.SessionCancelled:
		return tarsy.Errorf(tarsy.CodeConflict, "the session was cancelled: only completed, failed and timed-out sessions accept questions")
	case tarsy.SessionPending, tarsy.SessionInProgress, tarsy.SessionCancelling:
	}

	return tarsy.Errorf(tarsy.CodeSessionNotOver, "the session is %s: questions can be asked when it is over",
		strings.ReplaceAll(string(target.Status), "_", " "))
}

// takesQuestions reports whether a session takes questions. The configuration decides, or the recipe if the chain is no longer configured.
func (i *Intake) takesQuestions(ctx context.Context, sessionID, chainID string) (bool, error) {
	takes, known := i.cfg.TakesQuestions(chainID)
	if known {
		return takes, nil
	}

	body, err := i.cfg.DB.SessionRecipe(ctx, sessionID)
	if err != nil || body == nil {
		return false, err
	}

	recipe, err := i.cfg.Decode(body)
	if err != nil {
		return false, fmt.Errorf("ask about session: %w", err)
	}

	return recipe.Chain.Chat != nil, nil
}

// Cancel requests the cancellation of a session, or of the answer being written. It returns once the request is durable; the holder acts on
// it. The returned status is the session's new one: cancelling, or unchanged if only an answer is cancelled.
func (i *Intake) Cancel(ctx context.Context, sessionID, author string) (tarsy.SessionStatus, error) {
	target, err := i.cfg.DB.RequestTarget(ctx, sessionID)
	if err != nil {
		return "", err
	}

	asked, err := i.cfg.DB.AddCancel(ctx, tarsy.Request{
		ID: ident.New(), SessionID: sessionID, Kind: tarsy.RequestCancel, Author: plaintext.Clean(author), CreatedAt: calendar.Time(i.cfg.Clock.Now()),
	})
	if err != nil {
		return "", fmt.Errorf("cancel session: %w", err)
	}

	switch {
	case asked && target.Status.Terminal():
		return target.Status, nil
	case asked:
		return tarsy.SessionCancelling, nil
	}

	// It may have ended in the meantime.
	if target, err = i.cfg.DB.RequestTarget(ctx, sessionID); err != nil {
		return "", err
	}

	return "", tarsy.Errorf(tarsy.CodeSessionNotRunning, "the session is %s: only a pending or running session, or one that is answering a question, can be cancelled", target.Status)
}
