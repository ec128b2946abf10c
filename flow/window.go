package flow

import "strings"

// Window decides how much of a streamed text to pass on. It gets the text that has arrived and was not passed on yet, and
// returns how many of its bytes to pass on now, zero for none. Once the text is complete, the rest is passed on regardless of
// the window. A window must not split characters.
type Window func(pending string) int

// WindowImmediate passes everything on immediately.
func WindowImmediate(pending string) int { return len(pending) }

// WindowFinal passes nothing on until the text is complete.
func WindowFinal(string) int { return 0 }

// WindowParagraph passes on whole paragraphs. Code blocks are not split.
func WindowParagraph(pending string) int { return lastOutsideFences(pending, paragraphEnds(pending)) }

// WindowSentence passes on whole sentences and lines. Code blocks are not split.
func WindowSentence(pending string) int { return lastOutsideFences(pending, sentenceEnds(pending)) }

// WindowMaxLength passes text on once it has reached a length in UTF-16 code units, in pieces no longer than that.
func WindowMaxLength(limit int) Window {
	return func(pending string) int {
		if unitsOf(pending) < limit {
			return 0
		}

		return cutWithin(pending, limit)
	}
}

// WindowAny applies the first of several windows that passes anything on.
func WindowAny(windows ...Window) Window {
	return func(pending string) int {
		for _, window := range windows {
			if n := window(pending); n > 0 {
				return n
			}
		}

		return 0
	}
}

// Windower applies a window to one stream. It is not safe for concurrent use.
type Windower struct {
	window  Window
	pending string
}

// NewWindower returns a windower for a new stream.
func NewWindower(window Window) *Windower { return &Windower{window: window} }

// Add adds a piece of the stream and returns the text to pass on now.
func (w *Windower) Add(text string) []string {
	w.pending += text

	var pieces []string

	for w.pending != "" {
		n := min(w.window(w.pending), len(w.pending))
		if n <= 0 {
			break
		}

		pieces = append(pieces, w.pending[:n])
		w.pending = w.pending[n:]
	}

	return pieces
}

// Flush returns the remaining text once the stream is complete.
func (w *Windower) Flush() string {
	rest := w.pending
	w.pending = ""

	return rest
}

// lastOutsideFences returns the last end that is outside code blocks and not followed by a newline, zero if there is none.
func lastOutsideFences(text string, ends []int) int {
	last, from := 0, 0

	var open fence

	for _, end := range ends {
		open = open.after(text[from:end])
		from = end

		if open.marker == "" && (end == len(text) || !strings.HasPrefix(text[end:], "\n")) {
			last = end
		}
	}

	return last
}
