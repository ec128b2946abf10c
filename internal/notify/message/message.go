// Package message has the content of all channels about a session, and the templates that replace their layouts. The
// configuration validates templates with the code that later renders them, so an accepted template does not fail on a session.
// It knows nothing of channels, and does no I/O.
package message

import (
	"time"

	"tarsy.dev/tarsy"
)

// Event is an event of a session.
type Event string

// Finished means completed or cancelled, Failed means failed or timed out. VerdictReached is the end of a session that
// completed with a verdict, for recipients that want no other end; it replaces Finished. ApprovalNeeded means that a tool call
// waits for a person.
const (
	Started        Event = "started"
	Finished       Event = "finished"
	VerdictReached Event = "verdict"
	Failed         Event = "failed"
	ApprovalNeeded Event = "approval"
)

// Message is the data of templates, and with its JSON names the default body.
type Message struct {
	// ID of the message, the same in every attempt to send it.
	ID string `json:"id"`
	// The event that the message is about.
	Event Event `json:"event"`
	// The session and its page in the dashboard; URL is empty unless system.dashboard_url is set.
	SessionID string `json:"session_id"`
	URL       string `json:"url"`
	// Always in_progress in a message about the start or an approval, however late it is sent.
	Status tarsy.SessionStatus `json:"status"`
	// The alert, as in tarsy.Session.
	AlertType   string            `json:"alert_type"`
	ChainID     string            `json:"chain_id"`
	Title       string            `json:"title"`
	Severity    tarsy.Severity    `json:"severity"`
	Service     string            `json:"service"`
	Namespace   string            `json:"namespace"`
	Cluster     string            `json:"cluster"`
	Team        string            `json:"team"`
	Labels      map[string]string `json:"labels"`
	Links       []tarsy.AlertLink `json:"links"`
	Fingerprint string            `json:"fingerprint"`
	Source      tarsy.AlertSource `json:"source"`
	Receiver    string            `json:"receiver"`
	// The result; each is empty if there is none, and in a message about the start or an approval.
	Summary  string `json:"summary"`
	Analysis string `json:"analysis"`
	Error    string `json:"error"`
	// The verdict, without citation marks; empty if there is none. OutcomeText is the outcome in words for people.
	Outcome     tarsy.Outcome    `json:"outcome"`
	OutcomeText string           `json:"outcome_text"`
	Cause       string           `json:"cause"`
	Confidence  tarsy.Confidence `json:"confidence"`
	Impact      string           `json:"impact"`
	NextSteps   []Step           `json:"next_steps"`
	NotChecked  []string         `json:"not_checked"`
	// The waiting call; empty unless the message is about an approval.
	Approval Approval `json:"approval,omitzero"`
	// RFC 3339 in UTC; empty if it has not happened.
	StartedAt string `json:"started_at"`
	EndedAt   string `json:"ended_at"`
}

// Step is a next step, as in tarsy.NextStep.
type Step struct {
	Title      string     `json:"title"`
	Why        string     `json:"why"`
	Command    string     `json:"command"`
	URL        string     `json:"url"`
	Risk       tarsy.Risk `json:"risk"`
	Reversible bool       `json:"reversible"`
}

// EventOf returns the event of an announcement's subject and a session's status.
func EventOf(subject tarsy.AnnouncementSubject, status tarsy.SessionStatus) Event {
	switch {
	case subject == tarsy.SubjectStart:
		return Started
	case subject == tarsy.SubjectApproval:
		return ApprovalNeeded
	case status == tarsy.SessionFailed, status == tarsy.SessionTimedOut:
		return Failed
	default:
		return Finished
	}
}

// New returns the message of an announcement. It depends only on data that does not change after the event, so all attempts
// send the same message.
func New(a tarsy.Announcement, session tarsy.Session, verdict *tarsy.Verdict, url string) Message {
	m := Message{
		ID: a.ID, Event: EventOf(a.Subject, session.Status), SessionID: session.ID, URL: url, Status: tarsy.SessionInProgress,
		AlertType: session.AlertType, ChainID: session.ChainID, Title: session.Title, Severity: session.Severity, Service: session.Service,
		Namespace: session.Namespace, Cluster: session.Cluster, Team: session.Team, Labels: session.Labels, Links: session.Links,
		Fingerprint: session.Fingerprint, Source: session.Source, Receiver: session.Receiver, StartedAt: timeText(session.StartedAt),
		NextSteps: []Step{}, NotChecked: []string{},
	}

	// Sessions from old releases have no title.
	if m.Title == "" {
		m.Title = session.AlertType
	}

	if m.Event != Started && m.Event != ApprovalNeeded {
		m.Status, m.Summary, m.Analysis, m.Error = session.Status, session.ExecutiveSummary, session.FinalAnalysis, session.ErrorMessage
		m.EndedAt = timeText(session.CompletedAt)
		m.conclude(verdict)
	}

	return m
}

