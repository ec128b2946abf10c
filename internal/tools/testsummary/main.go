// Command testsummary runs go test and says what came of it: a line for each package, the output of what failed, the
// tests that were skipped, and a last line "N passed, M failed, K skipped". Its arguments are those of go test; with
// -times before them it also says how long the tests of each package took.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
)

func main() { os.Exit(run()) }

func run() int {
	// Ctrl-C reaches go test too, which is in the same group; its last words are wanted.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	arguments := slices.Clone(os.Args[1:])
	times := len(arguments) > 0 && arguments[0] == "-times"

	if times {
		arguments = arguments[1:]
	}

	command := exec.CommandContext(context.WithoutCancel(ctx), "go", append([]string{"test", "-json"}, arguments...)...) //nolint:gosec // its user is who runs it
	command.Stderr = os.Stderr

	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary: start go test:", err)

		return 1
	}

	const longestLine = 16 << 20

	lines := bufio.NewScanner(output)
	lines.Buffer(nil, longestLine)

	s := newSummary(os.Stdout)
	s.showTimes = times

	for lines.Scan() {
		s.take(lines.Bytes())
	}

	failed := command.Wait() != nil || lines.Err() != nil

	if !s.finish() || failed {
		return 1
	}

	return 0
}
