package discord

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	client "tarsy.dev/tarsy/flow/discord"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres/outbox"
)

func TestHostileTextIsHarmless(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"[the log](https://evil.example)":         "[the log] (https://evil.example)",
		"[the log](<https://evil.example>)":       "[the log] (<https://evil.example>)",
		"<@123> <@&4> <#5> @everyone @here":       "<\u200b@123> <\u200b@&4> <\u200b#5> @\u200beveryone @\u200bhere",
		"```go\nrows[i](x)\n```":                  "```go\nrows[i](x)\n```",
		"``` [a](https://evil.example)":           "``` [a] (https://evil.example)",
		"```\na\n``` [b](c) ```\nd[e](f)\n``` g":  "```\na\n``` [b] (c) ```\nd[e](f)\n``` g",
		"a plain sentence, with `code` and **b**": "a plain sentence, with `code` and **b**",
	} {
		require.Equal(t, want, inert(text))
	}

	require.NotContains(t, inert("safe\u202egpj.exe"), "\u202e", "direction is not changed")
	require.Equal(t, `\*\*disk\*\* \[full\] \(x\)`, literal("**disk**\n[full](x)"))
}

func TestLongAnnouncementKeepsLinkAndFitsInOneMessage(t *testing.T) {
	t.Parallel()

	const link = "<https://tarsy.example.org/sessions/01234567-0123-7123-8123-0123456789ab>"

	for name, text := range map[string]string{
		"sentences": strings.Repeat("A long sentence about a disk. ", 500), "code": "```\n" + strings.Repeat("x\n", 5000) + "```",
		"links": strings.Repeat("[a](b)", 2000), "emoji": strings.Repeat("😀", 5000),
	} {
		said := endText(outbox.SessionOutcome{
			Status: tarsy.SessionCompleted, AlertType: strings.Repeat("_", 500), ExecutiveSummary: text,
			Severity: tarsy.SeverityCritical, Service: strings.Repeat("_", 500), Namespace: strings.Repeat("*", 500),
		}, link)
		require.LessOrEqual(t, tarsy.UTF16Len(said), maxMessage, name)
		require.True(t, strings.HasSuffix(said, "\n"+link), name)
		require.Zero(t, strings.Count(said, fence)%2, name)
	}
}

func TestAnswerIsWrittenInMarkupOfDiscord(t *testing.T) {
	t.Parallel()

	markup := answerMarkup()
	require.Equal(t, `-# Tool call: k8s.get\_pods`, markup.Call("k8s.get_pods"))
	require.Equal(t, "**It** leaks: [log] (x)", markup.Text("**It** leaks: [log](x)"))
	require.Equal(t, "**The answer failed:** the model is down", markup.Failed("the model is down"))
}

func TestVeryLongAnswerIsCutWithLink(t *testing.T) {
	t.Parallel()

	parts := split(strings.Repeat("A long sentence about a disk. ", 5000), "the link")
	require.Len(t, parts, maxParts)
	require.Contains(t, parts[maxParts-1], "the link")
}

func TestNoncesAreDistinctAndShort(t *testing.T) {
	t.Parallel()

	a, b := ident.New(), ident.New()
	seen := map[string]bool{}

	for _, id := range []string{a, b} {
		for part := range maxParts {
			n := nonce(id, part)
			require.LessOrEqual(t, len(n), 25)
			require.Equal(t, n, nonce(id, part))
			seen[n] = true
		}
	}

	require.Len(t, seen, 2*maxParts)
}

func TestEveryListMustAllow(t *testing.T) {
	t.Parallel()

	m := client.Message{GuildID: "1", ChannelID: "20", ParentID: "2", RoleIDs: []string{"3", "4"}}
	direct := m
	direct.GuildID = ""

	for _, test := range []struct {
		access Access
		m      client.Message
		want   bool
	}{
		{Access{}, m, false},
		{Access{Guilds: []string{"1"}, Channels: []string{"2"}, Roles: []string{"4"}}, m, true},
		{Access{Guilds: []string{"1"}, Channels: []string{"20"}, Roles: []string{"*"}}, m, true},
		{Access{Guilds: []string{"*"}, Channels: []string{"*"}, Roles: []string{"*"}}, m, true},
		{Access{Guilds: []string{"*"}, Channels: []string{"*"}, Roles: []string{"*"}}, direct, false},
		{Access{Guilds: []string{"9"}, Channels: []string{"*"}, Roles: []string{"*"}}, m, false},
		{Access{Guilds: []string{"*"}, Channels: []string{"9"}, Roles: []string{"*"}}, m, false},
		{Access{Guilds: []string{"*"}, Channels: []string{"*"}, Roles: []string{"9"}}, m, false},
		{Access{Guilds: []string{"*"}, Channels: []string{"*"}}, m, false},
		{Access{Guilds: []string{"*"}, Roles: []string{"*"}}, m, false},
		{Access{Channels: []string{"*"}, Roles: []string{"*"}}, m, false},
	} {
		require.Equal(t, test.want, test.access.allows(test.m), "%+v", test.access)
	}
}

