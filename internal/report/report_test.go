package report_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/report"
)

var update = flag.Bool("update", false, "write the golden files")

// IDs of the session that the tests report on.
const (
	sessionID = "019a0000-0000-7000-8000-000000000001"
	analysis  = "019a0000-0000-7000-8000-000000000011"
	synthesis = "019a0000-0000-7000-8000-000000000012"
	chat      = "019a0000-0000-7000-8000-000000000013"
	optimist  = "019a0000-0000-7000-8000-000000000021"
	pessimist = "019a0000-0000-7000-8000-000000000022"
	merger    = "019a0000-0000-7000-8000-000000000023"
	answerer  = "019a0000-0000-7000-8000-000000000024"
)

func at(second int) time.Time { return time.Date(2026, 11, 15, 10, 0, second, 0, time.UTC) }

// event returns a timeline event of an execution; number is also its second.
func event(number int, stage, execution string, kind tarsy.EventType, content string, metadata tarsy.Metadata) tarsy.TimelineEvent {
	e := tarsy.TimelineEvent{
		ID: "019a0000-0000-7000-8000-0000000001" + string(rune('0'+number/10)) + string(rune('0'+number%10)), SessionID: sessionID,
		SequenceNumber: int64(number), EventType: kind, Status: tarsy.EventCompleted, Content: content, Metadata: metadata,
		CreatedAt: at(number), UpdatedAt: at(number), CompletedAt: new(at(number)),
	}
	if execution != "" {
		e.StageID, e.ExecutionID = &stage, &execution
	}

	return e
}

func stage(id, name string, kind tarsy.StageType, index int, executions ...tarsy.ExecutionDetail) tarsy.StageDetail {
	return tarsy.StageDetail{
		Stage: tarsy.Stage{
			ID: id, SessionID: sessionID, StageName: name, StageType: kind, StageIndex: index, ExpectedAgentCount: len(executions),
			Status: tarsy.StatusCompleted, CreatedAt: at(index), StartedAt: new(at(index)), CompletedAt: new(at(index * 10)),
		},
		Executions: executions,
	}
}

func execution(id, name string, index int) tarsy.ExecutionDetail {
	return tarsy.ExecutionDetail{
		Execution: tarsy.Execution{
			ID: id, SessionID: sessionID, AgentName: name, AgentIndex: index, LLMProvider: "google", Status: tarsy.StatusCompleted,
			StartedAt: new(at(1)), CompletedAt: new(at(9)),
		},
		Spend: tarsy.Spend{Usage: tarsy.Usage{TotalTokens: 1_200, CostUSD: 0.0125}, ToolCalls: 1},
	}
}

// withTexts replaces every text in metadata, except for the number of a call.
func withTexts(t *testing.T, metadata tarsy.Metadata, text string) tarsy.Metadata {
	t.Helper()

	if metadata == nil {
		return nil
	}

	var keys map[string]any

	require.NoError(t, json.Unmarshal(metadata, &keys))

	for key, value := range keys {
		if _, ok := value.(string); ok && key != "call" {
			keys[key] = text
		}
	}

	raw, err := json.Marshal(keys)
	require.NoError(t, err)

	return raw
}

