package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// runner runs go test once.
type runner struct {
	out       *screen
	stderr    io.Writer
	arguments arguments
	// directory is where go runs; empty means the current one.
	directory string
}

// run tests and prints the results. It reports whether all tests passed.
func (r *runner) run(ctx context.Context) (good bool, err error) {
	work, err := os.MkdirTemp("", "testsummary-")
	if err != nil {
		return false, err
	}

	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()

	begin := time.Now()
	graph := filepath.Join(work, "actions.json")
	packages := r.list(ctx)

	s := newSummary(r.out)
	err = r.test(ctx, s, r.arguments.command("-debug-actiongraph="+graph), func() {
		after := time.Since(begin)
		r.out.progress(s.progress(len(packages), after), after)
	})
	r.out.clear()
	r.repeat(ctx, s)

	s.printSkips()
	s.printSlowest()
	r.printPhases(s, begin, graph)
	s.printTotal()

	if s.failed > 0 {
		return false, nil // go test fails because of what is printed already
	}

	return true, err
}

// test runs go with these arguments and takes its events.
func (r *runner) test(ctx context.Context, s *summary, arguments []string, progress func()) error {
	// After Ctrl-C go test ends by itself, and reports what was cut off.
	command := exec.CommandContext(context.WithoutCancel(ctx), "go", arguments...)
	command.Stderr = r.stderr
	command.Dir = r.directory

	output, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}

	if err != nil {
		return fmt.Errorf("start go test: %w", err)
	}

	err = s.read(output, progress)
	if command.Wait() != nil {
		err = errors.Join(err, errFailed)
	}

	return err
}

// list is the packages that are tested, or nil if go list cannot tell: go test then prints the reason.
func (r *runner) list(ctx context.Context) []string {
	arguments := append([]string{"list"}, r.arguments.only("tags", "race", "mod", "modfile", "overlay")...)

	command := exec.CommandContext(ctx, "go", append(arguments, r.arguments.packages...)...)
	command.Dir = r.directory

	out, err := command.Output()
	if err != nil {
		return nil
	}

	return strings.Fields(string(out))
}

// printPhases prints where the time of the run went.
func (r *runner) printPhases(s *summary, begin time.Time, graph string) {
	first := s.began
	if first.IsZero() {
		first = time.Now() // no test ran
	}

	cpu := ""
	if b, known := readBuildTime(graph); known {
		cpu = " (" + b.String() + ")"
	}

	s.printf("time  %.0f s until the first test%s, %.0f s to run\n", first.Sub(begin).Seconds(), cpu, time.Since(first).Seconds())
}