// conclude adds the verdict.
func (m *Message) conclude(v *tarsy.Verdict) {
	if v == nil {
		return
	}

	m.Outcome, m.OutcomeText, m.Confidence = v.Outcome, v.Outcome.Words(), v.Confidence
	m.Cause, m.Impact = tarsy.WithoutMarks(v.Cause.Text), tarsy.WithoutMarks(v.Impact.Text)

	for _, s := range v.NextSteps {
		m.NextSteps = append(m.NextSteps, Step{
			Title: s.Title, Why: tarsy.WithoutMarks(s.Why.Text), Command: s.Command, URL: s.URL, Risk: s.Risk, Reversible: s.Reversible,
		})
	}

	for _, c := range v.NotChecked {
		m.NotChecked = append(m.NotChecked, tarsy.WithoutMarks(c.Text))
	}
}

func timeText(t *time.Time) string {
	if t == nil {
		return ""
	}

	return t.UTC().Format(time.RFC3339)
}

// samples returns messages for trying out templates: one per event, with texts that must be escaped in JSON, and an empty one.
func samples() []Message {
	full := Message{
		ID: "0193a000-0000-7000-8000-000000000001", Event: Finished, SessionID: "0193a000-0000-7000-8000-000000000002",
		URL: "https://tarsy.example.org/sessions/0193a000-0000-7000-8000-000000000002", Status: tarsy.SessionCompleted,
		AlertType: "kubernetes", ChainID: "kubernetes", Title: `Disk "data" is full`, Severity: tarsy.SeverityCritical, Service: "shop",
		Namespace: "production", Cluster: "eu", Team: "storage", Labels: map[string]string{"alertname": "DiskFull"},
		Links:       []tarsy.AlertLink{{Kind: tarsy.LinkGenerator, URL: "https://prometheus.example.org/graph"}},
		Fingerprint: "b2a1", Source: tarsy.SourceAlertmanager, Receiver: "default",
		Summary: "A leak\nfilled the disk.", Analysis: "# Analysis\n\n\"data\" is full.", StartedAt: "2026-11-16T12:00:00Z", EndedAt: "2026-11-16T12:05:00Z",
		Outcome: tarsy.OutcomeCauseFound, OutcomeText: tarsy.OutcomeCauseFound.Words(), Cause: `A leak in "shop"`, Confidence: tarsy.ConfidenceHigh,
		Impact: "Orders are\nlost.", NotChecked: []string{"The backup."}, NextSteps: []Step{{
			Title: `Restart "shop"`, Why: "It frees\nthe disk.", Command: "kubectl rollout restart deployment/shop", URL: "https://runbooks.example.org/disk",
			Risk: tarsy.RiskLow, Reversible: true,
		}},
	}

	// A session that starts or fails has none of these.
	undecided := full
	undecided.Outcome, undecided.OutcomeText, undecided.Cause, undecided.Confidence, undecided.Impact = "", "", "", "", ""
	undecided.NextSteps, undecided.NotChecked = []Step{}, []string{}

	started := undecided
	started.Event, started.Status, started.Summary, started.Analysis, started.EndedAt = Started, tarsy.SessionInProgress, "", "", ""

	failed := undecided
	failed.Event, failed.Status, failed.Summary, failed.Analysis, failed.Error = Failed, tarsy.SessionFailed, "", "", "The model is not\navailable."

	verdict := full
	verdict.Event = VerdictReached

	approval := started
	approval.Event, approval.Approval = ApprovalNeeded, Approval{
		ID: "0193a000-0000-7000-8000-000000000003", Call: "1.1.2", Agent: "Remediator", Server: "kubernetes", Tool: "scale",
		Arguments: `{"deployment": "shop", "note": "\"more\""}`, RequestedAt: "2026-11-16T12:01:00Z", ExpiresAt: "2026-11-16T12:31:00Z",
	}

	return []Message{started, full, verdict, failed, approval, {Event: Finished, Status: tarsy.SessionCancelled}, {Event: ApprovalNeeded, Status: tarsy.SessionInProgress}}
}