// investigation returns a session with two agents, a synthesis and a question.
func investigation() *tarsy.Export {
	failed := execution(pessimist, "Pessimist", 2)
	failed.Status, failed.Usage = tarsy.StatusFailed, tarsy.Usage{}

	call := func(number string, failed bool) tarsy.Metadata {
		return tarsy.NewMetadata(tarsy.ToolCallMetadata{
			Call: number, ServerName: "kubernetes", ToolName: "get_pods", Arguments: json.RawMessage(`{"namespace":"shop"}`),
			ToolCallResult: &tarsy.ToolCallResult{IsError: failed, Attempt: 1, DurationMs: 42},
		})
	}

	thought := event(1, analysis, optimist, tarsy.EventThinking, "I should *look*.\nAnd then think.", nil)
	first := event(2, analysis, optimist, tarsy.EventToolCall, "web-1 CrashLoopBackOff <none>\n", call("1.1.1", false))
	summary := event(3, analysis, optimist, tarsy.EventToolSummary, "web-1 is down", tarsy.NewMetadata(tarsy.ToolSummaryMetadata{ToolCallEventID: first.ID}))
	second := event(4, analysis, optimist, tarsy.EventToolCall, "forbidden", call("1.1.2", true))
	gone := event(5, analysis, pessimist, tarsy.EventError, "no quota", tarsy.NewMetadata(tarsy.ErrorMetadata{Code: "llm_error"}))
	gone.Status = tarsy.EventFailed
	final := "# Root cause\n\nThe pod is out of memory [call 1.1.1].\n\n```yaml\nlimits:\n  memory: 64Mi\n```\n\n1. Raise it [call 1.1.2, 9.9.9]."
	answer := "Because of the release [call 1.1.1]."

	return &tarsy.Export{
		ExportedAt: at(59),
		Session: tarsy.SessionDetail{
			Session: tarsy.Session{
				ID: sessionID, AlertType: "PodCrash|Loop", AlertData: "pod web-1\nrestarted 12 times", ChainID: "kubernetes", Author: "ann@example.org",
				Status: tarsy.SessionCompleted, Outcome: tarsy.OutcomeProbableCause, ConcludedEarly: "budget", RerunOf: new("019a0000-0000-7000-8000-000000000099"),
				FinalAnalysis: final, ExecutiveSummary: "The pod **web-1** needs more memory.", StageCount: 2,
				CreatedAt: at(0), StartedAt: new(at(1)), CompletedAt: new(at(20)),
				AlertFacts: tarsy.AlertFacts{
					Title: "Pod web-1 | crash loop", Severity: tarsy.SeverityHigh, Service: "web", Namespace: "shop", Cluster: "eu-1", Team: "payments",
					Labels: map[string]string{"pod": "web-1", "env": "prod"}, StartsAt: new(at(0)),
					Links: []tarsy.AlertLink{{Kind: tarsy.LinkRunbook, URL: "https://runbooks.example/crash"}},
				},
			},
			Feedback: []tarsy.Feedback{
				{Author: "bob", Rating: tarsy.RatingWrong, Why: "The <pod>\nis fine", RealCause: "an expired *certificate*", UpdatedAt: at(50)},
				{Author: "eve|", Rating: tarsy.RatingRight, UpdatedAt: at(40)},
			},
			Handling: &tarsy.Handling{
				State: tarsy.HandlingResolved, Assignee: "ana|", AcknowledgedBy: "ana", AcknowledgedAt: new(at(41)), ResolvedBy: "bob", ResolvedAt: new(at(52)),
				Resolution: "Renewed the *certificate*.\n# Done", Tags: []string{"<capacity>", "tls"}, Version: 3, UpdatedAt: new(at(52)), UpdatedBy: "bob",
			},
			Verdict: &tarsy.Verdict{
				Outcome: tarsy.OutcomeProbableCause, Cause: tarsy.Claim{Text: "web-1 has *too little* memory [call 1.1.1]"},
				Confidence: tarsy.ConfidenceMedium, ConfidenceReason: tarsy.Claim{Text: "One pod of three was read [call 1.1.2]."},
				Impact: tarsy.Claim{Text: "A third of the requests fails."}, NotChecked: []tarsy.Claim{{Text: "The other <clusters>."}},
				NextSteps: []tarsy.NextStep{
					{
						Title: "Raise the limit", Why: tarsy.Claim{Text: "64Mi is less than it needs."}, Command: "kubectl set resources deploy/web --limits memory=128Mi",
						URL: "https://runbooks.example/memory", Risk: tarsy.RiskLow, Reversible: true,
					},
					{Title: "Delete the volume", Risk: tarsy.RiskHigh},
				},
			},
			Alert: &tarsy.AlertState{
				Firing: true, Occurrences: 12, LastAt: at(30), Flapping: true, EarlierSessionID: new("019a0000-0000-7000-8000-000000000098"),
			},
			Spend: tarsy.Spend{
				Usage: tarsy.Usage{
					InputTokens: 1_000_000, OutputTokens: 2_345, ThinkingTokens: 10, CachedTokens: 5, TotalTokens: 1_002_355, CostUSD: 1.25, UnpricedTokens: 1_000,
				},
				ToolCalls: 2,
			},
			Stages: []tarsy.StageDetail{
				stage(analysis, "analysis", tarsy.StageInvestigation, 1, execution(optimist, "Optimist", 1), failed),
				stage(synthesis, "analysis - Synthesis", tarsy.StageSynthesis, 2, execution(merger, "SynthesisAgent", 1)),
				stage(chat, "Chat", tarsy.StageChat, 3, execution(answerer, "ChatAgent", 1)),
			},
		},
		Timeline: []tarsy.TimelineEvent{
			thought, first, summary, second, gone,
			event(6, synthesis, merger, tarsy.EventFinalAnalysis, final, nil),
			event(7, "", "", tarsy.EventExecutiveSummary, "The pod **web-1** needs more memory.", nil),
			event(8, chat, answerer, tarsy.EventUserQuestion, "Why now?", tarsy.NewMetadata(tarsy.QuestionMetadata{Author: "bob"})),
			event(9, chat, answerer, tarsy.EventFinalAnalysis, answer, nil),
		},
	}
}

