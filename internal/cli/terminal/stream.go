package terminal

import "strings"

// MarkdownStream renders Markdown that arrives in parts. A part ends between paragraphs or, if a paragraph is too long, inside one; a code
// block can continue in the next part.
type MarkdownStream struct {
	markdown markdown
	begun    bool
	breaks   int // line breaks since the last rendered line
}

// Stream returns a stream that renders lines of at most width cells.
func (p Palette) Stream(width int, base Style) *MarkdownStream {
	return &MarkdownStream{markdown: markdown{palette: p, width: width, base: base}}
}

// Add returns the lines for a part of clean Markdown.
func (s *MarkdownStream) Add(part string) []string {
	text := s.skipBreaks(strings.TrimRight(part, "\n "))
	if text == "" {
		s.breaks += strings.Count(part, "\n")

		return nil
	}

	s.markdown.out = nil
	if s.begun && s.breaks > 1 {
		s.markdown.out = []string{""}
	}

	for line := range strings.SplitSeq(text, "\n") {
		s.markdown.line(strings.TrimRight(line, " "))
	}

	s.markdown.flush()
	s.begun = true
	s.breaks = strings.Count(part[len(strings.TrimRight(part, "\n ")):], "\n")

	return s.markdown.out
}

// skipBreaks removes line breaks at the beginning of a part: the one that ends the last line of the previous part
// and, outside code blocks, empty lines.
func (s *MarkdownStream) skipBreaks(text string) string {
	for s.begun && (s.breaks == 0 || !s.markdown.code) {
		line, rest, found := strings.Cut(text, "\n")
		if !found || strings.TrimSpace(line) != "" {
			break
		}

		text = rest
		s.breaks++
	}

	return text
}
