package mcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// processTransport runs an MCP server as a subprocess and speaks to it over its standard streams. It stands in for the
// SDK's CommandTransport, which signals the process alone and not what that process started, and which waits for the
// exit while it holds the lock of the connection.
type processTransport struct {
	config Transport
	grace  time.Duration

	stderr stderrLog
	// Set by Connect, before anybody can ask for stop.
	cmd    *exec.Cmd
	exited chan struct{}
}

// Connect implements mcpsdk.Transport.
func (t *processTransport) Connect(ctx context.Context) (mcpsdk.Connection, error) {
	if t.config.Command == "" {
		return nil, errors.New("no command is configured")
	}
	childIn, stdin, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open pipe: %w", err)
	}
	stdout, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open pipe: %w", err), childIn.Close(), stdin.Close())
	}

	// The pipes are ours and not those of exec: its Wait would close our end of stdout, and lose the last answer of a
	// server that exits after it.
	cmd := exec.Command(t.config.Command, t.config.Args...) //nolint:noctx // configured by the operator; ended by stop
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, &t.stderr
	cmd.Env = t.config.environment(os.Environ())
	// Its own group: Ctrl-C in the terminal is for us, and we end the group as a whole.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A grandchild that left the group may hold stderr open.
	cmd.WaitDelay = t.grace

	err = cmd.Start()
	closeErr := errors.Join(childIn.Close(), childOut.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", t.config.Command, err), closeErr, stdin.Close(), stdout.Close())
	}
	t.cmd, t.exited = cmd, make(chan struct{})
	go t.reap()

	inner := &mcpsdk.IOTransport{Reader: stdout, Writer: &pipeWriter{File: stdin}}

	return inner.Connect(ctx) //nolint:wrapcheck // the caller says what was being done
}

// reap waits for the process and ends what it left behind. Signalling the group right after the exit of its leader
// leaves no time for its number to be given to somebody else.
func (t *processTransport) reap() {
	defer close(t.exited)
	// How it ended is told by what it wrote to stderr and by ProcessState.
	_ = t.cmd.Wait()
	_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL)
}

// stop ends the process and its group: by the end of its input, which the closed session has brought about, then by
// SIGTERM, then by SIGKILL.
func (t *processTransport) stop() error {
	if t.cmd == nil {
		return nil
	}
	if within(t.exited, t.grace) {
		return nil
	}
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		_ = syscall.Kill(-t.cmd.Process.Pid, signal)
		if within(t.exited, t.grace) {
			return nil
		}
	}

	return fmt.Errorf("process %d did not end", t.cmd.Process.Pid)
}

// exitNotice is how long the exit that broke a stream may be noticed after the stream.
const exitNotice = 100 * time.Millisecond

// explain adds to the text of a failure how the process ended, if it did, and what it wrote to stderr. A process that ended is the
// reason and comes first; the text then only says that the stream broke. One that we stopped waiting for may end because of that.
func (t *processTransport) explain(text string, received func(string) string) string {
	if t.cmd == nil {
		return text
	}
	ended := ""
	if within(t.exited, exitNotice) && !t.cmd.ProcessState.Success() && !strings.Contains(text, errTimeLimit.Error()) {
		ended = "the process ended: " + t.cmd.ProcessState.String()
	}
	// Masked before it is cut: half of a secret is not recognised as one.
	stderr := stderrExcerpt(received(t.stderr.String()))
	switch {
	case ended == "" && stderr == "":
		return text
	case stderr == "":
		return ended + " (" + text + ")"
	case ended == "":
		return text + "; stderr: " + stderr
	default:
		return ended + "; stderr: " + stderr + "\n(" + text + ")"
	}
}

// pipeWriter marks the writes that the pipe refused as a whole, which proves that the request never left.
type pipeWriter struct{ *os.File }

func (w *pipeWriter) Write(data []byte) (int, error) {
	n, err := w.File.Write(data)
	if err != nil && n == 0 {
		return n, errors.Join(errNothingWritten, err)
	}

	return n, err //nolint:wrapcheck // the SDK looks at the plain error
}