func TestReportIsReadyForTicket(t *testing.T) {
	t.Parallel()

	file := filepath.Join("testdata", "report.golden.md")
	got := report.Markdown(investigation())

	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o600))
	}

	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "run go test ./internal/report -update")
}

func TestJustStartedSessionHasReport(t *testing.T) {
	t.Parallel()

	got := report.Markdown(&tarsy.Export{Session: tarsy.SessionDetail{Session: tarsy.Session{
		ID: sessionID, AlertType: "test", AlertData: "x", Status: tarsy.SessionPending, CreatedAt: at(0),
	}}})

	require.Contains(t, got, "# test: pending\n")

	for _, part := range []string{"Verdict", "Final analysis", "Executive summary", "Evidence", "Questions", "Started", "Duration", "Cost"} {
		require.NotContains(t, got, part)
	}
}

func TestLongTextsAreShortenedAndMarked(t *testing.T) {
	t.Parallel()

	export := investigation()
	export.Session.AlertData = strings.Repeat("é", 20_000)
	export.Timeline[1].Content = strings.Repeat("log ", 2_000)

	for number := range 500 {
		export.Timeline = append(export.Timeline, event(number%60, analysis, optimist, tarsy.EventResponse, "again", nil))
	}

	got := report.Markdown(export)
	require.Contains(t, got, "[cut: about 24,000 of 40,000 bytes left out]")
	require.Contains(t, got, "[cut: about 4,000 of 8,000 bytes left out]")
	require.Contains(t, got, "- and 304 more\n")
	require.Less(t, len(got), 50_000)
}

// outside returns the lines that a Markdown reader finds outside of fenced code. All code blocks must be closed.
func outside(t *testing.T, text string) string {
	t.Helper()

	var (
		lines []string
		open  string
	)

	for line := range strings.SplitSeq(text, "\n") {
		mark := regexp.MustCompile("^`{3,}").FindString(line)

		switch {
		case open == "" && mark != "":
			open = mark
		case open != "" && line == mark && len(mark) >= len(open):
			open = ""
		case open == "":
			lines = append(lines, line)
		}
	}

	require.Empty(t, open, "code does not end")

	return strings.Join(lines, "\n")
}

// sections returns the headings at the report's own levels.
func sections(text string) []string {
	return regexp.MustCompile(`(?m)^ {0,3}##? .*$`).FindAllString(text, -1)
}

// hostileVerdict returns a verdict in which every text is the given one.
func hostileVerdict(text string) *tarsy.Verdict {
	claim := tarsy.Claim{Text: text}

	return &tarsy.Verdict{
		Outcome: tarsy.OutcomeCauseFound, Cause: claim, Confidence: tarsy.ConfidenceHigh, ConfidenceReason: claim, Impact: claim,
		NextSteps:  []tarsy.NextStep{{Title: text, Why: claim, Command: text, URL: text, Risk: tarsy.RiskLow}, {Title: text, Command: text}},
		NotChecked: []tarsy.Claim{claim, claim},
	}
}

