//go:build !linux

package mcp

import (
	"os"
	"os/exec"
)

// ProtectProcess does nothing: only Linux exposes the environment of a process to others of its user as a file, and lets a process
// prevent that.
func ProtectProcess() error { return nil }

// startWithoutCapabilities starts a process; there are no capabilities to inherit.
func startWithoutCapabilities(cmd *exec.Cmd) error {
	return cmd.Start()
}

// maySwitchUser reports whether this process can start others as another user.
func maySwitchUser() bool { return os.Geteuid() == 0 }
