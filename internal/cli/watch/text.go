package watch

import (
	"fmt"
	"strconv"
	"strings"

	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client/live"
)

// words makes a name of the wire readable.
func words(name string) string { return strings.ReplaceAll(terminal.Line(name), "_", " ") }

// count says how many of something there are.
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}

	return thousands(n) + " " + what + "s"
}

// thousands writes a number as people read it.
func thousands(n int) string {
	const group = 1000

	if n < group {
		return strconv.Itoa(n)
	}

	return fmt.Sprintf("%s,%03d", thousands(n/group), n%group)
}

// sessionTitle is what the session is called.
func sessionTitle(s *live.Session) string { return terminal.Line(s.Facts.TitleOr(s.AlertType)) }
