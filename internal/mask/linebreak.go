package mask

import "strings"

// mostSlashes is how deep a text in a text in a text is read.
const mostSlashes = 8

// breakAt returns the length of the line break that begins at a position, or 0. In escaped text a line break is written as a
// letter behind backslashes.
func breakAt(text string, at int) int {
	end := at
	for end < len(text) && end-at < 2*mostSlashes {
		size := 0

		switch text[end] {
		case '\n':
			return end + 1 - at
		case '\r':
			size = 1
		case '\\':
			for size < mostSlashes && end+size < len(text) && text[end+size] == '\\' {
				size++
			}

			if end+size >= len(text) || text[end+size] != 'n' && text[end+size] != 'r' {
				return 0
			}

			if size++; text[end+size-1] == 'n' {
				return end + size - at
			}
		default:
			return 0
		}

		end += size
	}

	return 0
}

// rowEnd returns where the line of a position ends, and where the next one begins. Both are the end of the text in its last line.
func rowEnd(text string, at int) (end, next int) {
	for at < len(text) {
		i := strings.IndexAny(text[at:], "\n\r\\")
		if i < 0 {
			break
		}

		at += i
		if size := breakAt(text, at); size > 0 {
			return at, at + size
		}

		at++
	}

	return len(text), len(text)
}

// rowStart returns where the line of a position begins, or a position that is far enough away.
func rowStart(text string, at, most int) int {
	from := max(0, at-most)
	for i := at; i > from; i-- {
		if text[i-1] == '\n' || text[i-1] == 'n' && i > 1 && text[i-2] == '\\' {
			return i
		}
	}

	return from
}

// skipRun passes everything up to the next space.
func skipRun(text string, at int) int {
	for n := 0; n < longestDoubt && at < len(text) && !isSpace(text[at]) && breakAt(text, at) == 0; n++ {
		at++
	}

	return at
}
