package story

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tarsy.dev/tarsy/llm"
)

const (
	resultBegin = "<!-- TOOL_RESULT_START -->\n"
	resultEnd   = "\n<!-- TOOL_RESULT_END -->"

	// mostKinds is how many kinds of lines a digest names, mostSingles how many lines that are like no other.
	mostKinds   = 6
	mostSingles = 6
	lineRunes   = 220
)

// resultIn is the result that is to be summarised.
func resultIn(req *llm.Request) string {
	if len(req.Messages) == 0 {
		return ""
	}

	text := req.Messages[len(req.Messages)-1].Content
	if _, after, ok := strings.Cut(text, resultBegin); ok {
		text, _, _ = strings.Cut(after, resultEnd)
	}

	return text
}

var (
	stamp    = regexp.MustCompile(`^\d{4}-\d\d-\d\dT(\d\d:\d\d:\d\d)Z\s+`)
	varying  = regexp.MustCompile(`"[^"]*"|\d+`)
	hasLevel = regexp.MustCompile(`^(DEBUG|INFO|WARN|ERROR|FATAL)\b`)
)

// sort is lines that differ only in numbers and quoted text.
type sort struct {
	count       int
	first, last string // when
	example     string
}

// digest shortens a text as a script can: it does not understand the lines, it counts them. What it says is right,
// whatever the text is.
func digest(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	levels := map[string]int{}

	var (
		order []string
		sorts = map[string]*sort{}
	)

	for _, line := range lines {
		at, rest := "", line
		if found := stamp.FindStringSubmatch(line); found != nil {
			at, rest = found[1], line[len(found[0]):]
		}

		levels[hasLevel.FindString(rest)]++

		shape := varying.ReplaceAllString(rest, "#")
		if sorts[shape] == nil {
			sorts[shape] = &sort{first: at}
			order = append(order, shape)
		}

		s := sorts[shape]
		s.count, s.last, s.example = s.count+1, at, rest
	}

	var out strings.Builder

	many := fmt.Sprintf("%d lines", len(lines))
	if len(lines) == 1 {
		many = "1 line"
	}

	fmt.Fprintf(&out, "%s%s%s.\n", many, span(stamp.FindStringSubmatch(lines[0]), stamp.FindStringSubmatch(lines[len(lines)-1])), levelCounts(levels))
	writeKinds(&out, order, sorts)
	writeSingles(&out, order, sorts)

	return strings.TrimSpace(out.String())
}

func span(first, last []string) string {
	if first == nil || last == nil {
		return ""
	}

	return ", from " + first[1] + " to " + last[1]
}

func levelCounts(levels map[string]int) string {
	var text strings.Builder

	for _, level := range []string{"FATAL", "ERROR", "WARN", "INFO", "DEBUG"} {
		if n := levels[level]; n > 0 {
			fmt.Fprintf(&text, ", %d %s", n, level)
		}
	}

	return text.String()
}

// writeKinds names what repeats, the most frequent first.
func writeKinds(out *strings.Builder, order []string, sorts map[string]*sort) {
	repeated := slices.DeleteFunc(slices.Clone(order), func(shape string) bool { return sorts[shape].count == 1 })
	slices.SortStableFunc(repeated, func(a, b string) int { return cmp.Compare(sorts[b].count, sorts[a].count) })

	if len(repeated) > 0 {
		out.WriteString("\nWhat repeats, with the last of each:\n\n")
	}

	for i, shape := range repeated {
		if i == mostKinds {
			fmt.Fprintf(out, "- and %d other kinds of lines\n", len(repeated)-mostKinds)

			break
		}

		s := sorts[shape]
		when := ""

		if s.first != "" {
			when = fmt.Sprintf(" from %s to %s", s.first, s.last)
		}

		fmt.Fprintf(out, "- %d times%s: `%s`\n", s.count, when, short(s.example))
	}
}

// writeSingles tells the lines that are like no other, in order.
func writeSingles(out *strings.Builder, order []string, sorts map[string]*sort) {
	singles := slices.DeleteFunc(slices.Clone(order), func(shape string) bool { return sorts[shape].count > 1 })
	if len(singles) > 0 {
		out.WriteString("\nLines that are like no other:\n\n")
	}

	for i, shape := range singles {
		if i == mostSingles {
			fmt.Fprintf(out, "- and %d others\n", len(singles)-mostSingles)

			break
		}

		fmt.Fprintf(out, "- `%s`\n", strings.TrimSpace(sorts[shape].first+" "+short(sorts[shape].example)))
	}
}

// short cuts a line, and takes from it what would end its quotation.
func short(line string) string {
	runes := []rune(strings.ReplaceAll(line, "`", "'"))
	if len(runes) > lineRunes {
		return string(runes[:lineRunes]) + "…"
	}

	return string(runes)
}
