package watch

import (
	"fmt"
	"strconv"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// gap stands where pieces of text were lost; the whole text comes when it is complete.
const gap = " […] "

func (s *Session) applyChunk(chunk tarsy.StreamChunkPayload) {
	item := s.find(chunk.EventID)
	if item == nil || item.Status != string(tarsy.EventStreaming) || chunk.Fence < item.fence {
		return
	}

	if chunk.Fence > item.fence {
		item.fence = chunk.Fence
		item.setText("")
	}

	switch {
	case chunk.Offset < item.units:
		// Sent again, to be sure: only what is new counts.
		head := cutUnits(item.Content, chunk.Offset)
		item.setText(head + chunk.Delta)
	case chunk.Offset == item.units:
		item.setText(item.Content + chunk.Delta)
	default:
		item.setText(item.Content + gap + chunk.Delta)
		item.units = chunk.Offset + units(chunk.Delta)
	}
}

func (i *Item) setText(text string) {
	i.Content, i.units = text, units(text)
	i.revision++

	if i.call != nil {
		i.call.revision++
	}
}

// units is the length of text as the wire counts it, in UTF-16.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += unitsOf(r)
	}

	return n
}

func unitsOf(r rune) int {
	if r > 0xffff {
		return 2
	}

	return 1
}

// cutUnits returns the first n units of text.
func cutUnits(text string, n int) string {
	for i, r := range text {
		if n <= 0 {
			return text[:i]
		}

		n -= unitsOf(r)
	}

	return text
}

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
