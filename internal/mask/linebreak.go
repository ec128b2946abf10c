package mask

import "strings"

// mostSlashes is the maximum number of backslashes of an escaped line break, for text nested in text.
const mostSlashes = 8

// breakAt returns the length of the line break at a position, or 0. In escaped text a line break is a letter after backslashes.
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

// rowEnd returns the end of the line at a position, and the start of the next line. On the last line both are the end of the text.
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

// rowStart returns the start of the line at a position, or a position at most bytes before it.
func rowStart(text string, at, most int) int {
	from := max(0, at-most)
	for i := at; i > from; i-- {
		if text[i-1] == '\n' || text[i-1] == 'n' && i > 1 && text[i-2] == '\\' {
			return i
		}
	}

	return from
}

// skipRun skips everything up to the next space.
func skipRun(text string, at int) int {
	for n := 0; n < longestDoubt && at < len(text) && !isSpace(text[at]) && breakAt(text, at) == 0; n++ {
		at++
	}

	return at
}
