package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const (
	// keptLineBytes is how much of a line is kept that cannot be a message: enough to mask it before it is cut.
	keptLineBytes = longestSecret + shortBytes
	// lineChunkBytes is the size of the read buffer.
	lineChunkBytes = 32 << 10
)

// byteOrderMark precedes the output of some programs on Windows.
var byteOrderMark = []byte("\xEF\xBB\xBF")

// A lineConn is a connection that carries one message per line. It replaces the SDK's, for which a line that is not a message ends the
// connection: many servers print a greeting or a log line on stdout.
//
// One goroutine reads, and one at a time writes, as streamConn does.
type lineConn struct {
	in     io.ReadCloser
	out    io.WriteCloser
	reader *bufio.Reader
	// limit is the maximum size of one message in bytes.
	limit int
	// stray is called with every line that is not a message: with its beginning if it is long, and with its full size.
	stray func(line []byte, size int)

	// queue contains the rest of a batch.
	queue   []jsonrpc.Message
	closing sync.Once
	closed  error
}

func newLineConn(in io.ReadCloser, out io.WriteCloser, limit int, stray func(line []byte, size int)) *lineConn {
	return &lineConn{in: in, out: out, reader: bufio.NewReaderSize(in, lineChunkBytes), limit: limit, stray: stray}
}

// Read implements mcpsdk.Connection. Closing the connection ends it; ctx does not.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	for len(c.queue) == 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		line, err := readLine(c.reader, c.limit)
		if errors.Is(err, os.ErrClosed) {
			err = io.EOF
		}
		if err != nil {
			return nil, err
		}
		c.queue = c.messages(line)
	}
	next := c.queue[0]
	c.queue = c.queue[1:]

	return next, nil
}

// messages returns the messages of a line. There is one, unless the server sent a batch or omitted a line break.
func (c *lineConn) messages(line *messageBuffer) []jsonrpc.Message {
	text := trimLine(line.data)
	if len(text) == 0 && line.size == len(line.data) {
		return nil
	}
	if response := line.response(); response != nil {
		return []jsonrpc.Message{response}
	}
	values, whole := splitValues(text)
	var messages []jsonrpc.Message
	for _, value := range values {
		// The SDK ignores what follows the first value.
		if message, err := jsonrpc.DecodeMessage(value); err == nil {
			messages = append(messages, message)
		} else {
			whole = false
		}
	}
	if len(messages) == 0 || !whole {
		c.stray(text, line.size)
	}

	return messages
}

// splitValues returns the JSON values in a text, with lists split into their items. It reports whether the text contains nothing else.
func splitValues(text []byte) (values []json.RawMessage, whole bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for {
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return values, errors.Is(err, io.EOF)
		}
		if value[0] != '[' {
			values = append(values, value)

			continue
		}
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			return values, false
		}
		values = append(values, list...)
	}
}

// readLine returns the next line: up to limit bytes if it may be a message, and only the beginning of any other. The last line may have
// no line break.
func readLine(r *bufio.Reader, limit int) (*messageBuffer, error) {
	line := &messageBuffer{limit: keptLineBytes, stray: true}
	for {
		chunk, err := r.ReadSlice('\n')
		if line.size == 0 && startsMessage(chunk) {
			line.limit, line.stray = limit, false
		}
		_, _ = line.Write(chunk)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (line.size == 0 || !errors.Is(err, io.EOF)):
			return nil, fmt.Errorf("read message: %w", err)
		default:
			return line, nil
		}
	}
}

// startsMessage reports whether the beginning of a line can be that of a message or a batch.
func startsMessage(line []byte) bool {
	text := trimLine(line)

	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

func trimLine(line []byte) []byte {
	return bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), byteOrderMark))
}

// Write implements mcpsdk.Connection.
func (c *lineConn) Write(_ context.Context, msg jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(msg)
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	_, err = c.out.Write(append(data, '\n'))

	return err
}

// Close implements mcpsdk.Connection. It ends a read and a write in progress.
func (c *lineConn) Close() error {
	c.closing.Do(func() { c.closed = errors.Join(c.in.Close(), c.out.Close()) })

	return c.closed
}

// SessionID implements mcpsdk.Connection.
func (*lineConn) SessionID() string { return "" }
