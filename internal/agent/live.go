package agent

import (
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
)

// liveText streams the thinking and the text of an LLM call. Each becomes a timeline event with its first piece; readers get the pieces
// immediately, and the text so far is saved about once a second.
type liveText struct {
	execution *execution
	open      []*liveEvent
	savedAt   time.Time
}

type liveEvent struct {
	row  tarsy.TimelineEvent
	text strings.Builder
	show func(string)
	end  func()
}

// add processes one chunk of the stream.
func (l *liveText) add(chunk llm.Chunk) error {
	switch c := chunk.(type) {
	case llm.ThinkingChunk:
		l.append(tarsy.EventThinking, c.Text)
	case llm.TextChunk:
		l.append(tarsy.EventResponse, c.Text)
	default:
	}

	return nil
}

func (l *liveText) append(eventType tarsy.EventType, text string) {
	text = strings.ReplaceAll(text, "\x00", "")
	if text == "" {
		return
	}

	e := l.eventOf(eventType)
	e.text.WriteString(text)
	e.show(text)

	if now := l.execution.now(); now.Sub(l.savedAt) >= saveEvery {
		l.savedAt = now
		l.execution.submit(l.partial())
	}
}

// eventOf returns the call's event of a type, or begins it. An event that a killed server left streaming is reused with new text.
func (l *liveText) eventOf(eventType tarsy.EventType) *liveEvent {
	for _, e := range l.open {
		if e.row.EventType == eventType {
			return e
		}
	}

	if left, ok := leftStreaming(l.execution.Timeline, eventType); ok {
		return l.begin(left)
	}

	row := l.execution.newEvent(eventType, tarsy.EventStreaming, "")

	var step progress.Step

	create(&step, row)
	l.execution.submit(step)

	return l.begin(row)
}

// begin shows an event with empty text, whatever its text was before.
func (l *liveText) begin(row tarsy.TimelineEvent) *liveEvent {
	row.Content = ""
	e := &liveEvent{row: row, show: func(string) {}, end: func() {}}

	if l.execution.OpenStream != nil {
		e.show, e.end = l.execution.OpenStream(e.row, l.execution.Fence)
	}

	if len(l.open) == 0 {
		l.savedAt = l.execution.now()
	}

	l.open = append(l.open, e)

	return e
}

// leftStreaming finds an event of this execution that a killed server left streaming.
func leftStreaming(timeline []tarsy.TimelineEvent, eventType tarsy.EventType) (tarsy.TimelineEvent, bool) {
	for _, e := range timeline {
		if e.EventType == eventType && e.Status == tarsy.EventStreaming {
			return e, true
		}
	}

	return tarsy.TimelineEvent{}, false
}

// partial returns the step that saves the text so far.
func (l *liveText) partial() progress.Step {
	var step progress.Step

	for _, e := range l.open {
		row := e.row
		row.Content, row.UpdatedAt = plaintext.Clean(e.text.String()), l.execution.now()
		step.Timeline = append(step.Timeline, row)
	}

	return step
}

// finish returns the step that makes the text final. It also closes events that a killed server left streaming and that this call did
// not reuse.
func (l *liveText) finish(status tarsy.EventStatus) progress.Step {
	var step progress.Step

	rows := l.partial().Timeline

	for _, eventType := range []tarsy.EventType{tarsy.EventThinking, tarsy.EventResponse} {
		if left, ok := leftStreaming(l.execution.Timeline, eventType); ok && !l.has(left.ID) {
			rows = append(rows, left)
		}
	}

	for _, row := range rows {
		l.execution.closeEvent(&step, row, status)
	}

	return step
}

// rewrite replaces the text of an event. Readers get the new text when the event ends.
func (l *liveText) rewrite(eventType tarsy.EventType, text string) {
	for _, e := range l.open {
		if e.row.EventType == eventType {
			e.text.Reset()
			e.text.WriteString(text)
		}
	}
}

func (l *liveText) has(id string) bool {
	for _, e := range l.open {
		if e.row.ID == id {
			return true
		}
	}

	return false
}

// end stops streaming.
func (l *liveText) end() {
	for _, e := range l.open {
		e.end()
	}
}
