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

	// maxKinds limits how many kinds of lines a digest lists, maxUniqueLines how many unique lines, and lineRunes how much of
	// a line it quotes.
	maxKinds       = 6
	maxUniqueLines = 6
	lineRunes      = 220
)

// resultIn returns the result to be summarised.
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

// lineKind is a group of lines that differ only in numbers and quoted text.
type lineKind struct {
	count       int
	first, last string // timestamps
	example     string
}

// tally counts lines by their kind and their level.
type tally struct {
	lines  []string
	levels map[string]int
	kinds  map[string]*lineKind
	order  []string // kinds in order of appearance
}

// digest shortens a text as far as a script can: it counts the lines without understanding them. Its output is correct for
// any text.
func digest(text string) string {
	t := newTally(strings.Split(strings.TrimSpace(text), "\n"))

	var out strings.Builder

	t.writeTotal(&out)
	t.writeRepeated(&out)
	t.writeSingles(&out)

	return strings.TrimSpace(out.String())
}

func newTally(lines []string) *tally {
	t := &tally{lines: lines, levels: map[string]int{}, kinds: map[string]*lineKind{}}

	for _, line := range lines {
		at, rest := "", line
		if found := stamp.FindStringSubmatch(line); found != nil {
			at, rest = found[1], line[len(found[0]):]
		}

		t.levels[hasLevel.FindString(rest)]++

		shape := varying.ReplaceAllString(rest, "#")
		if t.kinds[shape] == nil {
			t.kinds[shape] = &lineKind{first: at}
			t.order = append(t.order, shape)
		}

		k := t.kinds[shape]
		k.count, k.last, k.example = k.count+1, at, rest
	}

	return t
}

// writeTotal writes the number of lines, their time range and their levels.
func (t *tally) writeTotal(out *strings.Builder) {
	if len(t.lines) == 1 {
		out.WriteString("1 line")
	} else {
		fmt.Fprintf(out, "%d lines", len(t.lines))
	}

	first, last := stamp.FindStringSubmatch(t.lines[0]), stamp.FindStringSubmatch(t.lines[len(t.lines)-1])
	if first != nil && last != nil {
		fmt.Fprintf(out, ", from %s to %s", first[1], last[1])
	}

	for _, level := range []string{"FATAL", "ERROR", "WARN", "INFO", "DEBUG"} {
		if n := t.levels[level]; n > 0 {
			fmt.Fprintf(out, ", %d %s", n, level)
		}
	}

	out.WriteString(".\n")
}

// writeRepeated lists the kinds with more than one line, most frequent first.
func (t *tally) writeRepeated(out *strings.Builder) {
	repeated := t.where(func(k *lineKind) bool { return k.count > 1 })
	slices.SortStableFunc(repeated, func(a, b *lineKind) int { return cmp.Compare(b.count, a.count) })

	if len(repeated) > 0 {
		out.WriteString("\nRepeated lines, with the latest of each:\n\n")
	}

	for i, k := range repeated {
		if i == maxKinds {
			fmt.Fprintf(out, "- and %d other kinds of lines\n", len(repeated)-maxKinds)

			break
		}

		when := ""
		if k.first != "" {
			when = fmt.Sprintf(" from %s to %s", k.first, k.last)
		}

		fmt.Fprintf(out, "- %d times%s: `%s`\n", k.count, when, short(k.example))
	}
}

// writeSingles lists the unique lines, in order.
func (t *tally) writeSingles(out *strings.Builder) {
	singles := t.where(func(k *lineKind) bool { return k.count == 1 })
	if len(singles) > 0 {
		out.WriteString("\nUnique lines:\n\n")
	}

	for i, k := range singles {
		if i == maxUniqueLines {
			fmt.Fprintf(out, "- and %d others\n", len(singles)-maxUniqueLines)

			break
		}

		fmt.Fprintf(out, "- `%s`\n", strings.TrimSpace(k.first+" "+short(k.example)))
	}
}

// where returns the matching kinds, in order.
func (t *tally) where(fits func(*lineKind) bool) []*lineKind {
	var some []*lineKind

	for _, shape := range t.order {
		if k := t.kinds[shape]; fits(k) {
			some = append(some, k)
		}
	}

	return some
}

// short truncates a line and replaces characters that would end its quotation.
func short(line string) string {
	runes := []rune(strings.ReplaceAll(line, "`", "'"))
	if len(runes) > lineRunes {
		return string(runes[:lineRunes]) + "…"
	}

	return string(runes)
}
