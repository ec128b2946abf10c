package discord

import (
	"bytes"
	"compress/zlib"

	"github.com/klauspost/compress/zstd"
)

// encoder encodes a payload for sending: as it is, or compressed.
type encoder interface {
	// encode returns what to send, and whether it is binary.
	encode(payload []byte) ([]byte, bool, error)
}

// newEncoder returns the encoder that a client requested when it connected; it returns false for an unknown compression.
func newEncoder(compress string) (encoder, bool) {
	switch compress {
	case "":
		return &plainEncoder{}, true
	case "zlib-stream":
		e := &streamEncoder{}
		e.to = zlib.NewWriter(&e.buffer)

		return e, true
	case "zstd-stream":
		e := &streamEncoder{}

		to, err := zstd.NewWriter(&e.buffer, zstd.WithEncoderConcurrency(1))
		e.to = to

		return e, err == nil
	default:
		return nil, false
	}
}

// streamEncoder compresses all payloads of a connection as one stream, flushed after each.
type streamEncoder struct {
	buffer bytes.Buffer
	to     interface {
		Write(data []byte) (int, error)
		Flush() error
	}
}

func (e *streamEncoder) encode(payload []byte) ([]byte, bool, error) {
	e.buffer.Reset()

	if _, err := e.to.Write(payload); err != nil {
		return nil, false, err
	}

	if err := e.to.Flush(); err != nil {
		return nil, false, err
	}

	return e.buffer.Bytes(), true, nil
}

// plainEncoder sends text. Payloads are compressed one by one if the client requested that when it identified.
type plainEncoder struct{}

func (*plainEncoder) encode(payload []byte) ([]byte, bool, error) { return payload, false, nil }

// compressPayload compresses a single payload.
func compressPayload(payload []byte) ([]byte, error) {
	var buffer bytes.Buffer

	to := zlib.NewWriter(&buffer)
	if _, err := to.Write(payload); err != nil {
		return nil, err
	}

	if err := to.Close(); err != nil {
		return nil, err
	}

	return buffer.Bytes(), nil
}
