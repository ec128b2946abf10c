package postgres

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tarsy.dev/tarsy"
)

const (
	// snippetBefore and snippetLength are how many bytes of a text are shown before the first match, and in all.
	snippetBefore = 60
	snippetLength = 240
)

// field is a text of a session in which something may have matched.
type field struct{ name, text string }

// snippet shows the part of a session in which the tokens of a search are: of the text that has most of them, the first
// where several have as many.
func snippet(tokens []searchToken, fields []field) *tarsy.SearchMatch {
	var (
		best    field
		bestHit []span
		most    = -1
	)

	for _, f := range fields {
		hits, different := locate(tokens, f.text)
		if different > most {
			best, bestHit, most = f, hits, different
		}
	}

	return &tarsy.SearchMatch{Field: best.name, Snippet: cut(best.text, bestHit)}
}

// span is a part of a text, in bytes.
type span struct{ from, to int }

// locate finds where tokens are in a text, in order and without overlaps, and how many different ones there are.
func locate(tokens []searchToken, text string) (hits []span, different int) {
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		// Some letters change their length with their case. Only ASCII is folded then, as places must be those of the text.
		lower = strings.Map(func(r rune) rune {
			if r < utf8.RuneSelf {
				return unicode.ToLower(r)
			}

			return r
		}, text)
	}

	for _, token := range tokens {
		found := occurrences(lower, token)
		if len(found) > 0 {
			different++
		}

		hits = append(hits, found...)
	}

	// The longer one of two that begin at the same place.
	slices.SortFunc(hits, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to)) })

	end := 0

	return slices.DeleteFunc(hits, func(s span) bool {
		overlaps := s.from < end
		if !overlaps {
			end = s.to
		}

		return overlaps
	}), different
}

// occurrences finds a token in a text that is in lower case. It begins where a word or a part of an identifier does, and
// ends likewise unless it is a prefix.
func occurrences(text string, token searchToken) []span {
	var found []span

	for from := 0; ; {
		i := strings.Index(text[from:], token.Token)
		if i < 0 {
			return found
		}

		at := span{from: from + i, to: from + i + len(token.Token)}
		before, _ := utf8.DecodeLastRuneInString(text[:at.from])
		after, _ := utf8.DecodeRuneInString(text[at.to:])
		from = at.to

		if !wordRune(before) && (token.Prefix || !wordRune(after)) {
			found = append(found, at)
		}
	}
}

func wordRune(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// cut takes the part of a text around its first hit, on one line, and marks the hits in it.
func cut(text string, hits []span) []tarsy.SnippetPart {
	begin := 0
	if len(hits) > 0 {
		begin = wordStart(text, max(0, hits[0].from-snippetBefore), hits[0].from)
	}

	end := runeStart(text, min(len(text), begin+snippetLength))
	parts := []tarsy.SnippetPart{}

	add := func(text string, match bool) {
		if text != "" {
			parts = append(parts, tarsy.SnippetPart{Text: text, Match: match})
		}
	}

	at := begin
	if begin > 0 {
		add("… ", false)
	}

	for _, hit := range hits {
		if hit.to > end {
			break
		}

		add(oneLine(text[at:hit.from]), false)
		add(text[hit.from:hit.to], true)
		at = hit.to
	}

	add(oneLine(text[at:end]), false)

	if end < len(text) {
		add(" …", false)
	}

	return parts
}

// wordStart is the first place after a space between from and to, or from.
func wordStart(text string, from, to int) int {
	if from == 0 {
		return 0
	}

	if i := strings.IndexAny(text[from:to], " \n\t"); i >= 0 {
		return from + i + 1
	}

	return runeStart(text, from)
}

// runeStart is the beginning of the character at a place.
func runeStart(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}

	return at
}

// oneLine makes every run of white space one space.
func oneLine(text string) string {
	var b strings.Builder

	space := false

	for _, r := range text {
		if unicode.IsSpace(r) || unicode.IsControl(r) {
			space = true

			continue
		}

		if space {
			b.WriteByte(' ')
		}

		space = false

		b.WriteRune(r)
	}

	if space {
		b.WriteByte(' ')
	}

	return b.String()
}
