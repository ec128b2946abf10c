package cassette

import (
	"bytes"
	"encoding/json"
	"strings"
)

// compact removes the white space from JSON; anything else is returned unchanged.
func compact(body []byte) []byte {
	tree, err := parseTree(body)
	if err != nil {
		return body
	}

	return appendTree(nil, tree)
}

// arrange turns the pieces that came from the network into readable chunks: one per event of a stream, or one for an answer
// that is a single JSON object. Each has the time at which its last byte arrived.
func arrange(pieces []Chunk, contentType string) []Chunk {
	if strings.HasPrefix(contentType, "text/event-stream") {
		return events(pieces)
	}

	whole := Chunk{}
	for _, piece := range pieces {
		whole.After += piece.After
		whole.Data = append(whole.Data, piece.Data...)
	}

	// A list is the stream of one API.
	if list := bytes.HasPrefix(bytes.TrimSpace(whole.Data), []byte("[")); len(pieces) > 0 && !list && json.Valid(whole.Data) {
		return []Chunk{whole}
	}

	return pieces
}

// events splits a stream after each empty line.
func events(pieces []Chunk) []Chunk {
	var (
		found []Chunk
		open  Chunk
	)

	for _, piece := range pieces {
		open.After += piece.After
		open.Data = append(open.Data, piece.Data...)

		for {
			end := eventEnd(open.Data)
			if end < 0 {
				break
			}

			found = append(found, Chunk{After: open.After, Data: bytes.Clone(open.Data[:end])})
			open = Chunk{Data: open.Data[end:]}
		}
	}

	if len(open.Data) > 0 {
		found = append(found, open)
	}

	return found
}

// eventEnd returns where the first event of a stream ends, including its empty line, or -1.
func eventEnd(data []byte) int {
	end := -1

	for _, empty := range []string{"\n\n", "\r\n\r\n"} {
		if at := bytes.Index(data, []byte(empty)); at >= 0 && (end < 0 || at+len(empty) < end) {
			end = at + len(empty)
		}
	}

	return end
}
