package mcpserver_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/mcpserver"
	"tarsy.dev/tarsy/internal/kit/wait"
)

const brokenTools = `
      - name: broken
        results:
          - {when: {how: drop}, fault: drop, times: 1}
          - {when: {how: malformed}, fault: malformed, times: 1}
          - {when: {how: protocol}, fault: protocol_error, times: 1}
          - {when: {how: hang}, fault: hang, times: 1}
          - {when: {how: wait}, text: late, delay: 1h}
          - {text: whole}
`

// raw calls a tool over a new connection, and returns everything received before its end.
func (w *world) raw(t *testing.T, tool, arguments string) (*http.Response, string, error) {
	t.Helper()

	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	require.NoError(t, err)

	defer conn.Close()

	w.send(t, conn, tool, arguments)

	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, "", err
	}

	defer resp.Body.Close()

	body, err := io.ReadAll(resp.Body)

	return resp, string(body), err
}

func (w *world) send(t *testing.T, conn net.Conn, tool, arguments string) {
	t.Helper()

	req, err := http.NewRequest(http.MethodPost, w.url+"/mcp/shop", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":`+arguments+`}}`))
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	require.NoError(t, req.Write(conn))
}

func TestFaultsBreakHTTP(t *testing.T) {
	t.Parallel()

	w := open(t, brokenTools)

	_, body, err := w.raw(t, "broken", `{"how":"none"}`)
	require.NoError(t, err)
	require.Contains(t, body, `"text":"whole"`)

	_, _, err = w.raw(t, "broken", `{"how":"drop"}`)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF, "the connection ends without an answer")

	resp, body, err := w.raw(t, "broken", `{"how":"malformed"}`)
	require.NoError(t, err)
	require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
	require.Equal(t, "event: message\ndata: {\"jsonrpc\": <not json>\n\n", body)

	_, body, err = w.raw(t, "broken", `{"how":"protocol"}`)
	require.NoError(t, err)
	require.Contains(t, body, `"error":{"code":-32603,"message":"scripted protocol error"}`)

	var outcomes []string
	for _, call := range w.host.Calls("shop") {
		outcomes = append(outcomes, call.Outcome)
	}

	require.Equal(t, []string{"text", "drop", "malformed", "protocol_error"}, outcomes)
}

func TestClientSeesFaultsAsErrors(t *testing.T) {
	t.Parallel()

	w := open(t, brokenTools)

	for _, how := range []string{"drop", "malformed", "protocol"} {
		session := w.connect(t)
		_, err := session.CallTool(t.Context(), params("broken", `{"how":"`+how+`"}`))
		require.Error(t, err, how)

		wire, ok := errors.AsType[*jsonrpc.Error](err)
		require.Equal(t, how == "protocol", ok && wire.Message == "scripted protocol error", "%s: %v", how, err)

		text, _ := ask(t, w.connect(t), "broken", `{"how":"`+how+`"}`)
		require.Equal(t, "whole", text, "a fault that is used up lets the next result answer")
	}
}

// When a caller leaves, its call ends in the journal and in the server.
func TestDisconnectedCallerIsDetected(t *testing.T) {
	t.Parallel()

	for _, how := range []string{"hang", "wait"} {
		w := open(t, brokenTools)

		conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		require.NoError(t, err)
		w.send(t, conn, "broken", `{"how":"`+how+`"}`)

		waitFor(t, func() bool { return len(w.host.Calls("shop")) == 1 })
		require.False(t, w.host.Calls("shop")[0].Done)
		require.NoError(t, conn.Close())

		waitFor(t, func() bool { return w.host.Calls("shop")[0].Done })
		require.True(t, w.host.Calls("shop")[0].Cancelled)
	}
}

func TestCancelledCallEnds(t *testing.T) {
	t.Parallel()

	w := open(t, brokenTools)
	ctx, cancel := context.WithCancel(t.Context())

	go func() {
		waitFor(t, func() bool { return len(w.host.Calls("shop")) == 1 })
		cancel()
	}()

	_, err := w.connect(t).CallTool(ctx, params("broken", `{"how":"hang"}`))
	require.ErrorIs(t, err, context.Canceled)
	waitFor(t, func() bool { return w.host.Calls("shop")[0].Cancelled })
}

