package watch

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/client/live"
)

// conclusion returns a verdict with all fields set.
func conclusion() *tarsy.Verdict {
	claim := func(text string) tarsy.Claim { return tarsy.Claim{Text: text, Citations: []tarsy.Citation{}} }

	return &tarsy.Verdict{
		ID: "v", SessionID: sessionID, Outcome: tarsy.OutcomeProbableCause, Cause: claim("the cache of checkout has no bound [call 1.1.1]"),
		Confidence: tarsy.ConfidenceMedium, ConfidenceReason: claim("Memory grows with the number of carts, but the heap itself was not read. [call 1.1.1]"),
		Impact: claim("One checkout in eight fails."),
		NextSteps: []tarsy.NextStep{
			{
				Title: "Restart checkout", Why: claim("It frees the memory for about an hour, which is enough to ship the bound."),
				Command: "kubectl --namespace shop rollout restart deployment/checkout --field-manager tarsy\nkubectl get pods",
				URL:     "https://runbooks.example/checkout", Risk: tarsy.RiskLow, Reversible: true,
			},
			{Title: "Drop the table of carts", Risk: tarsy.RiskHigh},
			{Title: "Read the heap", Risk: tarsy.RiskNone, Reversible: true},
		},
		NotChecked: []tarsy.Claim{claim("The database."), claim("The other clusters.")},
		CreatedAt:  at(6),
	}
}

// judged returns the updates of a session that ends with a verdict.
func judged(s *story) []client.Update {
	return append(s.begin(),
		s.event(tarsy.TimelineCreated(timeline("a", tarsy.EventFinalAnalysis, tarsy.EventCompleted, "It is the cache.", 5))),
		s.event(tarsy.StageStatusChanged(tarsy.Stage{ID: "stage", SessionID: sessionID, StageName: "investigation", StageIndex: 1, Status: tarsy.StatusCompleted}, at(5))),
		s.event(tarsy.SessionVerdict(*conclusion(), at(6))),
		s.session(tarsy.SessionCompleted, 6))
}

func TestVerdictIsAtTheEndOfScreenAndLines(t *testing.T) {
	t.Parallel()

	var (
		s   story
		out strings.Builder
	)

	m := screen(&fake{})
	session := live.NewSession(detail())
	lines := NewLines(&out, session)
	lines.Location, lines.Width = time.UTC, 80
	updates := judged(&s)

	for _, u := range updates {
		play(m, u)

		if IsVerdict(u) {
			session.Verdict = conclusion()
		}

		lines.Take(u)
	}

	require.Contains(t, show(m), "Probable cause: the cache of checkout has no bound")
	require.NotContains(t, show(m), "Next steps", "the event has no more")

	m.Update(verdictMsg{id: sessionID, verdict: conclusion()})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 48})
	m.Update(tickMsg(at(60)))
	golden(t, "verdict", show(m))
	golden(t, "verdict_lines", strings.TrimSuffix(out.String(), "\n"))

	var reloaded strings.Builder

	detail := detail()
	detail.Status, detail.StartedAt, detail.CompletedAt, detail.Verdict = tarsy.SessionCompleted, new(at(1)), new(at(6)), conclusion()
	NewLines(&reloaded, live.NewSession(detail)).Take(client.Update{Reloaded: &client.Reloaded{Detail: detail}})
	require.Contains(t, reloaded.String(), "verdict   Probable cause: ")
}

func TestVerdictOfOtherSessionIsNotShown(t *testing.T) {
	t.Parallel()

	m := screen(&fake{})
	m.Update(verdictMsg{id: "another", verdict: conclusion()})
	require.Nil(t, m.session.Verdict)
}

func TestHostileVerdictCannotControlTerminal(t *testing.T) {
	t.Parallel()

	const hostile = "a\x1b[2J\u202e\nb\tc\x07"

	raw, err := json.Marshal(conclusion())
	require.NoError(t, err)

	var fields map[string]any

	require.NoError(t, json.Unmarshal(raw, &fields))
	poison(fields, hostile)

	raw, err = json.Marshal(fields)
	require.NoError(t, err)

	var verdict tarsy.Verdict

	require.NoError(t, json.Unmarshal(raw, &verdict))

	for _, width := range []int{0, 1, 30} {
		text := strings.Join(VerdictLayout{Width: width}.Lines(verdict), "\n")
		require.NotContains(t, text, "\x1b", width)
		require.NotContains(t, text, "\x07", width)
		require.NotContains(t, text, "\u202e", width)
	}
}

// poison replaces all texts except times.
func poison(fields map[string]any, text string) {
	for name, value := range fields {
		switch value := value.(type) {
		case map[string]any:
			poison(value, text)
		case []any:
			for _, item := range value {
				if item, ok := item.(map[string]any); ok {
					poison(item, text)
				}
			}
		case string:
			if name != "created_at" {
				fields[name] = text
			}
		}
	}
}

func TestVerdictFitsWidth(t *testing.T) {
	t.Parallel()

	for _, width := range []int{10, 40, 80, 120} {
		for _, line := range (VerdictLayout{Width: width}).Lines(*conclusion()) {
			require.LessOrEqual(t, terminal.Width(line), width, line)
		}
	}

	whole := strings.Join(VerdictLayout{Width: 40, WholeCommands: true}.Lines(*conclusion()), "\n")
	require.Contains(t, whole, "   $ kubectl --namespace shop rollout restart deployment/checkout --field-manager tarsy\n     kubectl get pods\n")
}
