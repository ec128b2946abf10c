package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/kit/wait"
)

// processVariable makes the test binary run as a server: its value is the processSettings.
const processVariable = "TARSY_E2E_SERVER"

// helloMark begins the line that a server prints once it answers requests.
const helloMark = "e2e server: "

// patience is how long a wait lasts before it fails the test. A program takes many times longer to start on a busy machine.
var patience = slowness.Scale(time.Minute)

// process is a server that runs in its own process, so that it can be killed or frozen at any point.
type process struct {
	URL      string
	ServerID string
	// Log is its output.
	Log *transcript

	t       testing.TB
	command *exec.Cmd
	exited  chan struct{}
}

// startProcess starts a server and waits until it answers. It is killed at the end of the test, if it still runs.
func startProcess(t testing.TB, settings processSettings) *process {
	t.Helper()

	raw, err := json.Marshal(settings)
	require.NoError(t, err)

	binary, err := os.Executable()
	require.NoError(t, err)

	command := exec.Command(binary)
	command.Env = append(os.Environ(), processVariable+"="+string(raw))

	// Nothing is ever written to the pipe: its end tells the server that the test is gone, for whatever reason.
	life, err := command.StdinPipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = life.Close() })

	p := runProcess(t, command)
	line := p.Log.WaitLine(helloMark)

	var said processHello

	require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(line, helloMark)), &said), line)
	p.URL, p.ServerID = said.URL, said.ServerID

	return p
}

// runProcess starts a program. It is killed at the end of the test, if it still runs.
func runProcess(t testing.TB, command *exec.Cmd) *process {
	t.Helper()

	p := &process{t: t, command: command, Log: newTranscript(t), exited: make(chan struct{})}
	p.Log.done = p.exited
	command.Stdout, command.Stderr = p.Log, p.Log
	require.NoError(t, command.Start())

	go func() {
		defer close(p.exited)

		_ = command.Wait() // the result is in ProcessState
	}()

	t.Cleanup(p.Kill)

	return p
}

// Kill ends the process as `kill -9` does, and waits until it is gone.
func (p *process) Kill() {
	_ = p.command.Process.Kill() // it may already be gone
	<-p.exited
}

// StopReading makes the process's next write fail, as if its output were closed.
func (p *process) StopReading() {
	p.Log.mu.Lock()
	defer p.Log.mu.Unlock()

	p.Log.closed = true
}

// Signal sends a signal.
func (p *process) Signal(signal syscall.Signal) {
	p.t.Helper()
	require.NoError(p.t, p.command.Process.Signal(signal))
}

// killedBySignal is the exit code of a process that was ended by a signal.
const killedBySignal = -1

// WaitExit waits until the process has ended and returns its exit code.
func (p *process) WaitExit() int {
	p.t.Helper()
	await(p.t, p.exited, "the end of the server; its log:\n"+p.Log.String())

	return p.command.ProcessState.ExitCode()
}

// Ready returns the status of /readyz.
func (p *process) Ready() int {
	p.t.Helper()

	status, _ := p.get("/readyz")

	return status
}

// Metrics returns the server's /metrics.
func (p *process) Metrics() string {
	p.t.Helper()

	status, body := p.get("/metrics")
	require.Equal(p.t, http.StatusOK, status, body)

	return body
}

func (p *process) get(path string) (status int, body string) {
	p.t.Helper()

	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.URL+path, nil)
	require.NoError(p.t, err)

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	resp, err := client.Do(req)
	require.NoError(p.t, err)

	raw, err := io.ReadAll(resp.Body)
	require.NoError(p.t, errors.Join(err, resp.Body.Close()))

	return resp.StatusCode, string(raw)
}

// WaitReady polls /readyz until it has this status.
func (p *process) WaitReady(status int) {
	p.t.Helper()

	for deadline := time.Now().Add(patience); p.Ready() != status; {
		require.True(p.t, time.Now().Before(deadline), "timed out waiting for /readyz to be %d", status)
	}
}

// await waits until a channel delivers a value or is closed.
func await[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()

	return wait.ForWithin(t, patience, c, what)
}

// transcript collects the output of a process and lets tests wait for it.
type transcript struct {
	t testing.TB

	// done is closed when there will be no more output.
	done <-chan struct{}

	mu     sync.Mutex
	text   strings.Builder
	moved  chan struct{}
	closed bool
}

func newTranscript(t testing.TB) *transcript { return &transcript{t: t, moved: make(chan struct{})} }

// problems returns the lines that report an error.
func (l *transcript) problems() string {
	var lines []string

	for line := range strings.Lines(l.String()) {
		if strings.Contains(line, "level=ERROR") {
			lines = append(lines, line)
		}
	}

	return strings.Join(lines, "")
}

// Write implements io.Writer.
func (l *transcript) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()

	close(l.moved)
	l.moved = make(chan struct{})

	if l.closed {
		return 0, io.ErrClosedPipe
	}

	return l.text.Write(data)
}

func (l *transcript) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()

	return l.text.String()
}

// WaitLine waits for a line that contains all parts, and returns it.
func (l *transcript) WaitLine(parts ...string) string {
	l.t.Helper()

	lacks := func(line string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) })
	}
	timeout := time.NewTimer(patience)

	defer timeout.Stop()

	for ended := false; ; {
		l.mu.Lock()
		text, moved := l.text.String(), l.moved
		l.mu.Unlock()

		lines := slices.DeleteFunc(slices.Collect(strings.Lines(text)), lacks)
		if len(lines) > 0 && strings.HasSuffix(lines[0], "\n") {
			return lines[0]
		}

		require.False(l.t, ended, "the process ended without a line with %q:\n%s", parts, text)

		select {
		case <-moved:
		case <-l.done:
			ended = true
		case <-timeout.C:
			require.FailNow(l.t, fmt.Sprintf("timed out waiting for a line with %q", parts), text)
		}
	}
}