func TestHostileTextCannotEscapeItsPlace(t *testing.T) {
	t.Parallel()

	want := sections(outside(t, report.Markdown(investigation())))
	require.Contains(t, want, "## Evidence")

	for name, hostile := range map[string]string{
		"a fence":              "```\n## Forged\n<img src=x>\n",
		"a long fence":         "``````````\n## Forged\n<img src=x>\n```",
		"tildes":               "~~~\n```\n## Forged\n~~~\n## Forged",
		"a fence in a list":    "- ```\n  ```\n## Forged <script>alert(1)</script>\n```",
		"carriage returns":     "x\r```\r## Forged\r<img src=x>\r```\r",
		"headings":             "# Forged 1\n## Forged 2\n   ## Forged 3\nForged 4\n---\nForged 5\n=\nForged 6\n-",
		"HTML":                 "<details><summary>x</summary>\n\n## Forged\n<!-- \n<img src=https://evil.example/x>",
		"HTML after a URL":     "https://a.example/<img src=x> https://a.example/<!-- www.a.example<b>",
		"an image":             "![x](https://evil.example/x) \\![x](https://evil.example/x) ![x][1]\n\n[1]: https://evil.example/x",
		"a table":              "x | y |\n| --- | --- |",
		"nothing but newlines": "\n\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			export := investigation()
			session := &export.Session
			session.AlertData, session.FinalAnalysis, session.ExecutiveSummary = hostile, "[call 1.1.1] "+hostile, "S "+hostile
			session.Author, session.ErrorMessage, session.ChainID = hostile, hostile, hostile
			session.Stages[0].StageName, session.Stages[0].Executions[0].AgentName = hostile, hostile
			session.Verdict = hostileVerdict(hostile)
			session.Feedback = []tarsy.Feedback{{Author: hostile, Rating: tarsy.RatingWrong, Why: hostile, RealCause: hostile}}
			session.Handling = &tarsy.Handling{
				State: tarsy.HandlingResolved, Assignee: hostile, AcknowledgedBy: hostile, AcknowledgedAt: new(at(1)), ResolvedBy: hostile, ResolvedAt: new(at(2)),
				Resolution: hostile, Tags: []string{hostile},
			}

			for i := range export.Timeline {
				export.Timeline[i].Content = hostile

				export.Timeline[i].Metadata = withTexts(t, export.Timeline[i].Metadata, hostile)
			}

			got := report.Markdown(export)
			text := outside(t, got)
			require.Equal(t, want, sections(text), got)
			require.NotRegexp(t, `<[a-zA-Z/!?]`, text, "a backslash escapes nothing behind a bare address")
			require.NotContains(t, text, "![")
			require.NotRegexp(t, "`{3}|~{3}", text, "no list or quotation begins code")
			require.NotRegexp(t, `(?m)^ {0,3}(=+|-+) *$`, text)

			_, facts, _ := strings.Cut(text, "\n## Session\n")
			facts, _, _ = strings.Cut(facts, "## Feedback")

			for row := range strings.SplitSeq(strings.TrimSpace(facts), "\n") {
				require.Regexp(t, `^\|([^|\\]|\\.)*\|([^|\\]|\\.)*\|$`, row, "a row has two cells")
			}
		})
	}
}

func TestReportOfManyQuestionsHasEveryAnswer(t *testing.T) {
	t.Parallel()

	const questions = 1_000

	export := investigation()

	for number := range questions {
		id := ident.New()
		question := event(number%60, id, answerer, tarsy.EventUserQuestion, "Why now?", tarsy.NewMetadata(tarsy.QuestionMetadata{Author: "bob"}))
		answer := event(number%60, id, answerer, tarsy.EventFinalAnalysis, "Because.", nil)

		export.Session.Stages = append(export.Session.Stages, stage(id, "Chat", tarsy.StageChat, number))
		export.Timeline = append(export.Timeline, question, answer)
	}

	require.Equal(t, questions, strings.Count(report.Markdown(export), "\n\nBecause.\n"))
}

