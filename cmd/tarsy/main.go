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

// run gives the command a context that the first signal cancels. SIGHUP is an exception: its meaning depends on the
// command. After the first signal, signals have their default effect again, so that a second one kills the process
// immediately.
func run() int {
	// This comes before anything that could inspect this process is started.
	if err := mcp.ProtectProcess(); err != nil {
		fmt.Fprintln(os.Stderr, "tarsy: warning: programs of the same user can read the environment of this process:", err)
	}

	// The reader of our output may exit first, such as a tee that got the same Ctrl-C. SIGPIPE must not kill the process
	// before everything is stopped: the write fails instead, and the command decides.
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
