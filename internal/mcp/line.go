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
	// keptLineBytes is how much is kept of a line that cannot be a message: enough to mask it before it is cut.
	keptLineBytes = longestSecret + shortBytes
	// lineChunkBytes is how much is read at once.
	lineChunkBytes = 32 << 10
)

// byteOrderMark begins the output of some programs on Windows.
var byteOrderMark = []byte("\xEF\xBB\xBF")

// A lineConn is a connection that carries one message per line. It stands in for the SDK's, for which a line that is no message is
// the end of the connection: many servers print a greeting or a log line on stdout.
//
// Reads are made by one goroutine and writes by one at a time, as streamConn does.
type lineConn struct {
	in     io.ReadCloser
	out    io.WriteCloser
	reader *bufio.Reader
	// limit bounds one message.
	limit int
	// stray is called with every line that is no message. Of a long one it gets the beginning, and the size of all of it.
	stray func(line []byte, size int)

	// queue has the rest of a batch.
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

// messages returns the messages of a line. That is one, unless the server sent a batch or forgot the end of a line.
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

// splitValues returns the JSON values of a text, those in lists one by one. It reports whether there was nothing else.
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

// readLine returns the next line: of one that may be a message limit bytes, and of any other the beginning. The last line may have
// no end.
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

// startsMessage reports whether a line may be a message or a batch, by its beginning.
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

// Close implements mcpsdk.Connection. It ends a read and a write that are under way.
func (c *lineConn) Close() error {
	c.closing.Do(func() { c.closed = errors.Join(c.in.Close(), c.out.Close()) })

	return c.closed
}

// SessionID implements mcpsdk.Connection.
func (*lineConn) SessionID() string { return "" }
