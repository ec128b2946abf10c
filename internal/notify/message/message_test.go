package message_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
)

func endOf(status tarsy.SessionStatus) (tarsy.Announcement, tarsy.Session) {
	started := time.Date(2026, 11, 16, 13, 0, 0, 0, time.FixedZone("", 3600))
	ended := started.Add(time.Minute)

	return tarsy.Announcement{ID: "a1", Subject: tarsy.SubjectEnd}, tarsy.Session{
		ID: "s1", AlertType: "kubernetes", Status: status, StartedAt: &started, CompletedAt: &ended,
		ExecutiveSummary: "A <leak>.", FinalAnalysis: "It \"leaks\".", ErrorMessage: "",
		AlertFacts: tarsy.AlertFacts{Title: "Disk full", Severity: tarsy.SeverityHigh, Labels: map[string]string{"a": "b"}},
	}
}

func render(t *testing.T, text string, m message.Message) string {
	t.Helper()

	parsed, err := message.Parse(text, false)
	require.NoError(t, err)

	body, err := parsed.Render(m)
	require.NoError(t, err)

	return string(body)
}

func TestDefaultBodyIsJSONOfMessage(t *testing.T) {
	t.Parallel()

	a, session := endOf(tarsy.SessionCompleted)
	body := render(t, message.DefaultBody, message.New(a, session, nil, "https://tarsy.example.org/sessions/s1"))

	var got map[string]any

	require.NoError(t, json.Unmarshal([]byte(body), &got))
	require.Contains(t, body, "A <leak>.")
	require.Equal(t, "finished", got["event"])
	require.Equal(t, "completed", got["status"])
	require.Equal(t, "2026-11-16T12:00:00Z", got["started_at"])
	require.Equal(t, "2026-11-16T12:01:00Z", got["ended_at"])
	require.Equal(t, map[string]any{"a": "b"}, got["labels"])
	require.Equal(t, "a1", got["id"])
}

// endWith returns the end of a session with a verdict.
func endWith() (tarsy.Announcement, tarsy.Session, *tarsy.Verdict) {
	a, session := endOf(tarsy.SessionCompleted)

	return a, session, &tarsy.Verdict{
		Outcome: tarsy.OutcomeProbableCause, Cause: tarsy.Claim{Text: `The "cache" has no bound [call 1.1.1]`}, Confidence: tarsy.ConfidenceMedium,
		Impact: tarsy.Claim{Text: "Orders fail [call 1.1.1]."}, NotChecked: []tarsy.Claim{{Text: "The database."}},
		NextSteps: []tarsy.NextStep{
			{Title: "Restart it", Why: tarsy.Claim{Text: "It leaks."}, Command: "kubectl get pods", URL: "https://example.org", Risk: tarsy.RiskLow, Reversible: true},
			{Title: "Look again", Risk: tarsy.RiskNone},
		},
	}
}

func TestMessageOfTheEndHasTheVerdict(t *testing.T) {
	t.Parallel()

	a, session, verdict := endWith()
	verdictOf := `{"outcome": {{json .Outcome}}, "outcome_text": {{json .OutcomeText}}, "cause": {{json .Cause}}, "confidence": {{json .Confidence}},
		"impact": {{json .Impact}}, "next_steps": {{json .NextSteps}}, "not_checked": {{json .NotChecked}}}`
	want := `{"outcome": "probable_cause", "outcome_text": "Probable cause", "cause": "The \"cache\" has no bound", "confidence": "medium",
		"impact": "Orders fail.", "next_steps": [
			{"title": "Restart it", "why": "It leaks.", "command": "kubectl get pods", "url": "https://example.org", "risk": "low", "reversible": true},
			{"title": "Look again", "why": "", "command": "", "url": "", "risk": "none", "reversible": false}
		], "not_checked": ["The database."]}`
	none := `{"outcome": "", "outcome_text": "", "cause": "", "confidence": "", "impact": "", "next_steps": [], "not_checked": []}`

	m := message.New(a, session, verdict, "")
	require.JSONEq(t, want, render(t, verdictOf, m))
	require.JSONEq(t, none, render(t, verdictOf, message.New(a, session, nil, "")))

	var all, part map[string]any

	require.NoError(t, json.Unmarshal([]byte(render(t, message.DefaultBody, m)), &all))
	require.NoError(t, json.Unmarshal([]byte(want), &part))
	require.Subset(t, all, part, "the default body has every field")

	a.Subject = tarsy.SubjectStart
	require.JSONEq(t, none, render(t, verdictOf, message.New(a, session, verdict, "")), "a beginning that is sent late")
}

