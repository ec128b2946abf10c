package flow

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unitsOf is the length of a text in UTF-16 code units, in which Discord and browsers count.
func unitsOf(text string) int {
	n := 0
	for _, r := range text {
		n += unitsOfRune(r)
	}

	return n
}

func unitsOfRune(r rune) int {
	if r > 0xFFFF {
		return 2
	}

	return 1
}

// prefixWithin is the length in bytes of the longest prefix of whole characters within a number of units, at least one
// character.
func prefixWithin(text string, units int) int {
	for at, r := range text {
		if units -= unitsOfRune(r); units < 0 {
			if at == 0 {
				_, size := utf8.DecodeRuneInString(text)

				return size
			}

			return at
		}
	}

	return len(text)
}

// paragraphEnds are the offsets behind each blank line.
func paragraphEnds(text string) []int {
	var ends []int

	at, blank := 0, true

	for line := range strings.Lines(text) {
		at += len(line)

		whole := strings.HasSuffix(line, "\n")
		empty := strings.TrimSpace(line) == ""

		if whole && empty && !blank {
			ends = append(ends, at)
		}

		blank = empty
	}

	return ends
}

// sentenceEnds are the offsets behind each sentence and each line, with the white space that follows.
func sentenceEnds(text string) []int {
	var ends []int

	for at, r := range text {
		next := at + utf8.RuneLen(r)

		switch {
		case r == '\n':
			ends = append(ends, next)
		case strings.ContainsRune("。！？", r):
			ends = append(ends, next)
		case strings.ContainsRune(".!?…", r) && !numbersLine(text[:at]):
			if end := sentenceEnd(text[next:]); end > 0 {
				ends = append(ends, next+end)
			}
		}
	}

	return ends
}

// sentenceEnd is the length of what belongs to a sentence behind its full stop: closing quotes and brackets, then white
// space. Without white space the sentence has not ended, or its end is not there yet.
func sentenceEnd(rest string) int {
	closed := strings.TrimLeft(rest, `"')]}»”’*_`)
	open := strings.TrimLeft(closed, " \t")

	if len(open) == len(closed) {
		return 0
	}

	return len(rest) - len(open)
}

// numbersLine reports whether a line consists of a number so far, as in "1. first".
func numbersLine(before string) bool {
	line := strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:])

	return line != "" && strings.TrimFunc(line, unicode.IsDigit) == ""
}

// cutWithin is where to cut a text that is longer than a number of units: behind a paragraph, a line, a sentence or a word,
// whichever comes first in this order and leaves at least half of the length; otherwise within a word.
func cutWithin(text string, units int) int {
	limit := prefixWithin(text, units)
	if limit == len(text) {
		return limit
	}

	head := text[:limit]

	for _, ends := range [][]int{paragraphEnds(head), lineEnds(head), sentenceEnds(head), wordEnds(head)} {
		if len(ends) > 0 && ends[len(ends)-1] >= limit/2 {
			return ends[len(ends)-1]
		}
	}

	return limit
}

// lineEnds are the offsets behind each line.
func lineEnds(text string) []int {
	if at := strings.LastIndexByte(text, '\n'); at >= 0 {
		return []int{at + 1}
	}

	return nil
}

// wordEnds holds the offset behind the last white space.
func wordEnds(text string) []int {
	if at := strings.LastIndexFunc(text, unicode.IsSpace); at >= 0 {
		_, size := utf8.DecodeRuneInString(text[at:])

		return []int{at + size}
	}

	return nil
}
