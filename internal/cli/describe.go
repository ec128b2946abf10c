package cli

import (
	"fmt"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// description is a session written down for people.
type description struct {
	palette terminal.Palette
	out     strings.Builder
}

func (d *description) row(name, text string) {
	if text != "" {
		fmt.Fprintf(&d.out, "%s%s\n", d.palette.Paint(terminal.Dim, terminal.Pad(name, shortID)), terminal.Line(text))
	}
}

func (d *description) part(name, text string) {
	if text = strings.TrimSpace(terminal.Clean(text)); text != "" {
		fmt.Fprintf(&d.out, "\n%s\n%s\n", d.palette.Paint(terminal.Bold, name), text)
	}
}

// describe is a session for people. The timeline brings what was asked about it and answered.
func (t *tool) describe(s tarsy.SessionDetail, timeline []tarsy.TimelineEvent) string {
	d := &description{palette: t.palette(t.Stdout)}

	d.row("session", s.ID)
	d.row("status", readable(string(s.Status)))
	d.row("alert type", s.AlertType)
	d.row("chain", s.ChainID)
	d.row("author", s.Author)
	d.row("created", s.CreatedAt.Local().Format(time.RFC1123)) //nolint:gosmopolitan // people read their own clock

	if s.StartedAt != nil && s.CompletedAt != nil {
		d.row("took", terminal.Duration(s.CompletedAt.Sub(*s.StartedAt)))
	}

	d.row("used", used(s.Spend))
	d.row("early end", s.ConcludedEarly)
	d.row("error", s.ErrorMessage)
	d.row("no summary", s.ExecutiveSummaryError)

	for _, stage := range s.Stages {
		d.stage(stage)
	}

	d.part("Alert", s.AlertData)
	d.part("Summary", s.ExecutiveSummary)
	d.part("Analysis", s.FinalAnalysis)
	d.chat(s.Stages, timeline)

	return d.out.String()
}

// used tells what something used: its cost, its tokens and its tool calls.
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
		case execution.ForcedConclusion != tarsy.NotForced:
			text += ", told to conclude because of its " + string(execution.ForcedConclusion)
		}

		if spent := used(execution.Spend); spent != "" {
			text += " (" + spent + ")"
		}

		d.row("  agent", text)
	}
}

// chat is the questions and their answers, in order.
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
				d.part("Question of "+terminal.Line(question.Author), event.Content)
			case tarsy.EventFinalAnalysis:
				answered = true

				d.part("Answer", event.Content)
			default:
			}
		}

		if stage.Status.Terminal() && !answered {
			d.part("No answer", "It "+ending(stage)+".")
		}
	}
}
