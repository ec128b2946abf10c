package watch

import (
	"fmt"
	"io"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/client/live"
)

// Lines writes a session as plain lines in order, each when it is final: for pipes, logs and users without a screen. It never moves the
// cursor and never paints.
type Lines struct {
	Out      io.Writer
	Location *time.Location
	// Width is the width of the terminal that shows the lines; with zero they are not wrapped.
	Width int
	// Work writes only the agents' intermediate work, without stages, the question and the analysis, for callers that
	// print the answer at the end.
	Work bool
	// Last holds back the analyses of the last stage, for callers that print them elsewhere. Flush writes them after all.
	Last bool

	session *live.Session
	held    []*live.Item // answers that may turn out to be the analysis
	kept    []*live.Item // analyses that may turn out to be the last
}

// NewLines returns a writer for a session's lines.
func NewLines(out io.Writer, session *live.Session) *Lines {
	return &Lines{Out: out, Location: time.Local, session: session}
}

// Take applies an update to the session and writes what is new.
func (l *Lines) Take(update client.Update) {
	if update.Event != nil && update.Event.Seq == 1 {
		l.alert()
	}

	l.session.Apply(update)

	switch {
	case update.Reloaded != nil:
		l.reloaded()
	case update.Event != nil:
		l.event(*update.Event)
	case update.End != "":
		l.release(nil)
	}
}

func (l *Lines) alert() {
	s := l.session
	parts := []string{sessionTitle(s)}

	for _, fact := range []string{string(s.Facts.Severity), s.Facts.Place()} {
		if fact != "" {
			parts = append(parts, terminal.Line(fact))
		}
	}

	parts = append(parts, "chain "+terminal.Line(s.ChainID), "session "+s.ID)
	l.line(s.CreatedAt, "alert", strings.Join(parts, ", "))

	if s.Alert != nil {
		l.line(s.CreatedAt, "alert", s.Alert.Describe(func(at time.Time) string { return at.In(l.Location).Format(time.DateTime) }))
	}
}

func (l *Lines) event(event tarsy.Event) {
	switch event.Type {
	case tarsy.TypeSessionStatus:
		if p, ok := live.Decode[tarsy.SessionStatusPayload](event); ok {
			l.release(nil)
			l.status(p.Status, p.Timestamp)
		}
	case tarsy.TypeSessionVerdict:
		if p, ok := live.Decode[tarsy.SessionVerdictPayload](event); ok {
			l.release(nil)
			l.verdict(p.Timestamp)
		}
	case tarsy.TypeStageStatus:
		if p, ok := live.Decode[tarsy.StageStatusPayload](event); ok {
			l.release(nil)

			if p.Status == tarsy.StageStarted {
				l.Flush()
			}

			l.stage(l.session.Find(p.StageID), p.Timestamp, string(p.Status))
		}
	case tarsy.TypeExecutionStatus:
		if p, ok := live.Decode[tarsy.ExecutionStatusPayload](event); ok {
			l.release(l.session.Agent(p.ExecutionID))
			l.agent(p)
		}
	case tarsy.TypeTimelineCreated:
		if p, ok := live.Decode[tarsy.TimelineCreatedPayload](event); ok {
			l.created(p)
		}
	case tarsy.TypeApprovalStatus:
		if p, ok := live.Decode[tarsy.ApprovalStatusPayload](event); ok {
			if item := l.session.Find(p.EventID); item != nil {
				l.approval(item, p.Timestamp)
			}
		}
	case tarsy.TypeTimelineCompleted:
		if p, ok := live.Decode[tarsy.TimelineCompletedPayload](event); ok {
			l.final(l.session.Find(p.EventID))
		}
	}
}

// reloaded writes everything in the session. Some of it may have been written before, since it is unknown what was missed.
func (l *Lines) reloaded() {
	l.held = nil
	l.alert()

	for _, item := range l.session.Items {
		switch {
		case item.IsStage:
			l.stage(item, item.Began, tarsy.StageStarted)

			for _, event := range item.Events {
				l.write(event)
			}

			if !item.Ended.IsZero() {
				l.stage(item, item.Ended, item.Status)
			}
		case item.Parent == nil && item.Call == nil:
			l.write(item)
		}
	}

	now := l.session.CreatedAt
	for _, later := range []time.Time{l.session.StartedAt, l.session.EndedAt} {
		if !later.IsZero() {
			now = later
		}
	}

	l.verdict(now)
	l.status(l.session.Status, now)
}

