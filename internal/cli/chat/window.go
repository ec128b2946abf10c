package chat

import "tarsy.dev/tarsy/flow"

// Paragraphs is the window for answers that people read as they are written: whole paragraphs or, within a paragraph of more than longest
// UTF-16 units, whole lines, sentences or words.
func Paragraphs(longest int) flow.Window {
	length := flow.WindowMaxLength(longest)

	return flow.WindowAny(flow.WindowParagraph, func(pending string) int {
		// A text of exactly this length is not cut until more follows: only then is it known where its last word ends.
		if n := length(pending); n < len(pending) {
			return n
		}

		return 0
	})
}
