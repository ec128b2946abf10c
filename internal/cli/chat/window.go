package chat

import "tarsy.dev/tarsy/flow"

// Paragraphs is the window for answers that people read while they are written: whole paragraphs or, of one that is longer than a number
// of UTF-16 units, whole lines, sentences or words.
func Paragraphs(longest int) flow.Window {
	length := flow.WindowMaxLength(longest)

	return flow.WindowAny(flow.WindowParagraph, func(pending string) int {
		// A text of exactly this length is cut when it goes on: only then it is known where its last word ends.
		if n := length(pending); n < len(pending) {
			return n
		}

		return 0
	})
}
