package terminal

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Span is a piece of a line in one style.
type Span struct {
	Text  string
	Style Style
}

// Width returns how many cells text takes.
func Width(text string) int { return ansi.StringWidth(text) }

// Truncate cuts text to a width and marks the cut with an ellipsis.
func Truncate(text string, width int) string { return ansi.Truncate(text, max(width, 0), "…") }

// Pad fills text with spaces up to a width.
func Pad(text string, width int) string {
	return text + strings.Repeat(" ", max(0, width-Width(text)))
}

// Fold breaks a line into lines of at most width cells, anywhere, and keeps every space. A width of zero leaves it as it is.
func Fold(line string, width int) []string {
	if width <= 0 {
		return []string{line}
	}

	return strings.Split(ansi.Hardwrap(line, width, true), "\n")
}

// Spread puts text at both ends of a line. If there is not enough space, the left text is cut.
func Spread(left, right string, width int) string {
	if right == "" {
		return Truncate(left, width)
	}

	room := width - Width(right) - 1

	return Pad(Truncate(left, room), room) + " " + right
}

// Wrap breaks a paragraph into lines of at most width cells, between words, or inside a word that is longer than a line. The first line
// begins with first, all others with rest.
func (p Palette) Wrap(spans []Span, width int, first, rest string) []string {
	w := wrapper{palette: p, width: max(width, Width(first)+1, Width(rest)+1), rest: rest}
	w.put(Span{Text: first})

	for _, word := range words(spans) {
		w.add(word)
	}

	w.turn()

	return w.lines
}

// word is text that must not be broken, as pieces in one or more styles.
type word struct {
	pieces []Span
	width  int
}

func words(spans []Span) []word {
	var all []word

	open := false // the next piece belongs to the last word

	for _, span := range spans {
		for i, part := range strings.Split(span.Text, " ") {
			open = open && i == 0

			if part == "" {
				continue
			}

			if !open {
				all = append(all, word{})
				open = true
			}

			last := &all[len(all)-1]
			last.pieces = append(last.pieces, Span{part, span.Style})
			last.width += Width(part)
		}
	}

	return all
}

type wrapper struct {
	palette Palette
	width   int
	rest    string
	lines   []string
	runs    []Span // the line so far; adjacent pieces of one style are joined
	used    int
	begun   bool // the line has a word
}

// add puts a word at the end of the line or on the next one.
func (w *wrapper) add(next word) {
	if w.begun && w.used+1+next.width > w.width {
		w.wrap()
	}

	if w.begun {
		style := Plain
		if last := w.runs[len(w.runs)-1]; last.Style == next.pieces[0].Style {
			style = last.Style
		}

		w.put(Span{" ", style})
	}

	for _, piece := range next.pieces {
		w.write(piece)
	}

	w.begun = true
}

// write puts a piece on the line and, if it does not fit, on further lines.
func (w *wrapper) write(piece Span) {
	for w.used+Width(piece.Text) > w.width {
		head := ansi.Truncate(piece.Text, w.width-w.used, "")
		if head == "" && w.used <= Width(w.rest) {
			break // a character wider than the line
		}

		w.put(Span{head, piece.Style})
		piece.Text = strings.TrimPrefix(piece.Text, head)
		w.wrap()
	}

	w.put(piece)
}

func (w *wrapper) put(span Span) {
	w.used += Width(span.Text)

	if n := len(w.runs); n > 0 && w.runs[n-1].Style == span.Style {
		w.runs[n-1].Text += span.Text
	} else {
		w.runs = append(w.runs, span)
	}
}

// wrap ends the line and begins the next one.
func (w *wrapper) wrap() {
	w.turn()
	w.put(Span{Text: w.rest})
}

// turn ends the line.
func (w *wrapper) turn() {
	var line strings.Builder
	for _, run := range w.runs {
		line.WriteString(w.palette.Paint(run.Style, run.Text))
	}

	w.lines = append(w.lines, line.String())
	w.runs, w.used, w.begun = nil, 0, false
}
