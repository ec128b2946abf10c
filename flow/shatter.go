package flow

import "strings"

// Shatter splits a text into messages. The messages joined are the text, except that ShatterMaxLength adds lines where it
// splits a code block.
type Shatter func(text string) []string

// ShatterNone keeps a text as one message.
func ShatterNone(text string) []string { return nonEmpty([]string{text}) }

// ShatterParagraph makes each paragraph a message. Code blocks are not split.
func ShatterParagraph(text string) []string { return divide(text, paragraphEnds(text)) }

// ShatterSentence makes each sentence and each line a message. Code blocks are not split.
func ShatterSentence(text string) []string { return divide(text, sentenceEnds(text)) }

// ShatterMaxLength splits a text into pieces of at most limit UTF-16 code units, at paragraphs, lines, sentences or words if
// possible. A code block that is split is closed at the end of its piece and reopened in the next, so that each piece is
// complete Markdown.
func ShatterMaxLength(limit int) Shatter {
	return func(text string) []string {
		var messages []string
		for _, piece := range pieces(text, limit) {
			messages = append(messages, piece.opened+piece.body+piece.closed)
		}

		return messages
	}
}

// ShatterEach applies shatters in order: each splits the pieces of the previous one.
func ShatterEach(shatters ...Shatter) Shatter {
	return func(text string) []string {
		parts := ShatterNone(text)

		for _, shatter := range shatters {
			var divided []string
			for _, part := range parts {
				divided = append(divided, shatter(part)...)
			}

			parts = divided
		}

		return parts
	}
}

func nonEmpty(parts []string) []string {
	var kept []string

	for _, part := range parts {
		if part != "" {
			kept = append(kept, part)
		}
	}

	return kept
}

// divide splits a text at the ends that are outside code blocks.
func divide(text string, ends []int) []string {
	var (
		parts []string
		open  fence
	)

	begin, from := 0, 0

	for _, end := range ends {
		open = open.after(text[from:end])
		from = end

		if open.marker == "" {
			parts = append(parts, text[begin:end])
			begin = end
		}
	}

	return nonEmpty(append(parts, text[begin:]))
}

// piece is a part of a text with the fence lines that make it complete Markdown.
type piece struct {
	opened string
	body   string
	closed string
}

// minFenced is the shortest limit at which code blocks are closed and reopened. maxOpener is the longest opening line that is
// repeated in full; a longer one is repeated without its info string.
const (
	minFenced = 64
	maxOpener = 24
)

func pieces(text string, limit int) []piece {
	var (
		all  []piece
		open fence
	)

	for text != "" {
		next := piece{opened: open.reopen()}
		room := limit - unitsOf(next.opened)

		if limit < minFenced {
			next.opened, room = "", limit
		}

		next.body = text[:cutPiece(text, room, open, limit >= minFenced)]
		text = text[len(next.body):]
		open = open.after(next.body)

		if text != "" && open.marker != "" && limit >= minFenced {
			next.closed = open.marker
			if !strings.HasSuffix(next.body, "\n") {
				next.closed = "\n" + open.marker
			}
		}

		all = append(all, next)
	}

	return all
}

// reopen returns the line that reopens a code block, or an empty string outside one.
func (f fence) reopen() string {
	switch {
	case f.marker == "":
		return ""
	case unitsOf(f.line) > maxOpener:
		return f.marker + "\n"
	}

	return f.line + "\n"
}

// cutPiece returns where to end a piece that can hold room units.
func cutPiece(text string, room int, open fence, fenced bool) int {
	if prefixWithin(text, room) == len(text) {
		return len(text)
	}

	cut := cutWithin(text, room)
	if !fenced {
		return cut
	}

	if inside := open.after(text[:cut]); inside.marker != "" {
		cut = cutWithin(text, room-len(inside.marker)-1)
	}

	// Do not split a line that opens or closes a block.
	begin := strings.LastIndexByte(text[:cut], '\n') + 1
	line, _, _ := strings.Cut(text[begin:], "\n")

	if marker, _ := fenceMarker(line); marker == "" || begin == cut {
		return cut
	}

	if begin > 0 {
		return begin
	}

	if end := len(line) + 1; end <= len(text) && end <= prefixWithin(text, room-len(open.marker)-4) {
		return end
	}

	return cut
}
