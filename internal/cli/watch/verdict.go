package watch

import (
	"strconv"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// VerdictLayout configures how a verdict is printed.
type VerdictLayout struct {
	Palette terminal.Palette
	// Width is the maximum line width; zero means no wrapping.
	Width int
	// WholeCommands keeps each command on one line, however long: a shell would run the parts of a wrapped one separately.
	WholeCommands bool
}

// Lines returns a verdict for people: outcome and cause first, then the confidence, the next steps, and what was not checked.
func (l VerdictLayout) Lines(v tarsy.Verdict) []string {
	w := verdictWriter{VerdictLayout: l}

	headline := []terminal.Span{{Text: terminal.Line(v.Outcome.Words()), Style: OutcomeStyle(v.Outcome).With(terminal.Bold)}}
	if cause := terminal.Line(v.Cause.Text); cause != "" {
		headline[0].Text += ":"
		headline = append(headline, terminal.Span{Text: " " + cause, Style: terminal.Bold})
	}

	w.add("", "", headline...)

	if v.Confidence != "" {
		w.named("Confidence", strings.TrimSpace(words(string(v.Confidence))+". "+terminal.Line(v.ConfidenceReason.Text)))
	}

	w.named("Impact", terminal.Line(v.Impact.Text))

	if len(v.NextSteps) > 0 {
		w.heading("Next steps")
	}

	for i, step := range v.NextSteps {
		w.step(strconv.Itoa(i+1)+". ", step)
	}

	if len(v.NotChecked) > 0 {
		w.heading("Not checked")
	}

	for _, claim := range v.NotChecked {
		w.add("- ", "  ", terminal.Span{Text: terminal.Line(claim.Text)})
	}

	return w.lines
}

// verdictWriter collects the lines of a verdict.
type verdictWriter struct {
	VerdictLayout

	lines []string
}

// add adds a paragraph. Its first line begins with first, the others with rest.
func (w *verdictWriter) add(first, rest string, spans ...terminal.Span) {
	if w.Width > 0 {
		w.lines = append(w.lines, w.Palette.Wrap(spans, w.Width, first, rest)...)

		return
	}

	var line strings.Builder

	line.WriteString(first)

	for _, span := range spans {
		line.WriteString(w.Palette.Paint(span.Style, span.Text))
	}

	w.lines = append(w.lines, line.String())
}

func (w *verdictWriter) named(name, text string) {
	if text != "" {
		w.add("", "", terminal.Span{Text: name + ":", Style: terminal.Dim}, terminal.Span{Text: " " + text})
	}
}

func (w *verdictWriter) heading(text string) {
	w.lines = append(w.lines, "")
	w.add("", "", terminal.Span{Text: text, Style: terminal.Bold})
}

// step adds one next step: title, reason, command and link.
func (w *verdictWriter) step(number string, s tarsy.NextStep) {
	indent := strings.Repeat(" ", len(number))
	w.add(number, indent, terminal.Span{Text: terminal.Line(s.Title)}, terminal.Span{Text: " (" + terminal.Line(s.Caution()) + ")", Style: cautionStyle(s)})

	if why := terminal.Line(s.Why.Text); why != "" {
		w.add(indent, indent, terminal.Span{Text: why, Style: terminal.Dim})
	}

	w.command(indent, s.Command)

	if url := terminal.Line(s.URL); url != "" {
		w.whole(indent, terminal.Span{Text: url, Style: terminal.Blue})
	}
}

func (w *verdictWriter) command(indent, command string) {
	prompt := indent + "$ "

	for line := range strings.SplitSeq(strings.TrimSpace(terminal.Clean(command)), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}

		w.whole(prompt, terminal.Span{Text: strings.TrimRight(line, " "), Style: terminal.Cyan})
		prompt = indent + "  "
	}
}

// whole adds a line for copying, which is wrapped only if it has to be.
func (w *verdictWriter) whole(first string, span terminal.Span) {
	if w.WholeCommands {
		w.lines = append(w.lines, first+w.Palette.Paint(span.Style, span.Text))
	} else {
		w.add(first, strings.Repeat(" ", len(first)), span)
	}
}

// OutcomeStyle returns the style of an outcome.
func OutcomeStyle(outcome tarsy.Outcome) terminal.Style {
	switch outcome {
	case tarsy.OutcomeCauseFound:
		return terminal.Green
	case tarsy.OutcomeProbableCause:
		return terminal.Cyan
	case tarsy.OutcomeInconclusive:
		return terminal.Yellow
	case tarsy.OutcomeNeedsHuman:
		return terminal.Red
	case tarsy.OutcomeFalseAlarm:
		return terminal.Dim
	case tarsy.OutcomeNone:
	}

	return terminal.Plain
}

func cautionStyle(s tarsy.NextStep) terminal.Style {
	switch {
	case s.Risk == tarsy.RiskHigh:
		return terminal.Red
	case s.Risk == tarsy.RiskMedium || s.Risk != tarsy.RiskNone && !s.Reversible:
		return terminal.Yellow
	}

	return terminal.Dim
}

// Headline returns the conclusion of a session in one line: outcome and cause. It is empty for a session without a verdict.
func Headline(outcome tarsy.Outcome, cause string) string {
	parts := []string{terminal.Line(outcome.Words())}
	if cause = terminal.Line(tarsy.WithoutMarks(cause)); cause != "" {
		parts = append(parts, cause)
	}

	return strings.Join(parts, ": ")
}
