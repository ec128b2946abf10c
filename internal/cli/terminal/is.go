package terminal

import "github.com/charmbracelet/x/term"

// Is reports whether a file is a terminal.
func Is(file uintptr) bool { return term.IsTerminal(file) }
