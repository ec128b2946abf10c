package terminal

import "strings"

// MarkdownStream shows Markdown that arrives in parts. A part ends between paragraphs or, where a paragraph is too long,
// inside of one; a code block may go on in the next part.
type MarkdownStream struct {
	markdown markdown
	blank    bool // an empty line belongs before the next part
}

// Stream returns a stream of lines of at most width cells.
func (p Palette) Stream(width int, base Style) *MarkdownStream {
	return &MarkdownStream{markdown: markdown{palette: p, width: width, base: base}}
}

// Add returns the lines of a part of clean Markdown.
func (s *MarkdownStream) Add(part string) []string {
	text := strings.TrimRight(part, "\n ")
	if text == "" {
		return nil
	}

	s.markdown.out = nil
	if s.blank {
		s.markdown.out = []string{""}
	}

	for line := range strings.SplitSeq(text, "\n") {
		s.markdown.line(strings.TrimRight(line, " "))
	}

	s.markdown.flush()
	s.blank = strings.Count(part[len(text):], "\n") > 1

	return s.markdown.out
}
