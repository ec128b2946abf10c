package flow

import "strings"

// fence is the state of a Markdown text at the start of a line: inside a code block, or outside one if marker is empty.
type fence struct {
	marker string // the backticks or tildes that opened the block
	line   string // the whole opening line
}

// after returns the state after a text that begins at the start of a line. A last line without a newline counts as a line.
func (f fence) after(text string) fence {
	for line := range strings.Lines(text) {
		f = f.afterLine(strings.TrimRight(line, "\r\n"))
	}

	return f
}

func (f fence) afterLine(line string) fence {
	marker, rest := fenceMarker(line)

	switch {
	case marker == "":
		return f
	case f.marker == "":
		// Backticks after the marker make the line inline code.
		if marker[0] == '`' && strings.Contains(rest, "`") {
			return f
		}

		return fence{marker: marker, line: line}
	case marker[0] == f.marker[0] && len(marker) >= len(f.marker) && strings.TrimSpace(rest) == "":
		return fence{}
	}

	return f
}

// fenceMarker returns the marker at the start of a line and the rest of the line. Both are empty if there is no marker.
func fenceMarker(line string) (marker, rest string) {
	trimmed := strings.TrimLeft(line, " ")
	if len(line)-len(trimmed) > 3 || trimmed == "" || (trimmed[0] != '`' && trimmed[0] != '~') {
		return "", ""
	}

	rest = strings.TrimLeft(trimmed, trimmed[:1])
	if n := len(trimmed) - len(rest); n >= 3 && n <= 16 { // longer ones are decoration
		return trimmed[:n], rest
	}

	return "", ""
}
