package flow

import "strings"

// Shatter divides a text into the messages in which it is sent. Joined, the pieces are the text; only ShatterMaxLength
// adds lines, where it divides a code block.
type Shatter func(text string) []string

// ShatterNone sends a text as one message.
func ShatterNone(text string) []string { return nonEmpty([]string{text}) }

// ShatterParagraph makes each paragraph a message. A code block is not divided.
func ShatterParagraph(text string) []string { return divide(text, paragraphEnds(text)) }

// ShatterSentence makes each sentence and each line a message. A code block is not divided.
func ShatterSentence(text string) []string { return divide(text, sentenceEnds(text)) }

// ShatterMaxLength divides a text into pieces of at most limit UTF-16 code units, at paragraphs, lines, sentences or words
// where it can. A code block that is divided is closed at the end of its piece and opened again in the next, so that each
// piece is complete Markdown.
func ShatterMaxLength(limit int) Shatter {
	return func(text string) []string {
		var messages []string
		for _, piece := range pieces(text, limit) {
			messages = append(messages, piece.opened+piece.body+piece.closed)
		}

		return messages
	}
}

// ShatterEach applies one shatter after the other: each divides what the one before it left.
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

// divide cuts a text at those ends that are outside of code blocks.
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

// piece is a part of a text with the lines that make it complete Markdown.
type piece struct {
	opened string
	body   string
	closed string
}

// minFenced is the shortest limit at which code blocks are closed and opened again, and maxOpener the longest opening line
// that is repeated; a longer one is repeated without its info string.
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

// reopen is the line that opens the block of a fence again, empty outside of one.
func (f fence) reopen() string {
	switch {
	case f.marker == "":
		return ""
	case unitsOf(f.line) > maxOpener:
		return f.marker + "\n"
	}

	return f.line + "\n"
}

// cutPiece is where to end a piece that has room for so many units.
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

	// A line that opens or closes a block stays whole.
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
