package watch

import (
	"unicode/utf16"

	"tarsy.dev/tarsy"
)

// gap stands where pieces of text were lost; the whole text comes when it is complete.
const gap = " […] "

// applyChunk takes a piece of text. Pieces may be lost or come twice; a higher fence means that the text starts over.
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
		n += utf16.RuneLen(r)
	}

	return n
}

// cutUnits returns the first n units of text.
func cutUnits(text string, n int) string {
	for i, r := range text {
		if n <= 0 {
			return text[:i]
		}

		n -= utf16.RuneLen(r)
	}

	return text
}
