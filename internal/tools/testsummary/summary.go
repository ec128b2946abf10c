package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// event is a line of go test -json.
type event struct {
	Action      string  `json:"Action"`
	Package     string  `json:"Package"`
	ImportPath  string  `json:"ImportPath"`
	Test        string  `json:"Test"`
	Output      string  `json:"Output"`
	Elapsed     float64 `json:"Elapsed"`
	FailedBuild string  `json:"FailedBuild"`
}

// summary counts what happened. A package that fails without a failed test, because it does not build or was killed,
// counts as one failure.
type summary struct {
	out     io.Writer
	passed  int
	failed  int
	skipped int

	outputs  map[string]*strings.Builder // by package and test, until it is known how it ended
	failures map[string]int              // failed tests by package
	skips    []string

	// showTimes reports whether how long tests took is wanted; times are those of whole tests by package.
	showTimes bool
	times     map[string][]timed
}

// timed is a test and how long it took.
type timed struct {
	name    string
	seconds float64
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, outputs: map[string]*strings.Builder{}, failures: map[string]int{}, times: map[string][]timed{}}
}

func (s *summary) take(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		// Not of go test: a tool that it ran, or go itself.
		s.printf("%s\n", line)

		return
	}

	switch e.Action {
	case "output":
		s.output(e.Package + " " + e.Test).WriteString(e.Output)
	case "build-output":
		s.output(e.ImportPath).WriteString(e.Output)
	case "pass", "fail", "skip":
		if e.Test != "" {
			s.test(e)
		} else {
			s.pkg(e)
		}
	}
}

func (s *summary) output(key string) *strings.Builder {
	if s.outputs[key] == nil {
		s.outputs[key] = &strings.Builder{}
	}

	return s.outputs[key]
}

func (s *summary) test(e event) {
	key := e.Package + " " + e.Test
	text := s.output(key).String()

	delete(s.outputs, key)

	switch e.Action {
	case "pass":
		s.passed++

		if !strings.Contains(e.Test, "/") {
			s.times[e.Package] = append(s.times[e.Package], timed{e.Test, e.Elapsed})
		}
	case "fail":
		s.failed++
		s.failures[e.Package]++
		s.printf("\n--- %s %s\n%s", short(e.Package), e.Test, text)
	case "skip":
		s.skipped++
		s.skips = append(s.skips, short(e.Package)+" "+e.Test+": "+reason(text))
	}
}

func (s *summary) pkg(e event) {
	text := s.output(e.Package + " ").String()

	switch e.Action {
	case "pass":
		s.printf("ok    %-40s %6.1f s\n", short(e.Package), e.Elapsed)
	case "fail":
		if s.failures[e.Package] == 0 {
			s.failed++

			text = s.output(e.FailedBuild).String() + s.unfinished(e.Package) + text
			s.printf("\n--- %s\n%s", short(e.Package), text)
		}

		s.printf("FAIL  %-40s %6.1f s\n", short(e.Package), e.Elapsed)
	}
}

// unfinished is the output of tests that were cut off.
func (s *summary) unfinished(pkg string) string {
	var text strings.Builder

	for key, output := range s.outputs {
		if strings.HasPrefix(key, pkg+" ") && key != pkg+" " {
			text.WriteString(output.String())
		}
	}

	return text.String()
}

// finish prints the end and reports whether all is well.
func (s *summary) finish() bool {
	for _, skip := range s.skips {
		s.printf("skip  %s\n", skip)
	}

	if s.showTimes {
		s.printTimes()
	}

	s.printf("%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)

	return s.failed == 0
}

// printTimes prints the median and the slowest tests of each package.
func (s *summary) printTimes() {
	const slowest = 10

	for _, pkg := range slices.Sorted(maps.Keys(s.times)) {
		tests := s.times[pkg]
		slices.SortFunc(tests, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
		s.printf("time  %s: %d tests, median %.2f s\n", short(pkg), len(tests), tests[len(tests)/2].seconds)

		for _, t := range tests[:min(slowest, len(tests))] {
			s.printf("      %6.2f s  %s\n", t.seconds, t.name)
		}
	}
}

func (s *summary) printf(format string, args ...any) {
	// If nobody can read it, the exit code still says it.
	_, _ = fmt.Fprintf(s.out, format, args...)
}

// short leaves out of a package's name what all have in common.
func short(pkg string) string {
	const module = "tarsy.dev/tarsy"

	if pkg == module {
		return "."
	}

	return strings.TrimPrefix(pkg, module+"/")
}

// reason is what a test said when it was skipped.
func reason(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			return line
		}
	}

	return "no reason given"
}
