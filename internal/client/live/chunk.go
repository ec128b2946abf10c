package live

import "tarsy.dev/tarsy"

// Gap marks lost pieces of text; the whole text arrives when it is complete.
const Gap = " […] "

// applyChunk applies a piece of text. Pieces can be lost or repeated; a higher fence means that the text starts over.
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
		// The piece repeats text that has already arrived, so it replaces everything from its offset.
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
