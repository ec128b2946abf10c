//go:build !linux

package mcp_test

import "testing"

func playLinux(string) (int, bool) { return 0, false }

func TestStdioServerCannotReadProcessThatStartedIt(t *testing.T) {
	t.Parallel()
	t.Skip("only Linux has /proc, and a process that is not dumpable")
}