// This template is recommended in docs/write-back.md.
func TestTemplateForSlackMakesJSONWithAndWithoutVerdict(t *testing.T) {
	t.Parallel()

	const body = `{"text": {{json .Title}}, "blocks": [{"type": "section", "text": {"type": "plain_text", "text":
{{- if .Outcome}} {{json (printf "%s: %s" .OutcomeText .Cause)}}{{else}} {{json .Status}}{{end}} }}
{{- range .NextSteps}}, {"type": "section", "text": {"type": "plain_text", "text": {{json .Title}} }}{{end}}]}`

	parsed, err := message.Parse(body, true)
	require.NoError(t, err)

	a, session, verdict := endWith()
	got, err := parsed.Render(message.New(a, session, verdict, ""))
	require.NoError(t, err)
	require.JSONEq(t, `{"text": "Disk full", "blocks": [
		{"type": "section", "text": {"type": "plain_text", "text": "Probable cause: The \"cache\" has no bound"}},
		{"type": "section", "text": {"type": "plain_text", "text": "Restart it"}}, {"type": "section", "text": {"type": "plain_text", "text": "Look again"}}]}`, string(got))

	documented, err := os.ReadFile("../../../docs/write-back.md")
	require.NoError(t, err)

	for line := range strings.Lines(body) {
		require.Contains(t, string(documented), strings.TrimSpace(line))
	}
}

func TestEventsNameWhatHappened(t *testing.T) {
	t.Parallel()

	for status, want := range map[tarsy.SessionStatus]message.Event{
		tarsy.SessionCompleted: message.Finished, tarsy.SessionCancelled: message.Finished,
		tarsy.SessionFailed: message.Failed, tarsy.SessionTimedOut: message.Failed,
	} {
		a, session := endOf(status)
		require.Equal(t, want, message.New(a, session, nil, "").Event, status)
	}
}

// A message about the start is the same whether it is sent late or immediately.
func TestBeginningDoesNotDependOnTimeOfSending(t *testing.T) {
	t.Parallel()

	a, session := endOf(tarsy.SessionFailed)
	a.Subject = tarsy.SubjectStart

	late := message.New(a, session, nil, "")
	session.Status, session.CompletedAt, session.ExecutiveSummary, session.FinalAnalysis = tarsy.SessionInProgress, nil, "", ""

	require.Equal(t, message.New(a, session, nil, ""), late)
	require.Equal(t, message.Started, late.Event)
}

func TestTemplateFunctions(t *testing.T) {
	t.Parallel()

	a, session := endOf(tarsy.SessionCompleted)
	m := message.New(a, session, nil, "")

	require.JSONEq(t, `{"text": "It \"leaks\"."}`, render(t, `{"text": {{json .Analysis}}}`, m))
	require.Equal(t, "nobody, high", render(t, `{{default "nobody" .Team}}, {{default "none" .Severity}}`, m))
	require.Equal(t, "b -", render(t, `{{.Labels.a}} {{default "-" .Labels.missing}}`, m))
}

func TestDefaultNoteIsShort(t *testing.T) {
	t.Parallel()

	a, session := endOf(tarsy.SessionCompleted)
	m := message.New(a, session, nil, "https://tarsy.example.org/sessions/s1")
	require.Equal(t, "TARSy investigation completed: Disk full\n\nA <leak>.\n\nhttps://tarsy.example.org/sessions/s1", render(t, message.DefaultNote, m))

	a, session, verdict := endWith()
	require.Equal(t, "TARSy investigation completed: Disk full\n\nProbable cause: The \"cache\" has no bound (medium confidence)\nNext step: Restart it\n\nA <leak>.",
		render(t, message.DefaultNote, message.New(a, session, verdict, "")))

	verdict.Outcome, verdict.Cause, verdict.NextSteps = tarsy.OutcomeInconclusive, tarsy.Claim{}, nil
	require.Equal(t, "TARSy investigation completed: Disk full\n\nInconclusive (medium confidence)\n\nA <leak>.",
		render(t, message.DefaultNote, message.New(a, session, verdict, "")))

	m.Event, m.URL = message.Started, ""
	require.Equal(t, "TARSy started to investigate: Disk full", render(t, message.DefaultNote, m))

	m.Event, m.Status, m.Summary, m.Error = message.Failed, tarsy.SessionTimedOut, "", "Too slow."
	require.Equal(t, "TARSy investigation timed_out: Disk full\n\nToo slow.", render(t, message.DefaultNote, m))
}

func TestTemplatesThatWouldFailAreRefused(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		`{{.Title`:                  "invalid template",
		`{{.Nope}}`:                 "can't evaluate field Nope",
		`{{nope .Title}}`:           `function "nope" not defined`,
		`{{json (index .Links 0)}}`: "the template fails", // a message without links
		`{"text": "{{.Title}}"}`:    "does not make JSON",
		`plain text`:                "does not make JSON",
		strings.Repeat("x", 4<<20) + "{{.Title}}": "longer than 4 MiB",
	} {
		_, err := message.Parse(text, true)
		require.ErrorContains(t, err, want)
	}
}
