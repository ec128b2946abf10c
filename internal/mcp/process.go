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

// processTransport runs an MCP server as a subprocess and communicates over its standard streams. It replaces the SDK's
// CommandTransport, which signals only the process and not its children, and which waits for the exit while holding the lock of the
// connection.
type processTransport struct {
	config Transport
	grace  time.Duration
	// abandon, once closed, kills the process.
	abandon <-chan struct{}
	// limit is the maximum size of a message in bytes.
	limit int

	// logStray logs a line on stdout that is not a message.
	logStray func(line string, size int)

	stderr outputLog
	// stdout contains the lines that are not messages, and strayLines counts them.
	stdout     outputLog
	strayLines int
	// Set by Connect, before stop can be called.
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

	// The pipes are ours and not those of exec: its Wait would close our end of stdout, and lose the last response of a server that
	// exits after it.
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, &t.stderr

	err = startWithoutCapabilities(cmd)
	closeErr := errors.Join(childIn.Close(), childOut.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", t.describe(), err), closeErr, stdin.Close(), stdout.Close())
	}
	t.cmd, t.exited = cmd, make(chan struct{})
	go t.reap()
	go t.killAbandoned()

	return newLineConn(stdout, &pipeWriter{File: stdin}, t.limit, t.skip), nil
}

// command returns the command to start, without its streams.
func (t *processTransport) command() (*exec.Cmd, error) {
	if t.config.Command == "" {
		return nil, errors.New("no command is configured")
	}
	cmd := exec.Command(t.config.Command, t.config.Args...) //nolint:noctx // configured by the operator; ended by stop
	// Its own group: Ctrl-C in the terminal is for us, and we signal the group as a whole.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A grandchild that left the group may keep stderr open.
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

// describe names the program, and the user if one is configured.
func (t *processTransport) describe() string {
	if t.config.User == "" {
		return t.config.Command
	}

	return t.config.Command + " as user " + t.config.User
}

// maxStrayLines is how many non-message lines are logged per connection.
const maxStrayLines = 10

// skip keeps and logs a line on stdout that is not a message. The goroutine that reads the connection calls it.
func (t *processTransport) skip(line []byte, size int) {
	if t.strayLines++; t.strayLines <= maxStrayLines {
		t.logStray(string(line), size)
	}
	// Part of a line may contain part of a secret.
	if len(line) > keptStderrBytes {
		line = fmt.Appendf(nil, "[… a line of %d bytes …]", size)
	}
	_, _ = fmt.Fprintf(&t.stdout, "%s\n", line)
}

// reap waits for the process and kills its remaining children. Signalling the group right after its leader exits leaves no time for its
// id to be reused.
func (t *processTransport) reap() {
	defer close(t.exited)
	// Its stderr and ProcessState report how it ended.
	_ = t.cmd.Wait()
	_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL)
}

// killAbandoned kills the process once it is abandoned, whoever waits for it.
func (t *processTransport) killAbandoned() {
	select {
	case <-t.exited:
	case <-t.abandon:
		_ = syscall.Kill(-t.cmd.Process.Pid, syscall.SIGKILL)
	}
}

// killTime is the minimum time to wait for a killed process.
const killTime = 5 * time.Second

// stop ends the process and its group: by the end of its input, which the closed session has caused, then by SIGTERM, then by SIGKILL.
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
	// It cannot refuse, but a busy machine takes time.
	if within(t.exited, max(t.grace, killTime)) {
		return nil
	}

	return fmt.Errorf("process %d did not end", t.cmd.Process.Pid)
}

// exitNotice is how long after a broken stream the exit that caused it may be observed.
const exitNotice = 100 * time.Millisecond

// explain adds to the text of a failure how the process ended, if it did, and what it printed. A process that ended is the cause and
// comes first; the text then only reports the broken stream. After a time limit, the exit may be our own doing and is not reported.
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
	// Output on stdout of a server that still responds is unrelated to the failure.
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

// pipeWriter marks writes that the pipe refused completely, which proves that the request was never sent.
type pipeWriter struct{ *os.File }

func (w *pipeWriter) Write(data []byte) (int, error) {
	n, err := w.File.Write(data)
	if err != nil && n == 0 {
		return n, errors.Join(errNothingWritten, err)
	}

	return n, err
}
