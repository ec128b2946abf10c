package stream

import (
	"sync"

	"tarsy.dev/tarsy"
)

// Encoded is a chunk together with its JSON. All readers of the chunk share the JSON, which is encoded on first use: with a thousand
// readers, encoding for each cost more than everything else.
type Encoded struct {
	tarsy.StreamChunkPayload

	frame func() []byte
}

func newEncoded(chunk tarsy.StreamChunkPayload) *Encoded {
	return &Encoded{StreamChunkPayload: chunk, frame: sync.OnceValue(func() []byte {
		return []byte(encodeChunk(tarsy.SessionChannel(chunk.SessionID), chunk))
	})}
}
