package limit

import "syscall"

// The connections that a server accepts unless it is configured otherwise.
const (
	// mostConnections is the default where the operating system allows more.
	mostConnections = 10_000
	// ownFiles is how many files a server needs for itself: database connections, MCP servers, calls to LLMs.
	ownFiles = 256
)

// DefaultConnections is how many connections the process can hold and still open the files that it needs itself. The
// Go runtime has raised the soft limit to the hard limit.
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

	// Half of a very small limit is left, too little for all that a server may do, but enough to be of use.
	return max(int(files)-ownFiles, int(files)/2)
}
