// Command testsummary runs go test and summarizes the result. Its arguments are those of go test. It prints failures as they happen and one
// line of progress; at the end the skipped tests by reason, the slowest tests, where the time went, and a last line
// "N passed, M failed, K skipped". Failed tests run once more on their own: those that then pass are listed as flaky, and still fail the
// run. With -cover it prints the coverage of each package. The packages that failed recently run first, then the slowest
// (.cache/test-history.json).
//
// With -times before the arguments it also prints where CPU time went, and the slowest tests of the slowest packages. With -times -vitest
// REPORT before a command it does the same for that command, which must write a vitest JSON report.
//
// With -quick as its only argument it vets and tests the packages that the latest changes affect and that take less
// than a minute, and lists the others.
//
// With -read as its only argument it runs nothing and summarizes the output of go test -json or of test2json on its standard input.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"

	"github.com/charmbracelet/x/term"
)

func main() { os.Exit(run(os.Args[1:])) }

func run(arguments []string) int {
	// Ctrl-C also reaches go test, which is in the same process group; its last output is wanted.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	out := newScreen(os.Stdout, term.IsTerminal(os.Stdout.Fd()))

	if slices.Equal(arguments, []string{"-read"}) {
		s := newSummary(out)
		err := s.read(os.Stdin, nil)
		s.printSkips()
		s.printTotal()

		return exitCode(s.failed == 0, err)
	}

	if slices.Equal(arguments, []string{"-quick"}) {
		root, err := os.Getwd()
		if err != nil {
			return exitCode(false, err)
		}

		q := &quick{out: out, stderr: os.Stderr, root: root, parallel: runtime.NumCPU() + 1, homes: serverHomes()}

		return exitCode(q.run(ctx))
	}

	times := len(arguments) > 0 && arguments[0] == "-times"
	if times {
		arguments = arguments[1:]
	}

	if times && len(arguments) > 2 && arguments[0] == "-vitest" {
		return exitCode(runVitest(ctx, out, arguments[1], arguments[2:]))
	}

	r := &runner{out: out, stderr: os.Stderr, arguments: parseArguments(arguments).withParallel(runtime.NumCPU()), times: times, homes: serverHomes()}
	good, err := r.run(ctx)

	return exitCode(good, err)
}

func exitCode(good bool, err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
	}

	if !good || err != nil {
		return 1
	}

	return 0
}
