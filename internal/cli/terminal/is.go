package terminal

import "github.com/charmbracelet/x/term"

// Is reports whether a file is a terminal.
func Is(file uintptr) bool { return term.IsTerminal(file) }

// Columns returns the width of a terminal, or zero if the file is not one.
func Columns(file uintptr) int {
	width, _, err := term.GetSize(file)
	if err != nil {
		return 0
	}

	return width
}
