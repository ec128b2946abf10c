package cli

import (
	"fmt"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/cli/watch"
)

// description builds the text of a session for people.
type description struct {
	palette terminal.Palette
	width   int // of the terminal; zero prints texts as they are
	out     strings.Builder
}

func (d *description) row(name, text string) {
	d.painted(name, text, terminal.Plain)
}

func (d *description) painted(name, text string, style terminal.Style) {
	if text == "" {
		return
	}

	fmt.Fprintf(&d.out, "%s%s\n", d.palette.Paint(terminal.Dim, terminal.Pad(name, shortID)), d.palette.Paint(style, terminal.Line(text)))
}

func (d *description) part(name, text string) {
	if text = strings.TrimSpace(terminal.Clean(text)); text != "" {
		fmt.Fprintf(&d.out, "\n%s\n%s\n", d.palette.Paint(terminal.Bold, name), text)
	}
}

// prose writes a part that a model wrote in Markdown.
func (d *description) prose(name, text string) {
	if d.width == 0 {
		d.part(name, text)

		return
	}

	text = strings.TrimSpace(terminal.Clean(text))
	if text == "" {
		return
	}

	fmt.Fprintf(&d.out, "\n%s\n", d.palette.Paint(terminal.Bold, name))

	for _, line := range d.palette.Markdown(text, d.width, terminal.Plain) {
		d.out.WriteString(line + "\n")
	}
}

// approvals writes a row if approvals are waiting for a decision.
func (d *description) approvals(s tarsy.SessionDetail) {
	if s.WaitingApprovals > 0 {
		d.painted("approvals", fmt.Sprintf("%d waiting; see tarsy approvals list --session %s", s.WaitingApprovals, short(s.ID)), terminal.Yellow)
	}
}

// describe returns a session as text for people. The timeline provides the questions and answers.
func describe(t *tool, s tarsy.SessionDetail, timeline []tarsy.TimelineEvent) string {
	d := &description{palette: t.palette(t.Stdout), width: min(t.columns(t.Stdout), textWidth)}

	d.verdict(s.Verdict)
	d.row("session", s.ID)
	d.painted("status", readable(string(s.Status)), watch.StatusStyle(s.Status))
	d.approvals(s)
	d.handling(s.Handling)
	d.facts(s)
	d.row("alert type", s.AlertType)
	d.row("chain", s.ChainID)
	d.row("provider", s.LLMProvider)
	d.reruns(s)
	d.row("author", s.Author)
	d.row("created", localTime(s.CreatedAt))

	if s.StartedAt != nil && s.CompletedAt != nil {
		d.row("took", terminal.Duration(s.CompletedAt.Sub(*s.StartedAt)))
	}

	d.row("used", used(s.Spend))
	d.row("ended early", s.ConcludedEarly)
	d.row("error", s.ErrorMessage)
	d.row("no summary", s.ExecutiveSummaryError)
	d.row("no verdict", s.VerdictError)

	for _, stage := range s.Stages {
		d.stage(stage)
	}

	d.part("Alert", s.AlertData)
	d.prose("Summary", s.ExecutiveSummary)
	d.prose("Analysis", s.FinalAnalysis)
	d.chat(s.Stages, timeline)

	return d.out.String()
}

// verdict writes the verdict first, since people look for it first.
func (d *description) verdict(v *tarsy.Verdict) {
	if v == nil {
		return
	}

	layout := watch.VerdictLayout{Palette: d.palette, Width: d.width, WholeCommands: true}
	d.out.WriteString(strings.Join(layout.Lines(*v), "\n") + "\n\n")
}

// reruns writes the session that this one re-runs, and the sessions that re-run this one.
func (d *description) reruns(s tarsy.SessionDetail) {
	if s.RerunOf != nil {
		d.row("re-run of", *s.RerunOf)
	}

	d.row("re-runs", strings.Join(s.Reruns, " "))
}

// facts writes what the alert is about, and what happened to it.
func (d *description) facts(s tarsy.SessionDetail) {
	d.row("title", s.Title)
	d.painted("severity", string(s.Severity), watch.SeverityStyle(s.Severity))
	d.row("service", s.Service)
	d.row("namespace", s.Namespace)
	d.row("cluster", s.Cluster)
	d.row("team", s.Team)

	for _, link := range s.Links {
		d.row(string(link.Kind), link.URL)
	}

	if s.StartsAt != nil {
		d.row("since", localTime(*s.StartsAt))
	}

	if s.Alert != nil {
		d.row("alert", s.Alert.Describe(localTime))

		if s.Alert.EarlierSessionID != nil {
			d.row("earlier", *s.Alert.EarlierSessionID)
		}
	}
}

func localTime(at time.Time) string {
	return at.Local().Format(time.RFC1123)
}

// used describes usage: cost, tokens and tool calls.
func used(s tarsy.Spend) string {
	var parts []string

	if s.Usage.TotalTokens > 0 {
		parts = append(parts, cost(s.Usage), fmt.Sprintf("%d tokens", s.Usage.TotalTokens))
	}

	switch s.ToolCalls {
	case 0:
	case 1:
		parts = append(parts, "1 tool call")
	default:
		parts = append(parts, fmt.Sprintf("%d tool calls", s.ToolCalls))
	}

	return strings.Join(parts, ", ")
}

func (d *description) stage(stage tarsy.StageDetail) {
	d.row(fmt.Sprintf("stage %d", stage.StageIndex), stage.StageName+", "+readable(string(stage.Status)))

	for _, execution := range stage.Executions {
		text := execution.AgentName + ", " + readable(string(execution.Status))

		switch {
		case execution.ErrorMessage != "":
			text += ": " + execution.ErrorMessage
		case execution.ForcedConclusion == tarsy.ForcedResolved:
			text += ", concluded early because the alert was resolved"
		case execution.ForcedConclusion == tarsy.ForcedRepeatedCalls:
			text += ", concluded early because it repeated the same tool calls"
		case execution.ForcedConclusion != tarsy.NotForced:
			text += ", concluded early because of its " + string(execution.ForcedConclusion)
		}

		if spent := used(execution.Spend); spent != "" {
			text += " (" + spent + ")"
		}

		d.row("  agent", text)
	}
}

// chat writes the questions and answers in order.
func (d *description) chat(stages []tarsy.StageDetail, timeline []tarsy.TimelineEvent) {
	for _, stage := range stages {
		if stage.StageType != tarsy.StageChat {
			continue
		}

		answered := false

		for _, event := range timeline {
			if event.StageID == nil || *event.StageID != stage.ID {
				continue
			}

			switch event.EventType {
			case tarsy.EventUserQuestion:
				question := tarsy.MetadataAs[tarsy.QuestionMetadata](event.Metadata)
				d.part("Question from "+terminal.Line(question.Author), event.Content)
			case tarsy.EventFinalAnalysis:
				answered = true

				d.prose("Answer", event.Content)
			default:
			}
		}

		if stage.Status.Terminal() && !answered {
			d.part("No answer", "It "+ending(stage)+".")
		}
	}
}
