package watch

import (
	"fmt"
	"strconv"
	"strings"

	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client/live"
)

// words makes an identifier from the API readable.
func words(name string) string { return strings.ReplaceAll(terminal.Line(name), "_", " ") }

// count formats a number of things.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}

	return thousands(n) + " " + what + "s"
}

// thousands formats a number with thousands separators.
func thousands(n int) string {
	const group = 1000

	if n < group {
		return strconv.Itoa(n)
	}

	return fmt.Sprintf("%s,%03d", thousands(n/group), n%group)
}

// sessionTitle returns the title of a session.
func sessionTitle(s *live.Session) string { return terminal.Line(s.Facts.TitleOr(s.AlertType)) }
