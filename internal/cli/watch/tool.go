package watch

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/cli/terminal"
)

// toolCall is what the metadata of a tool call says, made fit to be shown.
type toolCall struct {
	name      string
	arguments string
	failed    bool
	unknown   bool
	duration  time.Duration
	measured  bool
}

func (i *Item) toolCall() toolCall {
	text := func(key string) string {
		value, _ := i.metadata[key].(string)

		return terminal.Line(value)
	}

	call := toolCall{name: text("tool_name"), arguments: arguments(i.metadata["arguments"]), unknown: text("outcome") == "unknown"}
	if server := text("server_name"); server != "" {
		call.name = server + "." + call.name
	}

	call.failed, _ = i.metadata["is_error"].(bool)

	if ms, ok := i.metadata["duration_ms"].(float64); ok {
		call.duration, call.measured = time.Duration(ms)*time.Millisecond, true
	}

	return call
}

// arguments shows what a tool was given as name=value.
func arguments(value any) string {
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