func TestFaultsBreakProcess(t *testing.T) {
	t.Parallel()

	t.Run("drop", func(t *testing.T) {
		t.Parallel()

		session, exited := process(t, brokenTools)
		_, err := session.CallTool(t.Context(), params("broken", `{"how":"drop"}`))
		require.Error(t, err)
		require.Equal(t, 3, exited().ExitCode(), "the process ends as one that crashed")
	})

	t.Run("malformed", func(t *testing.T) {
		t.Parallel()

		session, exited := process(t, brokenTools)
		_, err := session.CallTool(t.Context(), params("broken", `{"how":"malformed"}`))
		require.Error(t, err)
		exited()
	})

	t.Run("hang", func(t *testing.T) {
		t.Parallel()

		session, exited := process(t, brokenTools)
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan error, 1)

		go func() {
			_, err := session.CallTool(ctx, params("broken", `{"how":"hang"}`))
			left <- err
		}()

		text, _ := ask(t, session, "broken", `{}`)
		require.Equal(t, "whole", text, "other calls are answered meanwhile")

		cancel()
		require.ErrorIs(t, <-left, context.Canceled)
		require.True(t, exited().Success())
	})

	t.Run("protocol_error", func(t *testing.T) {
		t.Parallel()

		session, _ := process(t, brokenTools)
		_, err := session.CallTool(t.Context(), params("broken", `{"how":"protocol"}`))
		require.ErrorContains(t, err, "scripted protocol error")

		text, _ := ask(t, session, "broken", `{}`)
		require.Equal(t, "whole", text, "the connection is whole")
	})
}

// This test does without the SDK's client, which ends a session at the first line that it cannot parse.
func TestMalformedFaultSendsOnlyMalformedLine(t *testing.T) {
	t.Parallel()

	p := serve(t)
	p.say(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"broken","arguments":{"how":"malformed"}}}`)
	require.Equal(t, "{\"jsonrpc\": <not json>\n", p.hear(t))
	p.say(t, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"broken","arguments":{}}}`)
	require.Contains(t, p.hear(t), `"id":3`)

	p.cancel()
	require.NoError(t, <-p.served, "it was told to stop")
}

func TestDisconnectedClientLeavesNothingBehind(t *testing.T) {
	t.Parallel()

	p := serve(t)
	p.say(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"broken","arguments":{"how":"hang"}}}`)
	waitFor(t, func() bool { return len(p.host.Calls("shop")) == 1 })

	require.NoError(t, errors.Join(p.requests.Close(), p.answers.Close()))
	<-p.served
	require.True(t, p.host.Calls("shop")[0].Cancelled)
}

func TestNonReadingClientDoesNotBlockServer(t *testing.T) {
	t.Parallel()

	p := serve(t)
	p.say(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"broken","arguments":{}}}`)
	waitFor(t, func() bool { calls := p.host.Calls("shop"); return len(calls) == 1 && calls[0].Done })

	p.cancel()
	require.NoError(t, <-p.served)
}

// Its parent still holds the streams, and a call is in progress.
func TestProcessStopsOnRequest(t *testing.T) {
	t.Parallel()

	binary, err := os.Executable()
	require.NoError(t, err)

	command := exec.Command(binary)
	command.Env = append(os.Environ(), roleVariable+"="+script(brokenTools))

	requests, err := command.StdinPipe()
	require.NoError(t, err)
	answers, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = command.Process.Kill() })

	p := &piped{requests: requests, lines: bufio.NewReader(answers)}
	p.greet(t)
	p.say(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"broken","arguments":{"how":"hang"}}}`)
	p.say(t, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"broken","arguments":{}}}`)
	require.Contains(t, p.hear(t), `"id":3`)

	require.NoError(t, command.Process.Signal(os.Interrupt))
	require.NoError(t, command.Wait())
}

// piped is a server on a pair of pipes, and the client's ends of them.
type piped struct {
	host     *mcpserver.Host
	requests io.WriteCloser
	answers  *io.PipeReader
	lines    *bufio.Reader
	cancel   context.CancelFunc
	served   chan error
}

func serve(t *testing.T) *piped {
	t.Helper()

	servers, err := parse(script(brokenTools))
	require.NoError(t, err)

	host, err := mcpserver.NewHost(servers, mcpserver.Options{})
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	in, requests := io.Pipe()
	answers, out := io.Pipe()
	p := &piped{host: host, requests: requests, answers: answers, lines: bufio.NewReader(answers), cancel: cancel, served: make(chan error, 1)}

	go func() { p.served <- host.Serve(ctx, "shop", in, out) }()

	t.Cleanup(cancel)
	p.greet(t)

	return p
}

func (p *piped) greet(t *testing.T) {
	t.Helper()
	p.say(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	require.Contains(t, p.hear(t), `"serverInfo"`)
	p.say(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (p *piped) say(t *testing.T, line string) {
	t.Helper()

	_, err := io.WriteString(p.requests, line+"\n")
	require.NoError(t, err)
}

func (p *piped) hear(t *testing.T) string {
	t.Helper()

	line, err := p.lines.ReadString('\n')
	require.NoError(t, err)

	return line
}

// waitFor waits for a condition that another goroutine fulfils.
func waitFor(t *testing.T, holds func() bool) {
	t.Helper()
	wait.Until(t, "what another goroutine does", holds)
}
