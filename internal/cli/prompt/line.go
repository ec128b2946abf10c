// Package prompt reads lines in a terminal: line editing, a history, and an editor that keeps the line below what is printed. It does not
// know what is asked or who answers.
package prompt

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"tarsy.dev/tarsy/internal/cli/terminal"
)

// Line is the line that is being edited, with a history. It is not safe for concurrent use.
type Line struct {
	text    []rune
	at      int // the cursor
	history []string
	shown   int    // the index of the recalled history line; len(history) for none
	draft   []rune // the text typed before a history line was recalled
}

// NewLine returns an empty line. It cleans the history, which can contain what others wrote.
func NewLine(history []string) *Line {
	l := &Line{}
	for _, line := range history {
		l.remember(terminal.Line(line))
	}

	l.shown = len(l.history)

	return l
}

// Text returns the text of the line.
func (l *Line) Text() string { return string(l.text) }

// Clear empties the line.
func (l *Line) Clear() {
	l.set(nil)
	l.shown, l.draft = len(l.history), nil
}

// Take returns the line without surrounding white space, adds it to the history and clears it.
func (l *Line) Take() string {
	text := strings.TrimSpace(string(l.text))
	l.remember(text)
	l.Clear()

	return text
}

// Recalling reports whether a line of the history is shown.
func (l *Line) Recalling() bool { return l.shown < len(l.history) }

// SetHistory replaces the history and keeps the text of the line.
func (l *Line) SetHistory(history []string) {
	l.history = NewLine(history).history
	l.shown, l.draft = len(l.history), nil
}

func (l *Line) remember(text string) {
	if text != "" && (len(l.history) == 0 || l.history[len(l.history)-1] != text) {
		l.history = append(l.history, text)
	}
}

func (l *Line) set(text []rune) { l.text, l.at = text, len(text) }

// Insert puts text at the cursor, on one line and without characters that a terminal would not print.
func (l *Line) Insert(text string) {
	var typed []rune

	for _, r := range terminal.Clean(text) {
		if r == '\n' {
			r = ' '
		}

		typed = append(typed, r)
	}

	l.text = slices.Insert(l.text, l.at, typed...)
	l.at += len(typed)
}

// Press applies an editing key. It reports whether the key is one.
func (l *Line) Press(key tea.KeyPressMsg) bool {
	switch key.String() {
	case "left", "ctrl+b":
		l.at = max(0, l.at-1)
	case "right", "ctrl+f":
		l.at = min(len(l.text), l.at+1)
	case "home", "ctrl+a":
		l.at = 0
	case "end", "ctrl+e":
		l.at = len(l.text)
	case "backspace", "ctrl+h":
		l.remove(max(0, l.at-1), l.at)
	case "delete", "ctrl+d":
		l.remove(l.at, min(len(l.text), l.at+1))
	case "ctrl+u":
		l.remove(0, l.at)
	case "ctrl+k":
		l.remove(l.at, len(l.text))
	case "ctrl+w", "alt+backspace":
		l.remove(l.wordStart(), l.at)
	case "up", "ctrl+p":
		l.recall(l.shown - 1)
	case "down", "ctrl+n":
		l.recall(l.shown + 1)
	default:
		if key.Text == "" {
			return false
		}

		l.Insert(key.Text)
	}

	return true
}

func (l *Line) remove(from, to int) {
	l.text = slices.Delete(l.text, from, to)
	l.at = from
}

func (l *Line) wordStart() int {
	at := l.at
	for at > 0 && unicode.IsSpace(l.text[at-1]) {
		at--
	}

	for at > 0 && !unicode.IsSpace(l.text[at-1]) {
		at--
	}

	return at
}

// recall shows a line of the history; after the last one comes the draft.
func (l *Line) recall(number int) {
	if number < 0 || number > len(l.history) {
		return
	}

	if l.shown == len(l.history) {
		l.draft = slices.Clone(l.text)
	}

	l.shown = number

	if number == len(l.history) {
		l.set(l.draft)
	} else {
		l.set([]rune(l.history[number]))
	}
}

// View returns the part of the line that fits the width, and the cell of the cursor.
func (l *Line) View(width int) (text string, cursor int) {
	width = max(width, 2)
	before := terminal.Width(string(l.text[:l.at]))
	from := max(0, before-width+1)

	return ansi.Cut(string(l.text), from, from+width), before - from
}
