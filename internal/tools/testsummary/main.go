// Command testsummary runs go test and says what came of it: a line for each package, the output of what failed, the
// tests that were skipped, and a last line "N passed, M failed, K skipped". Its arguments are those of go test; with
// -times before them it also says how long the tests of each package took. With -read instead it runs nothing and sums up
// the output of go test -json or of test2json on its standard input.
package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
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

	if slices.Equal(arguments, []string{"-read"}) {
		if !summarize(os.Stdin, newSummary(os.Stdout)) {
			return 1
		}

		return 0
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

	s := newSummary(os.Stdout)
	s.showTimes = times

	if good := summarize(output, s); command.Wait() != nil || !good {
		return 1
	}

	return 0
}

// summarize takes the lines of go test -json to their end and reports whether all is well.
func summarize(output io.Reader, s *summary) bool {
	const longestLine = 16 << 20

	lines := bufio.NewScanner(output)
	lines.Buffer(nil, longestLine)

	for lines.Scan() {
		s.take(lines.Bytes())
	}

	return s.finish() && lines.Err() == nil
}
