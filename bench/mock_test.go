//go:build bench

package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	mockRounds = 4
	mockRound  = 1200 * time.Millisecond
	// mockPiece is how many characters aimock sends at a time.
	mockPiece = 20
)

// mockAnswer is as long as a short paragraph.
var mockAnswer = strings.Repeat("The pod ran out of memory because its cache has no bound. ", 7)

// contender is one of the mock servers compared.
type contender struct {
	name string
	// start returns the command that serves on a port.
	start func(port string) *exec.Cmd
	// starts is how often its startup is measured.
	starts int

	startUp  []time.Duration
	resident float64
	own      float64         // resident memory without mapped files
	results  map[bool]*tally // by whether answers are streamed
}

// TestMockServers adds the rows of the mock server to the table, next to aimock in the same run: the same request, the same
// answer in the same pieces, and alternating rounds so that other load on the machine affects both.
func TestMockServers(t *testing.T) {
	ours, theirs := ourMock(t), aimock(t)

	contenders := []*contender{ours}
	if theirs != nil {
		contenders = append(contenders, theirs)
	}

	for i := range max(ours.starts, 1) {
		for _, c := range contenders {
			if i < c.starts {
				c.measureStart(t)
			}
		}
	}

	compete(t, contenders)
	printMock(ours, theirs)
}

// compete loads the servers in alternating rounds.
func compete(t *testing.T, contenders []*contender) {
	t.Helper()

	running := make([]*mockProcess, len(contenders))
	for i, c := range contenders {
		running[i] = startMock(t, c.start)
		c.results = map[bool]*tally{false: {}, true: {}}
	}

	for _, stream := range []bool{false, true} {
		for round := range mockRounds + 1 {
			for i, c := range contenders {
				before := running[i].cpu(t)
				measured := load(t, running[i].address, stream, mockRound)
				measured.cpu = running[i].cpu(t) - before

				if round > 0 { // the first round warms up
					c.results[stream].add(measured)
				}
			}
		}
	}

	for i, c := range contenders {
		c.resident, c.own = running[i].resident(t, "VmRSS"), running[i].resident(t, "RssAnon")
		running[i].stop()
	}
}

func printMock(ours, theirs *contender) {
	rows := []struct {
		what, format string
		value        func(c *contender) float64
		aim          string
		less         bool
	}{
		{"mock server: requests per second, whole answers", "%.0f", func(c *contender) float64 { return c.results[false].rate() }, "5x", false},
		{"mock server: requests per second, streamed answers", "%.0f", func(c *contender) float64 { return c.results[true].rate() }, "5x", false},
		{"mock server: CPU per whole answer, µs", "%.0f", func(c *contender) float64 { return c.results[false].cost() }, "", true},
		{"mock server: CPU per streamed answer, µs", "%.0f", func(c *contender) float64 { return c.results[true].cost() }, "", true},
		{"mock server: p99 at 32 connections, whole answers, ms", "%.1f", func(c *contender) float64 { return c.results[false].p99() }, "", true},
		{"mock server: p99 at 32 connections, streamed answers, ms", "%.1f", func(c *contender) float64 { return c.results[true].p99() }, "", true},
		{"mock server: process start to first answer, ms", "%.0f", func(c *contender) float64 { return median(c.startUp) }, "1/10", true},
		{"mock server: resident memory after the load, MB", "%.0f", func(c *contender) float64 { return c.resident }, "1/3", true},
		{"mock server: of it without mapped files, MB", "%.0f", func(c *contender) float64 { return c.own }, "", true},
	}

	for _, r := range rows {
		note := "aimock is not installed: " + aimockReason()

		if theirs != nil {
			own, other := r.value(ours), r.value(theirs)
			note = fmt.Sprintf("aimock: "+r.format, other)

			if r.less {
				note += fmt.Sprintf("; 1/%.1f of it", other/own)
			} else {
				note += fmt.Sprintf("; %.1fx of it", own/other)
			}

			if r.aim != "" {
				note += "; aim: " + r.aim
			}
		}

		fmt.Printf("%-62s %10s   %s\n", r.what, fmt.Sprintf(r.format, r.value(ours)), note)
	}
}

func median(times []time.Duration) float64 {
	sorted := slices.Sorted(slices.Values(times))

	return float64(sorted[len(sorted)/2].Microseconds()) / 1000
}

// pieces returns the pieces in which both servers stream the answer.
func pieces() []string {
	var list []string
	for rest := mockAnswer; rest != ""; {
		n := min(mockPiece, len(rest))
		list, rest = append(list, rest[:n]), rest[n:]
	}

	return list
}

// ourMock returns `tarsy mock`, with a journal as long as aimock's default.
func ourMock(t *testing.T) *contender {
	t.Helper()

	dir := t.TempDir()
	binary, script := filepath.Join(dir, "tarsy"), filepath.Join(dir, "script.yaml")
	out, err := exec.Command("go", "build", "-o", binary, "../cmd/tarsy").CombinedOutput()
	require.NoError(t, err, "%s", out)

	chunks, err := json.Marshal(pieces())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(script, fmt.Appendf(nil,
		"version: 1\nroutes:\n  - when: {user: what is wrong}\n    replies:\n      - {chunks: %s, times: forever}\n", chunks), 0o600))

	return &contender{name: "tarsy mock", starts: 9, start: func(port string) *exec.Cmd {
		return exec.Command(binary, "mock", "--script", script, "--listen", "127.0.0.1:"+port, "--journal", "1000")
	}}
}

// aimock returns @copilotkit/aimock, started by node directly: npx would add seconds. It returns nil if aimock is not installed.
func aimock(t *testing.T) *contender {
	t.Helper()

	program, err := filepath.Abs("../.cache/aimock/node_modules/@copilotkit/aimock/dist/cli.js")
	require.NoError(t, err)

	if _, err := os.Stat(program); err != nil {
		return nil
	}

	if _, err := exec.LookPath("node"); err != nil {
		return nil
	}

	fixtures := filepath.Join(t.TempDir(), "fixtures.json")
	content, err := json.Marshal(map[string]any{"fixtures": []any{map[string]any{
		"match": map[string]any{"userMessage": "what is wrong"}, "response": map[string]any{"content": mockAnswer},
	}}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(fixtures, content, 0o600))

	return &contender{name: "aimock", starts: 5, start: func(port string) *exec.Cmd {
		return exec.Command("node", program, "-p", port, "-h", "127.0.0.1", "-f", fixtures, "--log-level", "silent")
	}}
}

func aimockReason() string {
	reason, err := os.ReadFile("../.cache/aimock.reason")
	if err != nil {
		return "run scripts/install-packages.sh aimock"
	}

	return strings.TrimSpace(string(reason))
}
