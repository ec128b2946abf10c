package limit

import "syscall"

// The default connection limit of a server.
const (
	// mostConnections is the default if the operating system allows that many.
	mostConnections = 10_000
	// ownFiles is how many files the server needs for other purposes: database connections, MCP servers, LLM calls.
	ownFiles = 256
)

// DefaultConnections returns how many connections the process can accept and still open the other files it needs. The Go
// runtime has already raised the soft limit to the hard limit.
func DefaultConnections() int {
	var files syscall.Rlimit

	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files)
	if err != nil {
		return mostConnections
	}

	return connectionsFor(uint64(files.Cur)) //nolint:unconvert,nolintlint // signed on some systems
}

func connectionsFor(files uint64) int {
	if files >= mostConnections+ownFiles {
		return mostConnections
	}

	// With a very small limit, half is kept for other purposes: not enough for a busy server, but enough to be usable.
	return max(int(files)-ownFiles, int(files)/2)
}