// verdict writes the verdict, unless the caller prints it elsewhere.
func (l *Lines) verdict(at time.Time) {
	if l.session.Verdict == nil || l.Last || l.Work {
		return
	}

	layout := VerdictLayout{WholeCommands: true}
	if l.Width > 0 {
		layout.Width = l.textWidth()
	}

	l.put(at, "verdict", layout.Lines(*l.session.Verdict))
}

func (l *Lines) status(status tarsy.SessionStatus, at time.Time) {
	text := words(string(status))
	if status.Terminal() {
		_, text = outcome(l.session)
		_, text, _ = strings.Cut(text, " ")
	}

	l.line(at, "session", text)
}

func (l *Lines) stage(item *live.Item, at time.Time, status string) {
	if item != nil && !l.Work {
		l.line(at, "stage", fmt.Sprintf("%d %s %s", item.Index, stageTitle(item), words(status)))
	}
}

func (l *Lines) agent(p tarsy.ExecutionStatusPayload) {
	if l.Work {
		return
	}

	text := terminal.Line(p.AgentName) + " " + words(string(p.Status))
	if p.ErrorMessage != "" {
		text += ": " + terminal.Line(p.ErrorMessage)
	}

	l.line(p.Timestamp, "agent", text)
}

func (l *Lines) created(p tarsy.TimelineCreatedPayload) {
	item := l.session.Find(p.EventID)
	if item == nil {
		return
	}

	// A response that became the analysis is among those held; release writes it.
	merged := item.Former != ""
	l.release(item.Agent)

	if p.Status != tarsy.EventStreaming && !merged {
		l.write(item)
	}
}

// final writes a completed item. A response is held until it is known whether it becomes the analysis.
func (l *Lines) final(item *live.Item) {
	switch {
	case item == nil:
	case item.Type == tarsy.EventResponse && item.Status == string(tarsy.EventCompleted):
		l.held = append(l.held, item)
	default:
		l.release(item.Agent)
		l.write(item)
	}
}

// release writes the held responses of an agent, or those of all agents if agent is nil.
func (l *Lines) release(agent *live.Agent) {
	var waiting []*live.Item

	for _, item := range l.held {
		if agent != nil && item.Agent != agent {
			waiting = append(waiting, item)
		} else {
			l.write(item)
		}
	}

	l.held = waiting
}

// Flush writes the analyses that were held back.
func (l *Lines) Flush() {
	for _, item := range l.kept {
		l.analysis(item)
	}

	l.kept = nil
}

// column is where the text of a line starts.
const column = 20

// line writes one item, with further lines indented below the first.
func (l *Lines) line(at time.Time, name, text string) { l.put(at, name, l.broken(text)) }

// put writes lines that already fit.
func (l *Lines) put(at time.Time, name string, lines []string) {
	var out strings.Builder

	fmt.Fprintf(&out, "%s  %-8s  ", at.In(l.Location).Format("15:04:05"), name)

	for i, line := range lines {
		if i > 0 {
			line = strings.TrimRight(strings.Repeat(" ", column)+line, " ")
		}

		out.WriteString(line + "\n")
	}

	// If this fails, the reader is gone and the command ends anyway.
	_, _ = io.WriteString(l.Out, out.String())
}

// broken wraps text to the width.
func (l *Lines) broken(text string) []string {
	lines := strings.Split(text, "\n")
	if l.Width == 0 {
		return lines
	}

	var fitting []string

	for _, line := range lines {
		if terminal.Width(line) <= l.textWidth() {
			fitting = append(fitting, line)

			continue
		}

		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		fitting = append(fitting, terminal.Palette{}.Wrap([]terminal.Span{{Text: line}}, l.textWidth(), indent, indent)...)
	}

	return fitting
}

// fit truncates a line that is not prose.
func (l *Lines) fit(line string) string {
	if l.Width == 0 {
		return line
	}

	return terminal.Truncate(line, l.textWidth())
}

func (l *Lines) textWidth() int { return max(column, l.Width-column) }
