//go:build bench

package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const mockConnections = 32

// tally is the result of a load.
type tally struct {
	waits []time.Duration
	took  time.Duration
	// cpu is the server's CPU time.
	cpu time.Duration
}

func (t *tally) add(more tally) {
	t.waits = append(t.waits, more.waits...)
	t.took += more.took
	t.cpu += more.cpu
}

func (t *tally) rate() float64 { return float64(len(t.waits)) / t.took.Seconds() }

// cost returns the server's CPU time per request in microseconds, which hardly depends on other load on the machine.
func (t *tally) cost() float64 { return float64(t.cpu.Microseconds()) / float64(len(t.waits)) }

func (t *tally) p99() float64 {
	slices.Sort(t.waits)

	return float64(t.waits[len(t.waits)*99/100].Microseconds()) / 1000
}

// load sends requests on all connections, each as soon as the previous answer is complete, and checks every answer. It
// speaks HTTP itself, on one thread that polls all connections: CPU time that it uses is not available to the server.
func load(t *testing.T, address string, stream bool, lasting time.Duration) tally {
	t.Helper()

	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	require.NoError(t, err)

	defer syscall.Close(poll)

	conns := make(map[int32]*loadConn, mockConnections)

	for range mockConnections {
		a, err := dialLoadConn(address, stream)
		require.NoError(t, err)

		defer a.file.Close()

		require.NoError(t, syscall.SetNonblock(a.fd, true))
		require.NoError(t, syscall.EpollCtl(poll, syscall.EPOLL_CTL_ADD, a.fd, &syscall.EpollEvent{Events: syscall.EPOLLIN, Fd: int32(a.fd)}))
		conns[int32(a.fd)] = a
	}

	var (
		measured tally
		events   [mockConnections]syscall.EpollEvent
		began    = time.Now()
		asking   = len(conns)
	)

	for _, a := range conns {
		require.NoError(t, a.send())
	}

	for asking > 0 {
		n, err := syscall.EpollWait(poll, events[:], 10_000)
		if errors.Is(err, syscall.EINTR) {
			continue
		}

		require.NoError(t, err)
		require.Positive(t, n, "the server does not answer")

		for _, event := range events[:n] {
			a := conns[event.Fd]
			done, err := a.receive()
			require.NoError(t, err)

			if !done {
				continue
			}

			now := time.Now()
			measured.waits = append(measured.waits, now.Sub(a.sent))

			if now.Sub(began) >= lasting {
				asking--
			} else {
				require.NoError(t, a.send())
			}
		}
	}

	measured.took = time.Since(began)

	return measured
}

// requestOnce requests a whole answer on its own connection.
func requestOnce(address string) error {
	a, err := dialLoadConn(address, false)
	if err != nil {
		return err
	}
	defer a.file.Close()

	if err := a.send(); err != nil {
		return err
	}

	for {
		if done, err := a.receive(); done || err != nil {
			return err
		}
	}
}

// loadConn is a connection that repeats the same request.
type loadConn struct {
	file    *os.File
	fd      int
	request []byte
	sent    time.Time
	// received is the response so far, body its complete body.
	received, body []byte
	// wanted are parts of the body, in this order.
	wanted [][]byte
}

// dialLoadConn connects. Reads and writes block until the caller makes the socket non-blocking.
func dialLoadConn(address string, stream bool) (*loadConn, error) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return nil, err
	}
	defer conn.Close()

	file, err := conn.(*net.TCPConn).File()
	if err != nil {
		return nil, err
	}

	body := fmt.Sprintf(`{"model":"gpt-4o","stream":%t,"messages":[{"role":"system","content":"You are a careful engineer."},`+
		`{"role":"user","content":"Tell me what is wrong with the checkout service."}]}`, stream)
	a := &loadConn{file: file, fd: int(file.Fd()), received: make([]byte, 0, 64<<10), request: fmt.Appendf(nil,
		"POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nAuthorization: Bearer test\r\nContent-Length: %d\r\n\r\n%s",
		address, len(body), body)}

	if !stream {
		a.wanted = [][]byte{[]byte(`"content":"` + mockAnswer + `"`), []byte(`"stop"`)}

		return a, nil
	}

	for _, piece := range pieces() {
		a.wanted = append(a.wanted, []byte(`"content":"`+piece+`"`))
	}

	a.wanted = append(a.wanted, []byte(`"stop"`), []byte("data: [DONE]\n\n"))

	return a, nil
}

var (
	errAnswer = errors.New("the answer is not the one that was scripted")
	errHTTP   = errors.New("unsupported HTTP response")
)

func (a *loadConn) send() error {
	a.received, a.sent = a.received[:0], time.Now()

	n, err := syscall.Write(a.fd, a.request)
	if err == nil && n < len(a.request) {
		err = io.ErrShortWrite
	}

	return err
}

// receive reads what has arrived and reports whether the response is complete. A complete response is checked.
func (a *loadConn) receive() (bool, error) {
	free := a.received[len(a.received):cap(a.received)]

	n, err := syscall.Read(a.fd, free)
	if err != nil {
		return false, err
	}

	if n == 0 {
		return false, io.ErrUnexpectedEOF
	}

	a.received = a.received[:len(a.received)+n]

	whole, err := a.parse()
	if err != nil || !whole {
		return false, err
	}

	rest := a.body
	for _, part := range a.wanted {
		at := bytes.Index(rest, part)
		if at < 0 {
			return false, fmt.Errorf("%w: no %q in %q", errAnswer, part, a.body)
		}

		rest = rest[at+len(part):]
	}

	return true, nil
}

// parse extracts the body of the response if it is complete.
func (a *loadConn) parse() (bool, error) {
	head, body, ok := bytes.Cut(a.received, []byte("\r\n\r\n"))
	if !ok {
		return false, nil
	}

	if !bytes.HasPrefix(head, []byte("HTTP/1.1 200")) {
		return false, fmt.Errorf("%w: %q", errHTTP, a.received)
	}

	for line := range bytes.Lines(head) {
		name, value, _ := bytes.Cut(line, []byte(":"))

		switch {
		case bytes.EqualFold(name, []byte("content-length")):
			length, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			a.body = body

			return len(body) == length, err
		case bytes.EqualFold(name, []byte("transfer-encoding")):
			// There is one request at a time, so the last chunk ends its response.
			if !bytes.HasSuffix(body, []byte("0\r\n\r\n")) {
				return false, nil
			}

			return true, a.join(body)
		}
	}

	return false, errHTTP
}

// join joins the chunks of a body in place.
func (a *loadConn) join(chunks []byte) error {
	a.body = chunks[:0]

	for {
		line, rest, _ := bytes.Cut(chunks, []byte("\r\n"))

		size, err := strconv.ParseUint(string(line), 16, 24)
		if err != nil {
			return err
		}

		n := int(size)
		if len(rest) < n+2 || rest[n] != '\r' || rest[n+1] != '\n' {
			return errHTTP
		}

		a.body = append(a.body, rest[:n]...)
		chunks = rest[n+2:]

		if n == 0 {
			return nil
		}
	}
}
