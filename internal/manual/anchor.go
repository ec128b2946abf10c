package manual

import (
	"strconv"
	"strings"
	"unicode"
)

// Anchors returns the anchors of the headings of a Markdown text. They are those that GitHub gives, so that a link works in both places.
func Anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, h := range parse(newMarkdown(), "", []byte(text)).headings {
		found[h.Anchor] = true
	}

	return found
}

// anchor returns the anchor of a heading. The second of two equal ones ends with -1.
func anchor(text string, taken map[string]int) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		default:
			return -1
		}
	}, text)

	n := taken[slug]
	taken[slug]++

	if n > 0 {
		return slug + "-" + strconv.Itoa(n)
	}

	return slug
}
