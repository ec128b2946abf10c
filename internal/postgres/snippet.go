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
	// snippetBefore is how many bytes of a text are shown before the first match, and snippetLength how many in all.
	snippetBefore = 60
	snippetLength = 240
)

// field is a text of a session that may have matched.
type field struct{ name, text string }

// snippet shows the part of a session that contains the tokens of a search: of the text that has most of them, the first if
// several have as many.
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

// span is a range of bytes in a text.
type span struct{ from, to int }

// locate returns where tokens occur in a text, in order and without overlaps, and how many distinct ones do.
func locate(tokens []searchToken, text string) (hits []span, different int) {
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		// Some letters change their length with their case. Fold only ASCII then, because positions must be those of the text.
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

	// Of two that begin at the same position, the longer one first.
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

// occurrences finds a token in a lower-case text. It must begin where a word or a part of an identifier does, and end likewise
// unless it is a prefix.
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

// cut returns the part of a text around its first hit, on one line, with the hits in it marked.
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

// wordStart returns the first position after a space between from and to, or from.
func wordStart(text string, from, to int) int {
	if from == 0 {
		return 0
	}

	if i := strings.IndexAny(text[from:to], " \n\t"); i >= 0 {
		return from + i + 1
	}

	return runeStart(text, from)
}

// runeStart returns the start of the character at a position.
func runeStart(text string, at int) int {
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}

	return at
}

// oneLine replaces every run of white space with one space.
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
