package live

import "tarsy.dev/tarsy"

// Gap stands where pieces of text were lost; the whole text comes when it is complete.
const Gap = " […] "

// applyChunk takes a piece of text. Pieces may be lost or come twice; a higher fence means that the text starts over.
func (s *Session) applyChunk(chunk tarsy.StreamChunkPayload) {
	item := s.Find(chunk.EventID)
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
		head := tarsy.CutUTF16(item.Content, chunk.Offset)
		item.setText(head + chunk.Delta)
	case chunk.Offset == item.units:
		item.setText(item.Content + chunk.Delta)
	default:
		item.setText(item.Content + Gap + chunk.Delta)
		item.units = chunk.Offset + tarsy.UTF16Len(chunk.Delta)
	}
}

func (i *Item) setText(text string) {
	i.Content, i.units = text, tarsy.UTF16Len(text)
	i.Revision++

	if i.Call != nil {
		i.Call.Revision++
	}
}