func TestAnnouncementHasOutcomeCauseAndFirstStep(t *testing.T) {
	t.Parallel()

	outcome := outbox.SessionOutcome{
		Status: tarsy.SessionCompleted, Title: "Disk full", Severity: tarsy.SeverityHigh, ExecutiveSummary: "A **leak**.",
		Verdict: &tarsy.Verdict{
			Outcome: tarsy.OutcomeProbableCause, Cause: tarsy.Claim{Text: "checkout *leaks* [call 1.1.1]"}, Confidence: tarsy.ConfidenceMedium,
			NextSteps: []tarsy.NextStep{{Title: "Restart it", Risk: tarsy.RiskLow, Reversible: true}, {Title: "Then look"}},
		},
	}
	require.Equal(t, "**Probable cause:** Disk full (high)\nCause: checkout \\*leaks\\* (medium confidence)\nNext step: Restart it (low risk, reversible)\n\n"+
		"A **leak**.\nlink", endText(outcome, "link"))

	outcome.Verdict = &tarsy.Verdict{Outcome: tarsy.OutcomeFalseAlarm, Confidence: tarsy.ConfidenceHigh}
	require.Equal(t, "**False alarm:** Disk full (high)\nA **leak**.\nlink", endText(outcome, "link"))
}

// A verdict in which every character is escaped stays within Discord's limits and keeps the link.
func TestLongVerdictFitsInOneMessage(t *testing.T) {
	t.Parallel()

	const link = "<https://tarsy.example.org/sessions/01234567-0123-7123-8123-0123456789ab>"

	for _, text := range []string{"*", "\u202e", "@here", "<@1>", "😀", "```", "a "} {
		long := strings.Repeat(text, 1000)
		said := endText(outbox.SessionOutcome{
			Status: tarsy.SessionCompleted, AlertType: strings.Repeat("_", 500), Title: long, Service: long, Severity: tarsy.SeverityCritical,
			ExecutiveSummary: long, Verdict: &tarsy.Verdict{
				Outcome: tarsy.OutcomeProbableCause, Cause: tarsy.Claim{Text: long}, Confidence: tarsy.ConfidenceMedium,
				NextSteps: []tarsy.NextStep{{Title: long, Risk: tarsy.RiskMedium}},
			},
		}, link)
		require.LessOrEqual(t, tarsy.UTF16Len(said)+len("\nAsk questions or give `!feedback` in <#1234567890123456789>."), maxMessage, text)
		require.True(t, strings.HasSuffix(said, link), text)
		require.Contains(t, said, "Next step: ", text)
		require.NotContains(t, said, "\u202e")
	}
}

func TestAnnouncementNamesTitleSeverityAndService(t *testing.T) {
	t.Parallel()

	outcome := outbox.SessionOutcome{
		Status: tarsy.SessionFailed, AlertType: "pod-oom", Title: "Pod *cart* was killed", Severity: tarsy.SeverityHigh, Service: "cart", Namespace: "shop",
		ErrorMessage: "no quota",
	}
	require.Equal(t, "**Investigation failed:** Pod \\*cart\\* was killed (high, shop/cart)\nno quota\nlink", endText(outcome, "link"))
	require.Equal(t, "Pod *cart* was killed 123456", threadName(outcome, "00123456"))

	// Sessions from old releases have no title.
	outcome = outbox.SessionOutcome{Status: tarsy.SessionFailed, AlertType: "pod-oom", ErrorMessage: "no quota"}
	require.Equal(t, "**Investigation failed:** pod\\-oom\nno quota\nlink", endText(outcome, "link"))
	require.Equal(t, "pod-oom 123456", threadName(outcome, "00123456"))
}
