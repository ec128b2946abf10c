package watch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client/live"
)

// toolCall is the metadata of a tool call, cleaned for display.
type toolCall struct {
	// number is how an analysis cites the call.
	number    string
	name      string
	arguments string
	failed    bool
	unknown   bool
	duration  time.Duration
	measured  bool
}

func toolCallOf(i *live.Item) toolCall {
	metadata := tarsy.MetadataAs[tarsy.ToolCallMetadata](i.Metadata)
	call := toolCall{
		number: terminal.Line(metadata.Call), name: toolName(metadata.ServerName, metadata.ToolName), arguments: arguments(metadata.Arguments),
	}

	if metadata.ToolCallResult != nil {
		call.failed, call.unknown = metadata.IsError, metadata.Outcome == tarsy.OutcomeUnknown
		call.duration, call.measured = time.Duration(metadata.DurationMs)*time.Millisecond, true
	}

	return call
}

func toolName(server, tool string) string {
	if server = terminal.Line(server); server != "" {
		return server + "." + terminal.Line(tool)
	}

	return terminal.Line(tool)
}

// arguments formats the arguments of a tool as name=value.
func arguments(raw json.RawMessage) string {
	var value any

	if json.Unmarshal(raw, &value) != nil {
		return ""
	}

	object, ok := value.(map[string]any)
	if !ok {
		if value == nil {
			return ""
		}

		return terminal.Compact(value)
	}

	parts := make([]string, 0, len(object))

	for _, name := range slices.Sorted(maps.Keys(object)) {
		text := terminal.Compact(object[name])
		if _, isText := object[name].(string); isText && (text == "" || strings.ContainsAny(text, ` "=`)) {
			text = strconv.Quote(text)
		}

		parts = append(parts, fmt.Sprintf("%s=%s", terminal.Line(name), text))
	}

	return strings.Join(parts, " ")
}

// tool renders a call with its result. If the result was summarised, it shows the summary, and the result only in the expanded view.
func (b *body) tool(item *live.Item, at moment) []string {
	lines := append([]string{b.callLine(item, at)}, b.approval(item, at)...)

	result := strings.TrimRight(terminal.Clean(item.Content), "\n ")
	if result == "" {
		return lines
	}

	text := strings.Split(result, "\n")
	instead := false // show the summary in place of the result, unless summarising failed

	if item.Summary != nil {
		lines = append(lines, b.summary(item.Summary, at)...)
		instead = item.Summary.Status == string(tarsy.EventCompleted) || item.Summary.Ended.IsZero()
	}

	if instead && !b.expanded {
		return append(lines, inset+b.palette.Paint(terminal.Dim, fmt.Sprintf("… the result itself has %s", count(len(text), "line"))))
	}

	for _, line := range b.excerpt(text, excerptLines) {
		lines = append(lines, inset+line)
	}

	return lines
}

func (b *body) callLine(item *live.Item, at moment) string {
	call := toolCallOf(item)
	sign := b.sign(item.Status, at.spin)
	right := running(item.Began, item.Ended, at.now)

	if call.measured {
		right = terminal.Duration(call.duration)
	}

	asked := approvalOf(item)

	switch {
	case asked.waits():
		sign = b.palette.Paint(terminal.Yellow, "!")
	case asked.notMade():
		sign = b.palette.Paint(terminal.Yellow, "✗")
		right = "not made"
	case call.unknown:
		sign = b.palette.Paint(terminal.Yellow, "?")
		right = "outcome unknown"
	case call.failed:
		sign = b.palette.Paint(terminal.Red, "✗")
	}

	left := margin + sign + " "
	if call.number != "" {
		left += b.palette.Paint(terminal.Dim, call.number) + " "
	}

	left += b.palette.Paint(terminal.Bold, call.name)
	if call.arguments != "" {
		left += "  " + b.palette.Paint(terminal.Dim, call.arguments)
	}

	return b.spread(left, b.palette.Paint(terminal.Dim, right))
}

// summary renders what a model was given in place of a long result.
func (b *body) summary(item *live.Item, at moment) []string {
	lines := []string{inset[len(margin):] + b.remark(terminal.Cyan, "≡ "+summaryTitle(item))}
	inner := *b
	inner.width -= len(inset) - len(margin)

	style := terminal.Plain
	if item.Status == string(tarsy.EventFailed) || item.Status == string(tarsy.EventTimedOut) {
		style = terminal.Yellow
	}

	for _, line := range inner.prose(item.Content, style) {
		lines = append(lines, strings.TrimRight(inset[len(margin):]+line, " "))
	}

	if item.Ended.IsZero() {
		lines[len(lines)-1] += b.palette.Paint(terminal.Cyan, " "+at.spin)
	}

	return lines
}
