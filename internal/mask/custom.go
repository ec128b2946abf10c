package mask

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Custom is a pattern configured by the operator.
type Custom struct {
	Pattern     string
	Replacement string // may use $1; empty means [MASKED_CUSTOM]
	Description string
}

// custom is a compiled Custom.
type custom struct {
	re          *regexp.Regexp
	replacement string
	// next finds a match after the first character of a text, which is there only as context for ^ and \b. Its first group is the
	// match.
	next *regexp.Regexp
}

// CheckPattern returns an error for a pattern that New rejects.
func CheckPattern(pattern string) error {
	_, err := newCustom(Custom{Pattern: pattern})

	return err
}

func newCustom(c Custom) (custom, error) {
	re, err := regexp.Compile(c.Pattern)
	if err != nil {
		return custom{}, fmt.Errorf("custom pattern %q: %w", c.Pattern, err)
	}

	next, err := regexp.Compile(`\A(?s:.)(?s:.*?)(` + c.Pattern + `)`)
	if err != nil {
		return custom{}, fmt.Errorf("custom pattern %q: %w", c.Pattern, err)
	}

	if c.Replacement == "" {
		c.Replacement = marker("custom")
	}

	return custom{re: re, replacement: c.Replacement, next: next}, nil
}

// mask replaces the matches, but leaves markers alone: masked text must not change. Finding all matches at once may take quadratic
// time, with expressions such as a(.*b)?; so they are found one by one, and the budget is checked in between.
func (c custom) mask(text string, work *budget) string {
	m := c.re.FindStringSubmatchIndex(text)
	if m == nil {
		return text
	}

	var (
		out  strings.Builder
		done int
	)

	for ; m != nil && work.spend(lookEvery); m = c.after(text, m) {
		if m[0] == m[1] || bare(text[m[0]:m[1]]) || within(text, m[0]) {
			continue
		}

		out.WriteString(text[done:m[0]])
		out.Write(c.re.ExpandString(nil, c.replacement, text, m))

		done = m[1]
	}

	out.WriteString(text[done:])

	return out.String()
}

// after returns the next match after m, or nil.
func (c custom) after(text string, m []int) []int {
	at := m[1]
	if m[0] == m[1] {
		_, width := utf8.DecodeRuneInString(text[at:])
		at += width
	}

	if at == 0 || at >= len(text) {
		return nil
	}

	_, width := utf8.DecodeLastRuneInString(text[:at])
	from := at - width

	next := c.next.FindStringSubmatchIndex(text[from:])
	if next == nil {
		return nil
	}

	// The rest are the groups of the pattern itself.
	next = next[2:]

	for i := range next {
		if next[i] >= 0 {
			next[i] += from
		}
	}

	return next
}
