package watch

import (
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client/live"
)

// write writes one final item.
func (l *Lines) write(item *live.Item) {
	at := item.Ended
	if at.IsZero() {
		at = item.Began
	}

	switch item.Type {
	case tarsy.EventToolCall:
		if approvalOf(item).waits() {
			l.approval(item, at)
		} else {
			l.tool(item, at)
		}

		return
	case tarsy.EventToolSummary:
		summary := tarsy.MetadataAs[tarsy.ToolSummaryMetadata](item.Metadata)
		l.line(at, "tool", l.who(item)+toolName(summary.ServerName, summary.ToolName)+", "+summaryTitle(item)+":\n"+l.itemText(item))

		return
	case tarsy.EventResponse:
		if reply := live.SplitReply(item.Content); reply.Found && reply.Answer == "" {
			l.line(at, "thinking", l.who(item)+strings.TrimSpace(terminal.Clean(reply.Thought)))

			return
		}
	case tarsy.EventFinalAnalysis:
		if l.Last {
			l.kept = append(l.kept, item)
		} else if !l.Work {
			l.analysis(item)
		}

		return
	case tarsy.EventUserQuestion:
		if l.Work {
			return
		}
	default:
	}

	l.line(at, itemName(item), l.who(item)+l.itemText(item))
}

func (l *Lines) analysis(item *live.Item) {
	text := l.itemText(item)
	if why := forced(item); why != "" {
		text = "(" + why + ") " + text
	}

	if what := unknownCitations(item); what != "" {
		text = "(" + what + ") " + text
	}

	l.line(item.Ended, itemName(item), l.who(item)+text)
}

// itemText returns the text of an item and, if it did not complete, its status.
func (l *Lines) itemText(item *live.Item) string {
	text := strings.TrimSpace(terminal.Clean(item.Content))

	switch item.Type {
	case tarsy.EventCodeExecution:
		if code := tarsy.MetadataAs[tarsy.CodeExecutionMetadata](item.Metadata).Code; code != "" {
			text = strings.TrimSpace(terminal.Clean(code)) + "\n→ " + text
		}
	case tarsy.EventError:
		if code := errorCode(item); code != "" {
			text += " (" + code + ")"
		}
	default:
	}

	if item.Status != string(tarsy.EventCompleted) {
		text = "(" + words(item.Status) + ") " + text
	}

	return text
}

// who returns the name of the agent if several work in parallel.
func (l *Lines) who(item *live.Item) string {
	if item.Agent.Parallel() {
		return terminal.Line(item.Agent.Name) + ": "
	}

	return ""
}

func itemName(item *live.Item) string {
	switch item.Type {
	case tarsy.EventThinking:
		return "thinking"
	case tarsy.EventResponse:
		return "text"
	case tarsy.EventFinalAnalysis:
		if item.Parent != nil && item.Parent.StageType == tarsy.StageChat {
			return "answer"
		}

		return "analysis"
	case tarsy.EventExecutiveSummary:
		return "summary"
	case tarsy.EventError:
		if isWarning(item) {
			return "warning"
		}

		return "error"
	case tarsy.EventUserQuestion:
		return "question"
	case tarsy.EventCodeExecution:
		return "code"
	case tarsy.EventGoogleSearch:
		return "search"
	case tarsy.EventURLContext:
		return "pages"
	case tarsy.EventProviderFallback, tarsy.EventContextShortened:
		return "warning"
	case tarsy.EventToolCall, tarsy.EventToolSummary:
		return "tool"
	}

	return words(string(item.Type))
}

func (l *Lines) tool(item *live.Item, at time.Time) {
	call, use := toolCallOf(item), toolUseOf(item)

	result := use.Result
	if result == "" {
		result = words(item.Status)
	}

	if use.Took != "" {
		result += " in " + use.Took
	}

	text := l.who(item) + strings.TrimSpace(call.number+" "+call.name)
	if call.arguments != "" {
		text += " " + call.arguments
	}

	text += " → " + result

	if content := strings.TrimRight(terminal.Clean(item.Content), "\n "); content != "" {
		lines := strings.Split(content, "\n")
		shown := []string{text}

		for _, line := range lines[:min(len(lines), excerptLines)] {
			shown = append(shown, l.fit(line))
		}

		if left := len(lines) - excerptLines; left > 0 {
			shown = append(shown, "… "+count(left, "more line"))
		}

		text = strings.Join(shown, "\n")
	}

	l.line(at, "tool", text)

	if item.Summary != nil && !item.Summary.Ended.IsZero() {
		l.write(item.Summary)
	}
}
