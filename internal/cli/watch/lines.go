package watch

import (
	"fmt"
	"io"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

// Lines writes a session as plain lines, one thing after the other, each when it is final: for pipes, logs and
// people without a screen. It never moves the cursor and never paints.
type Lines struct {
	Out      io.Writer
	Location *time.Location

	session *Session
}

// NewLines makes a writer of a session's lines.
func NewLines(out io.Writer, session *Session) *Lines {
	return &Lines{Out: out, Location: time.Local, session: session} //nolint:gosmopolitan // people read their own clock
}

// Take applies an update to the session and writes what is new.
func (l *Lines) Take(update client.Update) {
	if update.Event != nil && update.Event.Seq == 1 {
		l.line(l.session.CreatedAt, "alert", terminal.Line(l.session.AlertType)+", chain "+terminal.Line(l.session.ChainID)+", session "+l.session.ID)
	}

	l.session.Apply(update)

	if update.Event == nil {
		return
	}

	switch update.Event.Type {
	case tarsy.TypeSessionStatus:
		if p, ok := decode[tarsy.SessionStatusPayload](*update.Event); ok {
			l.status(p)
		}
	case tarsy.TypeStageStatus:
		if p, ok := decode[tarsy.StageStatusPayload](*update.Event); ok {
			l.line(p.Timestamp, "stage", fmt.Sprintf("%d %s %s", p.StageIndex, terminal.Line(p.StageName), terminal.Line(p.Status)))
		}
	case tarsy.TypeExecutionStatus:
		if p, ok := decode[tarsy.ExecutionStatusPayload](*update.Event); ok {
			l.agent(p)
		}
	case tarsy.TypeTimelineCreated:
		if p, ok := decode[tarsy.TimelineCreatedPayload](*update.Event); ok && p.Status != tarsy.EventStreaming {
			l.item(p.EventID, p.Timestamp)
		}
	case tarsy.TypeTimelineCompleted:
		if p, ok := decode[tarsy.TimelineCompletedPayload](*update.Event); ok {
			l.item(p.EventID, p.Timestamp)
		}
	}
}

func (l *Lines) status(p tarsy.SessionStatusPayload) {
	text := words(string(p.Status))
	if p.Status.Terminal() {
		_, text = outcome(l.session)
		_, text, _ = strings.Cut(text, " ")
	}

	l.line(p.Timestamp, "session", text)
}

func (l *Lines) agent(p tarsy.ExecutionStatusPayload) {
	text := terminal.Line(p.AgentName) + " " + terminal.Line(p.Status)
	if p.ErrorMessage != "" {
		text += ": " + terminal.Line(p.ErrorMessage)
	}

	l.line(p.Timestamp, "agent", text)
}

func (l *Lines) item(id string, at time.Time) {
	item := l.session.find(id)
	if item == nil {
		return
	}

	if item.Type == tarsy.EventToolCall {
		l.tool(item, at)

		return
	}

	name := map[tarsy.EventType]string{
		tarsy.EventThinking: "thinking", tarsy.EventResponse: "text", tarsy.EventFinalAnalysis: "analysis",
		tarsy.EventExecutiveSummary: "summary", tarsy.EventError: "error", tarsy.EventUserQuestion: "question",
	}[item.Type]
	if name == "" {
		name = words(string(item.Type))
	}

	text := strings.TrimSpace(terminal.Clean(item.Content))
	if item.repeats {
		text = "is the text above"
	}

	if item.Status != string(tarsy.EventCompleted) {
		text = "(" + words(item.Status) + ") " + text
	}

	l.line(at, name, text)
}

func (l *Lines) tool(item *Item, at time.Time) {
	call := item.toolCall()
	result := "ok"

	switch {
	case call.unknown:
		result = "outcome unknown"
	case call.failed:
		result = "error"
	case item.Status != string(tarsy.EventCompleted):
		result = words(item.Status)
	}

	if call.measured {
		result += " in " + terminal.Duration(call.duration)
	}

	text := call.name
	if call.arguments != "" {
		text += " " + call.arguments
	}

	text += " → " + result

	if content := strings.TrimRight(terminal.Clean(item.Content), "\n "); content != "" {
		lines := strings.Split(content, "\n")
		shown := lines[:min(len(lines), excerptLines)]
		text += "\n" + strings.Join(shown, "\n")

		if left := len(lines) - len(shown); left > 0 {
			text += fmt.Sprintf("\n… %d more lines", left)
		}
	}

	l.line(at, "tool", text)
}

// line writes one thing; its further lines are indented below the first.
func (l *Lines) line(at time.Time, name, text string) {
	const indent = "                    "

	first, rest, _ := strings.Cut(text, "\n")

	var out strings.Builder

	fmt.Fprintf(&out, "%s  %-8s  %s\n", at.In(l.Location).Format("15:04:05"), name, first)

	if rest != "" {
		for line := range strings.SplitSeq(rest, "\n") {
			out.WriteString(strings.TrimRight(indent+line, " ") + "\n")
		}
	}

	// Whoever reads the lines is gone if this fails, and then the command ends too.
	_, _ = io.WriteString(l.Out, out.String())
}

// words makes a name of the wire readable.
func words(name string) string { return strings.ReplaceAll(terminal.Line(name), "_", " ") }
