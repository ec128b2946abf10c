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
	// limit bounds the bytes of a message.
	limit int

	// logStray logs a line on stdout that is no message.
	logStray func(line string, size int)

	stderr outputLog
	// stdout has the lines that are no messages, and strayLines is how many there were.
	stdout     outputLog
	strayLines int
	// Set by Connect, before anybody can ask for stop.
	cmd    *exec.Cmd
	exited chan struct{}
}

// Connect implements mcpsdk.Transport.
func (t *processTransport) Connect(context.Context) (mcpsdk.Connection, error) {
	cmd, err := t.command()
	if err != nil {
		return nil, err
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
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, &t.stderr

	err = startWithoutCapabilities(cmd)
	closeErr := errors.Join(childIn.Close(), childOut.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", t.describe(), err), closeErr, stdin.Close(), stdout.Close())
	}
	t.cmd, t.exited = cmd, make(chan struct{})
	go t.reap()

	return newLineConn(stdout, &pipeWriter{File: stdin}, t.limit, t.skip), nil
}

// command makes the process that is to be started, without its streams.
func (t *processTransport) command() (*exec.Cmd, error) {
	if t.config.Command == "" {
		return nil, errors.New("no command is configured")
	}
	cmd := exec.Command(t.config.Command, t.config.Args...) //nolint:noctx // configured by the operator; ended by stop
	// Its own group: Ctrl-C in the terminal is for us, and we end the group as a whole.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A grandchild that left the group may hold stderr open.
	cmd.WaitDelay = t.grace
	own := os.Environ()
	if t.config.User != "" {
		as, err := findAccount(t.config.User)
		if err == nil {
			err = as.apply(cmd)
		}
		if err != nil {
			return nil, fmt.Errorf("start %s: %w", t.describe(), err)
		}
		own = as.environment(own)
	}
	cmd.Env = t.config.environment(own)

	return cmd, nil
}

// describe names the program, and the user if it is another one.
func (t *processTransport) describe() string {
	if t.config.User == "" {
		return t.config.Command
	}

	return t.config.Command + " as user " + t.config.User
}

// maxStrayLines is how many lines that are no messages are logged per connection.
const maxStrayLines = 10

// skip keeps and logs a line on stdout that is no message. The goroutine that reads the connection calls it.
func (t *processTransport) skip(line []byte, size int) {
	if t.strayLines++; t.strayLines <= maxStrayLines {
		t.logStray(string(line), size)
	}
	// Half of a line may have half of a secret.
	if len(line) > keptStderrBytes {
		line = fmt.Appendf(nil, "[… a line of %d bytes …]", size)
	}
	_, _ = fmt.Fprintf(&t.stdout, "%s\n", line)
}

// reap waits for the process and ends what it left behind. Signalling the group right after the exit of its leader
// leaves no time for its number to be given to somebody else.
func (t *processTransport) reap() {
	defer close(t.exited)
	// How it ended is told by what it wrote to stderr and by ProcessState.
	_ = t.cmd.Wait()
	_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL)
}

// killTime is how long a process that was killed is waited for at least.
const killTime = 5 * time.Second

// stop ends the process and its group: by the end of its input, which the closed session has brought about, then by
// SIGTERM, then by SIGKILL.
func (t *processTransport) stop() error {
	if t.cmd == nil {
		return nil
	}
	if within(t.exited, t.grace) {
		return nil
	}
	_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGTERM)
	if within(t.exited, t.grace) {
		return nil
	}
	_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL)
	// It cannot refuse, but a busy machine takes its time.
	if within(t.exited, max(t.grace, killTime)) {
		return nil
	}

	return fmt.Errorf("process %d did not end", t.cmd.Process.Pid)
}

// exitNotice is how long the exit that broke a stream may be noticed after the stream.
const exitNotice = 100 * time.Millisecond

// explain adds to the text of a failure how the process ended, if it did, and what it printed. A process that ended is the
// reason and comes first; the text then only says that the stream broke. One that we stopped waiting for may end because of that.
func (t *processTransport) explain(text string, received func(string) string) string {
	if t.cmd == nil {
		return text
	}
	ended, late := "", strings.Contains(text, errTimeLimit.Error())
	if within(t.exited, exitNotice) && !late {
		ended = "the process ended: " + t.cmd.ProcessState.String()
	}
	// Masked before it is cut: half of a secret is not recognised as one.
	printed := ""
	if stderr := stderrExcerpt(received(t.stderr.String())); stderr != "" {
		printed = "; stderr: " + stderr
	}
	// What a server prints on stdout while it answers is not about the failure.
	if stdout := stderrExcerpt(received(t.stdout.String())); stdout != "" && (ended != "" || late) {
		printed += "; stdout: " + stdout
	}
	switch {
	case ended == "":
		return text + printed
	case printed == "":
		return ended + " (" + text + ")"
	default:
		return ended + printed + "\n(" + text + ")"
	}
}

// pipeWriter marks the writes that the pipe refused as a whole, which proves that the request never left.
type pipeWriter struct{ *os.File }

func (w *pipeWriter) Write(data []byte) (int, error) {
	n, err := w.File.Write(data)
	if err != nil && n == 0 {
		return n, errors.Join(errNothingWritten, err)
	}

	return n, err
}
