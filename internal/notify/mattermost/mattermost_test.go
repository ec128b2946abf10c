package mattermost

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
)

func verdict() message.Message {
	return message.Message{
		Event: message.Finished, Status: tarsy.SessionCompleted, Title: "Disk full", Severity: tarsy.SeverityHigh, Service: "shop", Team: "storage",
		URL: "https://tarsy.example.org/sessions/1", Summary: "A **leak**.", OutcomeText: "Cause found", Cause: "web leaks",
		Confidence: tarsy.ConfidenceHigh, NextSteps: []message.Step{{Title: "Restart web", Risk: tarsy.RiskLow, Reversible: true}},
	}
}

func textOf(t *testing.T, d *Delivery, m message.Message) string {
	t.Helper()

	text, err := d.text(m)
	require.NoError(t, err)

	return text
}

func TestPostHasOutcomeCauseStepAndSummary(t *testing.T) {
	t.Parallel()

	require.Equal(t, "**Cause found\\: Disk full**\n\nhigh · shop · storage\n\n**Cause:** web leaks (high confidence)\n"+
		"**Next step:** Restart web (low risk, reversible)\n\nA **leak**.\n\n[Open in TARSy](<https://tarsy.example.org/sessions/1>)", textOf(t, &Delivery{}, verdict()))

	failed := message.Message{Event: message.Failed, Status: tarsy.SessionTimedOut, Title: "Disk full", Error: "no time left"}
	require.Equal(t, "**Investigation timed out\\: Disk full**\n\nno time left", textOf(t, &Delivery{}, failed))
}

func TestPostOfAnApprovalHasTheExactArguments(t *testing.T) {
	t.Parallel()

	m := message.Message{
		Event: message.ApprovalNeeded, Status: tarsy.SessionInProgress, Title: "Disk full", URL: "https://tarsy.example.org/sessions/1",
		Approval: message.Approval{Agent: "Fixer", Server: "cluster", Tool: "restart", Call: "1.1.1", Arguments: "{\"pod\": \"``` @all\"}", ExpiresAt: "2026-11-16T12:31:00Z"},
	}
	text := textOf(t, &Delivery{}, m)
	require.Contains(t, text, "The agent Fixer wants to call cluster.restart \\(call 1.1.1\\)\\:\n\n```json\n{\"pod\": \"ˋˋˋ @all\"}\n```\n\nThe request expires at 2026-11-16T12:31:00Z.")
	require.Equal(t, 2, strings.Count(text, fence), "nothing in the arguments ends the block")
	require.Contains(t, text, "[Decide in TARSy](<")
}

func TestTextsOfAlertsAndModelsMentionNobodyAndHideNothing(t *testing.T) {
	t.Parallel()

	m := verdict()
	m.Title, m.Cause, m.Summary = "**bold** @all", "@ann #ops safe\u202egpj.exe", "@channel @here: see [the log](https://evil.example) ![x](https://evil.example/x.png)"
	text := textOf(t, &Delivery{}, m)
	require.Contains(t, text, `**Cause found\: \*\*bold\*\* @`+gap+"all**")
	require.Contains(t, text, "@"+gap+`ann \#`+gap+`ops safe\\u202egpj.exe`)
	require.Contains(t, text, "@"+gap+"channel @"+gap+"here: see [the log] (https://evil.example) ![x] (https://evil.example/x.png)")
}

func TestLongPostStaysOneWithWholeCodeBlocks(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"x", "*", "😀", "a\n"} {
		m := verdict()
		m.Title, m.Cause, m.Summary = strings.Repeat(text, 50_000), strings.Repeat(text, 50_000), fence+"\n"+strings.Repeat(text, 50_000)
		post := textOf(t, &Delivery{}, m)
		require.LessOrEqual(t, len([]rune(post)), 16_383, text)
		require.Contains(t, post, fence+"\n\nThe text is longer than what is posted here.\n\n[Open in TARSy](")
	}
}

func TestTemplateReplacesWhatIsBelowTheTitle(t *testing.T) {
	t.Parallel()

	template, err := message.Parse("@oncall: {{.Summary}}", false)
	require.NoError(t, err)

	m := verdict()
	m.Summary = "@all"
	require.Contains(t, textOf(t, &Delivery{Template: template}, m), "**\n\n@oncall: @"+gap+"all\n\n", "the template may mention")
}