func TestReportHasNoInvisibleCharacters(t *testing.T) {
	t.Parallel()

	const hostile = "a\x1b[2Jb\u202etxt.exe\u2066c\u200fd\u009b31me\x00f\x08g\u2028h\ufeff\u200bi\U000e0041j\tk"

	export := investigation()
	session := &export.Session
	session.AlertData, session.FinalAnalysis, session.ExecutiveSummary = hostile, "[call 1.1.1] "+hostile, hostile
	session.Author, session.ErrorMessage, session.ChainID, session.AlertType = hostile, hostile, hostile, hostile
	session.Title, session.Service, session.Namespace, session.Cluster, session.Team = hostile, hostile, hostile, hostile, hostile
	session.Labels, session.Links = map[string]string{hostile: hostile}, []tarsy.AlertLink{{Kind: hostile, URL: hostile}}
	session.Verdict, session.Outcome = hostileVerdict(hostile), hostile

	for i := range export.Timeline {
		export.Timeline[i].Content = hostile
		export.Timeline[i].Metadata = withTexts(t, export.Timeline[i].Metadata, hostile)
	}

	got := report.Markdown(export)
	require.Contains(t, got, "btxt.exec")

	for _, r := range got {
		require.True(t, r == '\n' || r == '\t' || !plaintext.Invisible(r), "%U in %q", r, got)
	}
}

func TestReportKeepsOnlyWebLinks(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"[x](https://ok.example/a) and [y]( HTTP://ok.example)": "[x](https://ok.example/a) and [y]( HTTP://ok.example)",
		"[mail](mailto:ops@example.org) [here](#root-cause)":    "[mail](mailto:ops@example.org) [here](#root-cause)",
		"[docs]: https://ok.example \"title\"":                  "[docs]: https://ok.example \"title\"",
		"see [call 1.1.1]: the pod":                             "see [call 1.1.1&#93;: the pod",

		"[x](javascript:alert(1))":              "[x&#93;(javascript:alert(1))",
		"[x](JaVaScRiPt:alert(1))":              "[x&#93;(JaVaScRiPt:alert(1))",
		"[x](&#106;avascript:alert(1))":         "[x&#93;(&#106;avascript:alert(1))",
		"[x](java\x01script:alert(1))":          "[x&#93;(javascript:alert(1))",
		"[x](java&Tab;script:alert(1))":         "[x&#93;(java&Tab;script:alert(1))",
		"[x](javascript\\:alert(1))":            "[x&#93;(javascript\\:alert(1))",
		"[x\\](javascript:alert(1))":            "[x\\&#93;(javascript:alert(1))",
		"[x](\njavascript:alert(1))":            "[x&#93;(\njavascript:alert(1))",
		"[x](data:text/html,1) [y](VBSCRIPT:1)": "[x&#93;(data:text/html,1) [y&#93;(VBSCRIPT:1)",
		"[x](file:///etc/passwd)":               "[x&#93;(file:///etc/passwd)",
		"[x](<javascript:alert(1)>)":            "[x&#93;(&lt;javascript:alert(1)>)",
		"[x]: javascript:alert(1)":              "[x&#93;: javascript:alert(1)",
		"> [x]: data:text/html,1":               "> [x&#93;: data:text/html,1",
		"[x]:\njavascript:alert(1)":             "[x&#93;:\njavascript:alert(1)",

		"[1.1.1]: http://evil.example":         "[1.1.1&#93;: http://evil.example",
		"[call 1.1.1]: https://evil.example":   "[call 1.1.1&#93;: https://evil.example",
		"[CALL\n1.1.1]: https://evil.example":  "[CALL\n1.1.1&#93;: https://evil.example",
		"- [call 1.1.1]: https://evil.example": "- [call 1.1.1&#93;: https://evil.example",
		"[a\\]b]: https://evil.example":        "[a\\]b&#93;: https://evil.example",
	} {
		export := investigation()
		export.Session.FinalAnalysis = text

		got := report.Markdown(export)
		require.Contains(t, got, "## Final analysis\n\n"+want+"\n", "%q", text)
	}
}
