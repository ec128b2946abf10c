package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/kit/slowness"
)

// runner runs go test once.
type runner struct {
	out       *screen
	stderr    io.Writer
	arguments arguments
	// directory is where go runs; empty means the current directory.
	directory string
	// homes is where PostgreSQL servers of runs can be.
	homes []string
	// times prints where CPU time went and the slowest tests of each of the slowest packages.
	times bool
	// until, if set, is when the tests should end. Packages are then tested a few at a time, in the order of the arguments, except for
	// those that, according to expected, would take longer.
	until    time.Time
	expected func(packages []string) time.Duration
}

// fewPackages is how many packages are tested at a time before runner.until is checked.
const fewPackages = 4

// run runs the tests and prints the results. It reports whether all tests passed.
func (r *runner) run(ctx context.Context) (good bool, err error) {
	work, err := os.MkdirTemp("", "testsummary-")
	if err != nil {
		return false, err
	}

	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()

	if err := removeAbandonedServers(r.homes); err != nil {
		return false, err
	}

	defer func() { err = errors.Join(err, removeServers(r.homes, strconv.Itoa(os.Getpid()))) }()

	begin, cpu := time.Now(), slowness.ReadCPU()
	graph := filepath.Join(work, "actions.json")
	packages, root := r.list(ctx)
	past := readHistory(root)
	ordered := r.arguments

	if len(packages) > 0 && r.until.IsZero() {
		ordered.packages = past.order(packages)
	}

	var m *meter
	if r.times {
		m = startMeter(root)
	}

	s := newSummary(r.out)
	ended, err := r.testUntil(ctx, s, ordered, "-debug-actiongraph="+graph, func() {
		after := time.Since(begin)
		r.out.progress(s.progress(len(packages), after), after)
	})
	r.out.clear()

	if m != nil && ended != nil {
		m.print(r.out, "Go tests", ended)
		printSlowestByGroup(r.out, s.tests)
		s.printf("\n")
	}

	r.repeat(ctx, s)
	s.printCoverage()
	s.printSkips()
	s.printSlowest()
	r.printPhases(s, begin, cpu, graph)
	s.printTotal()

	if s.failed > 0 {
		err = nil // go test fails because of failures that are already printed
	}

	if root != "" && ctx.Err() == nil {
		for _, p := range s.packages {
			past.add(p, r.arguments.usual())
		}

		err = errors.Join(err, past.write(root))
	}

	return s.failed == 0, err
}

// testUntil tests all packages together, or a few at a time until it is too late for more.
func (r *runner) testUntil(ctx context.Context, s *summary, all arguments, flag string, progress func()) (ended *os.ProcessState, err error) {
	if r.until.IsZero() {
		return r.test(ctx, s, all.command(flag), progress)
	}

	var late []string

	for remaining := all.packages; len(remaining) > 0; {
		some := all
		some.packages, remaining = remaining[:min(fewPackages, len(remaining))], remaining[min(fewPackages, len(remaining)):]

		// Drop the slowest ones in favour of the others. One package is tested in any case.
		least := 1
		if ended != nil {
			least = 0
		}

		for tooLate := func() bool { return time.Now().Add(r.expected(some.packages)).After(r.until) }; len(some.packages) > least && tooLate(); {
			longest := slices.MaxFunc(some.packages, func(a, b string) int {
				return cmp.Compare(r.expected([]string{a}), r.expected([]string{b}))
			})
			late = append(late, longest)
			some.packages = slices.DeleteFunc(slices.Clone(some.packages), func(p string) bool { return p == longest })
		}

		if len(some.packages) == 0 {
			continue
		}

		var failure error

		ended, failure = r.test(ctx, s, some.command(flag), progress)
		if err = errors.Join(err, failure); ctx.Err() != nil {
			return ended, err
		}
	}

	if len(late) > 0 {
		s.printf("not run:  %s, because the time was up; make test-go runs them\n", strings.ReplaceAll(strings.Join(late, ", "), "./", ""))
	}

	return ended, err
}

// test runs go with these arguments and reads its events. It returns what the process used, or nil if it did not start.
func (r *runner) test(ctx context.Context, s *summary, arguments []string, progress func()) (*os.ProcessState, error) {
	// After Ctrl-C, go test ends on its own and reports what was cut off.
	command := exec.CommandContext(context.WithoutCancel(ctx), "go", arguments...)
	command.Stderr = r.stderr
	command.Dir = r.directory
	command.Env = append(testEnvironment(), runVariable+"="+strconv.Itoa(os.Getpid()))

	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}

	if err != nil {
		return nil, fmt.Errorf("start go test: %w", err)
	}

	err = s.read(output, progress)
	if command.Wait() != nil {
		err = errors.Join(err, errFailed)
	}

	return command.ProcessState, err
}

// testEnvironment returns the environment of tests. By default, garbage collection takes up to a quarter of the CPU time of tests; with
// collections as rare as in a server (app.Tune), the tests of a package used 3 GB.
func testEnvironment() []string {
	environment := os.Environ()
	if _, chosen := os.LookupEnv("GOGC"); !chosen {
		environment = append(environment, "GOGC=200")
	}

	return environment
}

// list returns the packages to test and the root of their module. It returns no packages if go list fails, for which go test prints the
// reason, and no root without a module.
func (r *runner) list(ctx context.Context) (packages []string, root string) {
	if r.arguments.has("C") || slices.ContainsFunc(r.arguments.packages, func(name string) bool { return strings.HasSuffix(name, ".go") }) {
		return nil, ""
	}

	flags := r.arguments.only("tags", "race", "mod", "modfile", "overlay")

	listed, err := r.goOutput(ctx, slices.Concat([]string{"list"}, flags, r.arguments.packages)...)
	if err != nil {
		return nil, ""
	}

	if file, err := r.goOutput(ctx, "env", "GOMOD"); err == nil && filepath.IsAbs(file) {
		root = filepath.Dir(file)
	}

	return strings.Fields(listed), root
}

// goOutput returns the output of the go command.
func (r *runner) goOutput(ctx context.Context, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "go", arguments...)
	command.Dir = r.directory

	out, err := command.Output()

	return strings.TrimSpace(string(out)), err
}

// minStolenShare is the stolen share of CPU time from which a run is noticeably slower.
const minStolenShare = 0.1

// printPhases prints where the time of the run went.
func (r *runner) printPhases(s *summary, begin time.Time, before slowness.CPU, graph string) {
	first := s.began
	if first.IsZero() {
		first = time.Now() // no test ran
	}

	cpu := ""
	if b, known := readBuildTime(graph); known {
		cpu = " (" + b.String() + ")"
	}

	host := ""
	if stolen := slowness.ReadCPU().Since(before).StolenShare(); stolen >= minStolenShare {
		host = fmt.Sprintf("; the host gave %.0f %% of the CPU time to other machines", 100*stolen)
	}

	s.printf("time  %.0f s until the first test%s, %.0f s to run%s\n", first.Sub(begin).Seconds(), cpu, time.Since(first).Seconds(), host)
}
