package infer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/internal/plaintext"
)

// Passage is a part of a note.
type Passage struct {
	// The words, exactly as in the note.
	Quote string
	// Where they are, in UTF-16 units.
	Start int
	End   int
}

// find returns the first passage of a note with these words, or nil. White space may differ, because models join lines.
func find(note, words string) *Passage {
	words = strings.Join(strings.Fields(plaintext.Clean(words)), " ")
	if words == "" {
		return nil
	}

	squeezed, offsets := squeeze(note)

	at := strings.Index(squeezed, words)
	if at < 0 {
		// The prompt escapes markers, and the model copies the escaped form.
		words = strings.ReplaceAll(words, quote.Neutral("<!--"), "<!--")
		if at = strings.Index(squeezed, words); at < 0 {
			return nil
		}
	}

	from, to := offsets[at], offsets[at+len(words)-1]+1
	start := utf16Length(note[:from])

	return &Passage{Quote: note[from:to], Start: start, End: start + utf16Length(note[from:to])}
}

// squeeze replaces each run of white space with one space. offsets maps each byte of the result to its offset in text.
func squeeze(text string) (squeezed string, offsets []int) {
	var b strings.Builder

	space := false

	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if unicode.IsSpace(r) {
			if !space {
				b.WriteByte(' ')
				offsets = append(offsets, at)
			}

			space = true
		} else {
			b.WriteString(text[at : at+size])

			for i := range size {
				offsets = append(offsets, at+i)
			}

			space = false
		}

		at += size
	}

	return b.String(), offsets
}

// utf16Length counts UTF-16 units, as browsers do.
func utf16Length(text string) int {
	n := 0

	for _, r := range text {
		n++

		if r > 0xffff {
			n++
		}
	}

	return n
}

// oneLine returns a text of the model on one line, without invisible characters.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(plaintext.Clean(text)), " ")

	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if plaintext.Invisible(r) {
			return -1
		}

		return r
	}, text))
}

// cut returns the first characters of a text, with an ellipsis if something is missing.
func cut(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}

	return string([]rune(text)[:limit-1]) + "…"
}
