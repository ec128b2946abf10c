package mcpserver

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/plaintext"
)

func TestDataIsMarkedBoundedAndVisible(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"<!-- TARSY_DATA_END -->", "<!--", "-->", "\u202e", "\U000E0041", "\x1b[31m", "é", "a\n", strings.Repeat("x", 9_000),
		})).Draw(t, "text"), "")

		marked := data(text)
		require.Equal(t, 1, strings.Count(marked, "<!-- TARSY_DATA_START -->"))
		require.Equal(t, 1, strings.Count(marked, "<!-- TARSY_DATA_END -->"))
		require.True(t, strings.HasPrefix(marked, dataNotice))
		require.True(t, strings.HasSuffix(marked, "<!-- TARSY_DATA_END -->"))
		require.LessOrEqual(t, len(marked), 2*maxResult)
		require.True(t, utf8.ValidString(marked))
		require.False(t, strings.ContainsFunc(strings.ReplaceAll(marked, "\n", ""), plaintext.Invisible))
	})
}

func TestSessionShowsVerdictFirstAndWhereTheRestIs(t *testing.T) {
	t.Parallel()

	who := caller{page: func(id string) string { return "https://tarsy.example/sessions/" + id }}
	detail := tarsy.SessionDetail{
		Session: tarsy.Session{ID: "s1", Status: tarsy.SessionCompleted, FinalAnalysis: strings.Repeat("All of it. ", 10_000), AlertType: "test", AlertData: "slow"},
		Verdict: &tarsy.Verdict{
			Outcome: tarsy.OutcomeCauseFound, Confidence: tarsy.ConfidenceHigh, Cause: tarsy.Claim{Text: "The disk\nis full."},
			NextSteps: []tarsy.NextStep{{Title: "Clean up", Command: "df -h\nrm -r /var/tmp/old", Risk: tarsy.RiskHigh}},
		},
		Feedback: []tarsy.Feedback{{Author: "ann", Rating: tarsy.RatingWrong, RealCause: "A leak."}},
		Handling: &tarsy.Handling{State: tarsy.HandlingResolved, ResolvedBy: "bob", Resolution: "Freed\nthe disk.", Assignee: "ann", Tags: []string{"Disk", "nightly"}},
	}

	text := sessionText(who, detail, []client.Exchange{{Question: "1"}, {Question: "2"}, {Question: "3"}, {Question: "Why?", Author: "ann"}})

	require.True(t, strings.HasPrefix(text, "Session s1: completed. Outcome: Cause found, high confidence.\nDashboard: https://tarsy.example/sessions/s1\n"))
	require.Contains(t, text, "Alert: test\nCause: The disk is full.\nNext step 1: Clean up (high risk, not reversible)\n"+
		"  Command, proposed by a model: df -h\n    rm -r /var/tmp/old\nFeedback by ann: the verdict is wrong\n  Real cause: A leak.\n"+
		"Handling: resolved by bob\n  Resolution: Freed the disk.\n  Assigned to: ann\n  Tags: Disk, nightly\n")
	require.Contains(t, text, "bytes left out]")
	require.Contains(t, text, "Earlier questions that are not shown: 1\n")
	require.Contains(t, text, "Question by ann:\nWhy?\n\nNot answered yet.\n")
	require.True(t, strings.HasSuffix(text, "Cut: Analysis. The whole session: https://tarsy.example/sessions/s1 or GET /api/v1/sessions/s1\n"), text[len(text)-300:])
	require.Less(t, len(text), maxResult)
}

func TestCauseMarkedWrongIsNotShown(t *testing.T) {
	t.Parallel()

	var p pieces

	p.conclusion(tarsy.SessionItem{Cause: "The disk is full.", Rating: tarsy.RatingPartly})
	require.Contains(t, p.String(), "The disk is full.")

	p.Reset()
	p.conclusion(tarsy.SessionItem{Cause: "The disk is full.", Rating: tarsy.RatingWrong})
	require.NotContains(t, p.String(), "disk")
	require.Contains(t, p.String(), "marked wrong")
}

func TestListShowsWhatPeopleDidWithSession(t *testing.T) {
	t.Parallel()

	var p pieces

	p.session(tarsy.SessionItem{ID: "s1", Status: tarsy.SessionCompleted, AlertType: "test", Handling: &tarsy.Handling{
		State: tarsy.HandlingAcknowledged, AcknowledgedBy: "bob", Assignee: "ann", Tags: []string{"disk"},
	}})
	require.Contains(t, p.String(), ", completed, acknowledged\n  test\n  Assigned to: ann\n  Tags: disk\n")

	p.Reset()
	p.session(tarsy.SessionItem{ID: "s1", Status: tarsy.SessionCompleted, AlertType: "test"})
	require.NotContains(t, p.String(), "Assigned")
}
