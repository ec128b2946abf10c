package terminal

import "strings"

// Style is the look of a piece of text. Only the sixteen colours that every theme has are used.
type Style string

// The styles, as parameters of their escape sequences.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Italic Style = "3"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Blue   Style = "34"
	Purple Style = "35"
	Cyan   Style = "36"
)

// With combines two styles.
func (s Style) With(other Style) Style {
	switch {
	case s == Plain:
		return other
	case other == Plain:
		return s
	default:
		return s + ";" + other
	}
}

// Palette paints text, or leaves it unchanged without colours.
type Palette struct{ Colour bool }

// Paint returns text in a style.
func (p Palette) Paint(style Style, text string) string {
	if !p.Colour || style == Plain || strings.TrimSpace(text) == "" {
		return text
	}

	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}
