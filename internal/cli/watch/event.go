package watch

import (
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client/live"
)

// event renders a timeline event followed by an empty line.
func (b *body) event(item *live.Item, at moment) []string {
	final := !item.Ended.IsZero() && (item.Summary == nil || !item.Summary.Ended.IsZero())

	kept, ok := b.cache[item]
	if ok && final && kept.revision == item.Revision && kept.width == b.width {
		return kept.lines
	}

	lines := b.draw(item, at)

	if item.Status == string(tarsy.EventStreaming) && item.Type != tarsy.EventToolCall && item.Newest() {
		lines[len(lines)-1] += b.palette.Paint(terminal.Cyan, " "+at.spin)
	}

	lines = append(lines, "")
	b.cache[item] = rendered{revision: item.Revision, width: b.width, lines: lines}

	return lines
}

func (b *body) draw(item *live.Item, at moment) []string {
	switch item.Type {
	case tarsy.EventToolCall:
		return b.tool(item, at)
	case tarsy.EventThinking:
		return b.prose(item.Content, terminal.Dim.With(terminal.Italic))
	case tarsy.EventFinalAnalysis:
		return b.analysis(item)
	case tarsy.EventExecutiveSummary:
		return append([]string{b.title("Summary", "", "")}, b.prose(item.Content, terminal.Bold)...)
	case tarsy.EventError:
		return b.failure(item)
	case tarsy.EventUserQuestion:
		return b.prose(item.Content, terminal.Bold)
	case tarsy.EventToolSummary:
		return append([]string{b.remark(terminal.Dim, summaryTitle(item))}, b.prose(item.Content, terminal.Plain)...)
	case tarsy.EventCodeExecution, tarsy.EventGoogleSearch, tarsy.EventURLContext:
		return b.native(item)
	case tarsy.EventProviderFallback, tarsy.EventContextShortened:
		return b.prose("! "+item.Content, terminal.Yellow)
	case tarsy.EventResponse:
		return b.response(item)
	}

	return b.prose(item.Content, terminal.Plain)
}

// remark returns a line about what is below it.
func (b *body) remark(style terminal.Style, text string) string {
	return terminal.Truncate(margin+b.palette.Paint(style, text), b.width)
}

// analysis renders an agent's analysis. In a chat it is titled as the answer, and with parallel agents it names the agent.
func (b *body) analysis(item *live.Item) []string {
	name := "Analysis"
	if item.Parent != nil && item.Parent.StageType == tarsy.StageChat {
		name = "Answer"
	}

	lines := []string{b.title(name, "", "")}
	if item.Agent.Parallel() {
		lines = []string{b.remark(terminal.Bold, "What "+terminal.Line(item.Agent.Name)+" found")}
	}

	if why := forced(item); why != "" {
		lines = append(lines, b.remark(terminal.Yellow, "! "+why))
	}

	if what := unknownCitations(item); what != "" {
		lines = append(lines, b.remark(terminal.Yellow, "! "+what))
	}

	return append(lines, b.prose(item.Content, terminal.Plain)...)
}

func (b *body) failure(item *live.Item) []string {
	sign, style := "✗ ", terminal.Red
	if isWarning(item) {
		sign, style = "! ", terminal.Yellow
	}

	lines := b.prose(sign+item.Content, style)
	if code := errorCode(item); code != "" {
		lines = append(lines, b.remark(terminal.Dim, "  "+code))
	}

	return lines
}

// response renders a model's intermediate response.
func (b *body) response(item *live.Item) []string {
	reply := live.SplitReply(item.Content)
	if !reply.Found {
		return b.prose(item.Content, terminal.Plain)
	}

	var lines []string
	if reply.Thought != "" || reply.Answer == "" {
		lines = b.prose(reply.Thought, terminal.Dim.With(terminal.Italic))
	}

	if reply.Answer != "" {
		if len(lines) > 0 {
			lines = append(lines, "")
		}

		lines = append(lines, b.prose(reply.Answer, terminal.Plain)...)
	}

	return lines
}

// native renders what the model's provider did on its side.
func (b *body) native(item *live.Item) []string {
	lines := []string{b.remark(terminal.Bold, map[tarsy.EventType]string{
		tarsy.EventCodeExecution: "The provider ran code", tarsy.EventGoogleSearch: "The provider searched the web",
		tarsy.EventURLContext: "The provider read pages",
	}[item.Type])}

	var texts []string

	if item.Type == tarsy.EventCodeExecution {
		texts = append(texts, tarsy.MetadataAs[tarsy.CodeExecutionMetadata](item.Metadata).Code)
	} else {
		for _, query := range tarsy.MetadataAs[tarsy.GroundingMetadata](item.Metadata).Queries {
			texts = append(texts, "? "+terminal.Line(query))
		}
	}

	for _, text := range append(texts, item.Content) {
		if text = strings.TrimSpace(terminal.Clean(text)); text == "" {
			continue
		}

		for _, line := range b.excerpt(strings.Split(text, "\n"), excerptLines) {
			lines = append(lines, inset+line)
		}
	}

	return lines
}

func (b *body) prose(text string, style terminal.Style) []string {
	lines := b.palette.Markdown(terminal.Clean(text), min(b.width, textWidth)-len(margin)-len(" ◐"), style)
	for i, line := range lines {
		if line != "" {
			lines[i] = margin + line
		}
	}

	if len(lines) == 0 {
		return []string{margin}
	}

	return lines
}

// summaryTitle describes what was summarised.
func summaryTitle(item *live.Item) string {
	title := "summary of the result"
	if n := tarsy.MetadataAs[tarsy.ToolSummaryMetadata](item.Metadata).OriginalTokens; n > 0 {
		title += fmt.Sprintf(", which has about %s tokens", thousands(n))
	}

	return title
}
