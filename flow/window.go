package flow

import "strings"

// Window decides how much of a streamed text may be passed on. It gets the text that arrived and was not passed on yet,
// and returns how many of its bytes may go now, zero for none. When the text is complete the rest goes whatever the
// window says. Windows cut between characters only.
type Window func(pending string) int

// WindowImmediate passes everything on at once.
func WindowImmediate(pending string) int { return len(pending) }

// WindowFinal passes nothing on before the text is complete.
func WindowFinal(string) int { return 0 }

// WindowParagraph passes whole paragraphs on. A code block is not divided.
func WindowParagraph(pending string) int { return lastOutsideFences(pending, paragraphEnds(pending)) }

// WindowSentence passes whole sentences and lines on. A code block is not divided.
func WindowSentence(pending string) int { return lastOutsideFences(pending, sentenceEnds(pending)) }

// WindowMaxLength passes text on when it has reached a length in UTF-16 code units, in pieces that are not longer.
func WindowMaxLength(limit int) Window {
	return func(pending string) int {
		if unitsOf(pending) < limit {
			return 0
		}

		return cutWithin(pending, limit)
	}
}

// WindowAny passes on what the first of several windows does that passes on anything.
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

// Add takes a piece of the stream and returns what may be passed on now.
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

// Flush returns the rest when the stream is complete.
func (w *Windower) Flush() string {
	rest := w.pending
	w.pending = ""

	return rest
}

// lastOutsideFences returns the last of the ends that is not inside a code block, zero if there is none.
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
