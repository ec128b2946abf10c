package mcp

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"

	"golang.org/x/sys/unix"
)

// ProtectProcess keeps other processes of the same user from reading the memory, environment and open files of this one, which /proc
// otherwise exposes: the environment of this process contains secrets that stdio servers do not get. A program calls it before it
// starts any process. It also prevents core dumps, and debuggers that do not run as root.
func ProtectProcess() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make the process not dumpable: %w", err)
	}

	return nil
}

// startWithoutCapabilities starts a process that inherits no ambient capability, such as one that systemd gave to this process for
// starting others as another user: it would defeat ProtectProcess and the separate user.
func startWithoutCapabilities(cmd *exec.Cmd) error {
	// Ambient capabilities belong to a thread, and a process inherits those of the thread that creates it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// A kernel without ambient capabilities has none to pass on.
	err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	if err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("drop ambient capabilities: %w", err)
	}

	return cmd.Start()
}

// maySwitchUser reports whether this process can start others as another user. Even root may lack the capabilities, as in a container
// that drops them.
func maySwitchUser() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	// The second element has the capabilities from 32 on.
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false
	}
	const needed = 1<<unix.CAP_SETUID | 1<<unix.CAP_SETGID

	return data[0].Effective&needed == needed
}
