//go:build bench

package bench

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mockProcess is a mock server that has answered its first request.
type mockProcess struct {
	address string
	command *exec.Cmd
	// after is the time from the start of the process to its first answer.
	after time.Duration
}

// startMock starts a server and sends requests until it answers.
func startMock(t *testing.T, start func(port string) *exec.Cmd) *mockProcess {
	t.Helper()

	port := unusedPort(t)
	p := &mockProcess{address: "127.0.0.1:" + port, command: start(port)}

	var output bytes.Buffer

	p.command.Stdout, p.command.Stderr = &output, &output
	began := time.Now()

	require.NoError(t, p.command.Start())
	t.Cleanup(p.stop)

	const patience = 30 * time.Second

	for {
		err := requestOnce(p.address)
		p.after = time.Since(began)

		if err == nil {
			return p
		}

		require.Less(t, p.after, patience, "%s: %s", err, &output)
		time.Sleep(time.Millisecond / 2) // do not take CPU time from the server
	}
}

func (c *contender) measureStart(t *testing.T) {
	t.Helper()

	p := startMock(t, c.start)
	p.stop()
	c.startUp = append(c.startUp, p.after)
}

func (p *mockProcess) stop() {
	if p.command.ProcessState == nil {
		_ = p.command.Process.Kill()
		_ = p.command.Wait()
	}
}

// resident returns the process's resident memory in MB as the kernel counts it: all of it (VmRSS), or without mapped files
// (RssAnon), since the kernel decides how much of a file it maps.
func (p *mockProcess) resident(t *testing.T, what string) float64 {
	t.Helper()

	status, err := os.ReadFile("/proc/" + strconv.Itoa(p.command.Process.Pid) + "/status")
	require.NoError(t, err)

	for line := range bytes.Lines(status) {
		if fields := strings.Fields(string(line)); len(fields) == 3 && fields[0] == what+":" {
			kb, err := strconv.Atoi(fields[1])
			require.NoError(t, err)

			return float64(kb) / 1024
		}
	}

	require.Fail(t, "the system does not tell")

	return 0
}

// cpu returns the CPU time that the process has used so far.
func (p *mockProcess) cpu(t *testing.T) time.Duration {
	t.Helper()

	const tick = 10 * time.Millisecond

	raw, err := os.ReadFile("/proc/" + strconv.Itoa(p.command.Process.Pid) + "/stat")
	require.NoError(t, err)

	fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))

	var used time.Duration

	for _, field := range fields[11:13] { // user and system time
		ticks, err := strconv.Atoi(field)
		require.NoError(t, err)

		used += time.Duration(ticks) * tick
	}

	return used
}

func unusedPort(t *testing.T) string {
	t.Helper()

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)

	defer listener.Close()

	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)

	return port
}
