package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStderrLogKeepsWholeLinesOfHeadAndTailWithinLimit(t *testing.T) {
	t.Parallel()
	var log outputLog
	for i := range 100_000 {
		_, err := fmt.Fprintf(&log, "line %d\n", i)
		require.NoError(t, err)
	}
	text := log.String()
	require.Less(t, len(text), 2*keptStderrBytes+100)
	require.LessOrEqual(t, cap(log.head)+cap(log.tail), 4*keptStderrBytes)
	require.True(t, strings.HasPrefix(text, "line 0\nline 1\n"))
	require.True(t, strings.HasSuffix(text, "line 99998\nline 99999\n"))
	left := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "[… ") {
			_, err := fmt.Sscanf(line, "[… %d bytes left out …]", &left)
			require.NoError(t, err)

			continue
		}
		require.Regexp(t, `^line \d+\n$`, line)
	}
	kept := len(text) - len(fmt.Sprintf("[… %d bytes left out …]\n", left))
	require.Equal(t, log.written, kept+left)
}

func TestStderrLogSkipsOverlongLine(t *testing.T) {
	t.Parallel()
	var log outputLog
	_, _ = fmt.Fprintf(&log, "first\n%s\nlast\n", strings.Repeat("x", 3*keptStderrBytes))
	require.Equal(t, fmt.Sprintf("first\n[… %d bytes left out …]\nlast\n", 3*keptStderrBytes+1), log.String())
}

func TestStderrExcerptPutsErrorLinesFirst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ stderr, want string }{
		"nothing":         {"", ""},
		"no error":        {"starting\nlistening\n", "starting\nlistening"},
		"error in middle": {"starting\nError: no kubeconfig\nUsage:\n  --on-error string\n", "Error: no kubeconfig\nstarting\nUsage:\n  --on-error string"},
		"klog":            {"I1116 02:12:20.1 up\nE1116 02:12:20.2 main.go:5] no current-context is set\n", "E1116 02:12:20.2 main.go:5] no current-context is set\nI1116 02:12:20.1 up"},
		"python":          {"  File \"a.py\"\nValueError: x\n", "ValueError: x\n  File \"a.py\""},
		"shell":           {"hi\nsh: 1: foo: not found\n", "sh: 1: foo: not found\nhi"},
		"warning":         {"WARN could not update cache\nError: no warning level\n", "Error: no warning level\nWARN could not update cache"},
		"repeated":        {"Error: a\nError: a\nError: a\nb\n", "Error: a\nb"},
		"colours":         {"\x1b[31mError\x1b[0m: a\r\n\n", "Error: a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, strings.TrimSpace(stderrExcerpt(c.stderr)))
		})
	}

	flood := stderrExcerpt(strings.Repeat("Error: "+strings.Repeat("y", 5000)+"\n", 3) + strings.Repeat("é", 5000) + "\n")
	require.LessOrEqual(t, len(flood), maxErrorBytes+maxContextBytes+10)
}
