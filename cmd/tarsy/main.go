// Command tarsy is TARSy: the server, the demo, and the client for both.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/mcp"
)

func main() { os.Exit(run()) }

// run gives the command a context that ends with the first signal, apart from SIGHUP, whose meaning depends on the command. After that signals mean again what they mean to
// every program, so that a second one ends it at once.
func run() int {
	// Before anything is started that could look at this process.
	if err := mcp.ProtectProcess(); err != nil {
		fmt.Fprintln(os.Stderr, "tarsy: warning: programs of the same user can read the environment of this process:", err)
	}

	// Whoever reads our output may go first, such as a tee that got the same Ctrl-C. That is no reason to die before
	// everything is stopped: the write fails, and the command decides.
	signal.Ignore(syscall.SIGPIPE)

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)

	context.AfterFunc(ctx, stop)

	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0]
	}

	return cli.Run(ctx, cli.Process{
		Name: os.Args[0], Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Env: os.Environ(), Executable: executable, Hangup: hangup,
	})
}
