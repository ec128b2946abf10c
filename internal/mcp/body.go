package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// A jsonBody is a response body with one message, which the SDK reads whole, whatever its size. It replaces a message that is too
// large.
type jsonBody struct {
	io.ReadCloser

	limit   int
	message io.Reader
}

func (b *jsonBody) Read(data []byte) (int, error) {
	if b.message == nil {
		buffer := &messageBuffer{limit: b.limit}
		if _, err := io.Copy(buffer, b.ReadCloser); err != nil {
			return 0, err
		}
		content := buffer.data
		if buffer.large != nil {
			if content = buffer.replacement(); content == nil {
				return 0, tooLarge(b.limit)
			}
		}
		b.message = bytes.NewReader(content)
	}

	return b.message.Read(data)
}

// replacement encodes the response that replaces a message that is too large; nil if the message is not a response.
func (m *messageBuffer) replacement() []byte {
	response := m.response()
	if response == nil {
		return nil
	}
	data, err := jsonrpc.EncodeMessage(response)
	if err != nil {
		return nil
	}

	return data
}

// An eventBody is a stream of events, each with one message. The SDK ends the connection at an event that is too large; it gets an
// event with a replacement instead, or without a message.
type eventBody struct {
	io.Closer

	limit  int
	reader *bufio.Reader
	line   []byte
}

func newEventBody(body io.ReadCloser, limit int) *eventBody {
	return &eventBody{Closer: body, limit: limit, reader: bufio.NewReaderSize(body, lineChunkBytes)}
}

// dataField starts a line of an event that contains the message.
var dataField = []byte("data:")

func (b *eventBody) Read(data []byte) (int, error) {
	if len(b.line) == 0 {
		line, err := b.next()
		if err != nil {
			return 0, err
		}
		b.line = line
	}
	n := copy(data, b.line)
	b.line = b.line[n:]

	return n, nil
}

func (b *eventBody) next() ([]byte, error) {
	line := &messageBuffer{limit: b.limit}
	for {
		chunk, err := b.reader.ReadSlice('\n')
		_, _ = line.Write(chunk)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && line.size == 0:
			return nil, err
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case line.large == nil:
			return line.data, nil
		}
		if message := line.replacement(); message != nil && bytes.HasPrefix(line.data, dataField) {
			return fmt.Appendf(nil, "%s %s\n", dataField, message), nil
		}

		return []byte(":\n"), nil // a comment
	}
}
