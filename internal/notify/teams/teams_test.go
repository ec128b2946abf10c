package teams

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
)

func verdict() message.Message {
	return message.Message{
		Event: message.Finished, Status: tarsy.SessionCompleted, Title: "Disk full", Severity: tarsy.SeverityHigh, Service: "shop", Team: "storage",
		URL: "https://tarsy.example.org/sessions/1", Summary: "A **leak**.\n\n- web\n- api", OutcomeText: "Cause found", Cause: "web leaks",
		Confidence: tarsy.ConfidenceHigh, NextSteps: []message.Step{{Title: "Restart web", Risk: tarsy.RiskLow, Reversible: true}},
	}
}

func cardOf(t *testing.T, d *Delivery, m message.Message) card {
	t.Helper()

	body, err := d.payload(m)
	require.NoError(t, err)
	require.LessOrEqual(t, len(body), maxCard)

	var sent post
	require.NoError(t, json.Unmarshal(body, &sent))
	require.Equal(t, "message", sent.Type)
	require.Len(t, sent.Attachments, 1)
	require.Equal(t, "application/vnd.microsoft.card.adaptive", sent.Attachments[0].ContentType)

	return sent.Attachments[0].Content
}

// shown returns what people read, one line per block: verbatim texts in quotes, Markdown without.
func shown(c card) []string {
	var all []string

	for _, b := range c.Body {
		if b.Type == "TextBlock" {
			all = append(all, b.Text)

			continue
		}

		var line strings.Builder
		for _, r := range b.Inlines {
			line.WriteString(r.Text)
		}

		all = append(all, `"`+line.String()+`"`)
	}

	return all
}

func TestCardHasOutcomeCauseStepAndSummary(t *testing.T) {
	t.Parallel()

	c := cardOf(t, &Delivery{}, verdict())
	require.Equal(t, []string{
		`"Cause found: Disk full"`, `"high · shop · storage"`, `"Cause: web leaks (high confidence)"`, `"Next step: Restart web (low risk, reversible)"`,
		"A **leak**.", "- web", "- api",
	}, shown(c))
	require.Equal(t, []action{{"Action.OpenUrl", "Open in TARSy", "https://tarsy.example.org/sessions/1"}}, c.Actions)
	require.Equal(t, "AdaptiveCard", c.Type)

	failed := message.Message{Event: message.Failed, Status: tarsy.SessionTimedOut, Title: "Disk full", Error: "no time left"}
	require.Equal(t, []string{`"Investigation timed out: Disk full"`, "no time left"}, shown(cardOf(t, &Delivery{}, failed)))
	require.Empty(t, cardOf(t, &Delivery{}, failed).Actions, "there is no address")
}

func TestCardOfAnApprovalHasTheExactArguments(t *testing.T) {
	t.Parallel()

	m := message.Message{
		Event: message.ApprovalNeeded, Status: tarsy.SessionInProgress, Title: "Disk full", URL: "https://tarsy.example.org/sessions/1",
		Approval: message.Approval{Agent: "Fixer", Server: "cluster", Tool: "restart", Call: "1.1.1", Arguments: "{\n  \"pod\": \"**web**\"\n}", ExpiresAt: "2026-11-16T12:31:00Z"},
	}
	c := cardOf(t, &Delivery{}, m)
	require.Equal(t, []string{
		`"Approval needed: Disk full"`, `"The agent Fixer wants to call cluster.restart (call 1.1.1):"`, `"{"`, `"  "pod": "**web**""`, `"}"`,
		`"The request expires at 2026-11-16T12:31:00Z."`,
	}, shown(c))
	require.Equal(t, "Decide in TARSy", c.Actions[0].Title)
}

// Teams rejects messages of more than 28 KB, however many bytes a character takes.
func TestEveryCardFits(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"x", "\"", "\u202e", "ä", "😀", "\n", "a\n", "<"} {
		m := verdict()
		m.Title, m.Cause, m.Summary = strings.Repeat(text, 50_000), strings.Repeat(text, 50_000), strings.Repeat(text, 50_000)
		lines := shown(cardOf(t, &Delivery{}, m))

		if strings.TrimSpace(text) != "" {
			require.Equal(t, `"The text is longer than what is posted here."`, lines[len(lines)-1], "%q", text)
		}
	}
}

func TestTextsOfAlertsAndModelsHideNothing(t *testing.T) {
	t.Parallel()

	m := verdict()
	m.Title, m.Cause, m.Summary = "**bold** [log](https://evil.example)", "safe\u202egpj.exe", "See [the log](https://evil.example) and \u200b."
	lines := shown(cardOf(t, &Delivery{}, m))
	require.Equal(t, `"Cause found: **bold** [log](https://evil.example)"`, lines[0], "a text run has no Markdown")
	require.Equal(t, `"Cause: safe\u202egpj.exe (high confidence)"`, lines[2])
	require.Equal(t, `See [the log] (https://evil.example) and \u200b.`, lines[4])
}

func TestTemplateReplacesWhatIsBelowTheTitle(t *testing.T) {
	t.Parallel()

	template, err := message.Parse("**{{.Team}}**: {{.Summary}}", false)
	require.NoError(t, err)

	m := verdict()
	m.Summary = "[log](https://evil.example)"
	require.Equal(t, []string{`"Cause found: Disk full"`, "**storage**: [log] (https://evil.example)"}, shown(cardOf(t, &Delivery{Template: template}, m)))
}
