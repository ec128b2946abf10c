package flow

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unitsOf returns the length of a text in UTF-16 code units, the unit in which Discord and browsers count.
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

// prefixWithin returns the length in bytes of the longest prefix that fits in a number of units. It does not split characters
// and returns at least one.
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

// paragraphEnds returns the offset after the first blank line behind each paragraph.
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

// sentenceEnds returns the offset after each line and after each sentence with its trailing white space.
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

// sentenceEnd returns the length of what follows a full stop and still belongs to the sentence: closing quotes and brackets,
// then white space. It returns zero without white space: the sentence goes on, or its end has not arrived yet.
func sentenceEnd(rest string) int {
	closed := strings.TrimLeft(rest, `"')]}»”’*_`)
	open := strings.TrimLeft(closed, " \t")

	if len(open) == len(closed) {
		return 0
	}

	return len(rest) - len(open)
}

// numbersLine reports whether the last line consists only of a number so far, as in "1. first".
func numbersLine(before string) bool {
	line := strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:])

	return line != "" && strings.TrimFunc(line, unicode.IsDigit) == ""
}

// cutWithin returns where to cut a text that is longer than a number of units: after a paragraph, line, sentence or word, in
// this order of preference, if that leaves at least half of the length; otherwise within a word.
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

// lineEnds returns the offset after the last newline, if any.
func lineEnds(text string) []int {
	if at := strings.LastIndexByte(text, '\n'); at >= 0 {
		return []int{at + 1}
	}

	return nil
}

// wordEnds returns the offset after the last white space, if any.
func wordEnds(text string) []int {
	if at := strings.LastIndexFunc(text, unicode.IsSpace); at >= 0 {
		_, size := utf8.DecodeRuneInString(text[at:])

		return []int{at + size}
	}

	return nil
}
