package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
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

// summary counts results and prints failures as they happen. A package that fails without a failed test, because it does not build or was
// killed, counts as one failure.
type summary struct {
	out     io.Writer
	passed  int
	failed  int
	skipped int

	outputs map[string]*strings.Builder // by package and test, until the test has ended
	skips   skips
	tests   []tested // the top-level tests that passed or failed
	parts   map[testName]*parts
	// packages are those that have ended, including those without tests.
	packages []packageResult
	// failures are the failed top-level tests, in order; a failed subtest counts as its top-level test.
	failures []testName
	// began is when the first test started; zero before that.
	began time.Time
	now   func() time.Time
}

// testName is a top-level test.
type testName struct{ pkg, test string }

// parts are the subtests of a top-level test.
type parts struct {
	// seconds is the total duration of the subtests that have no subtests themselves.
	seconds float64
	// parents are the subtests that have subtests.
	parents map[string]bool
	// queued means that some run in parallel: the duration of the test then includes their time in the queue.
	queued bool
}

// tested is a top-level test with its duration.
type tested struct {
	testName

	seconds float64
}

// packageResult is how the tests of a package ended.
type packageResult struct {
	name    string
	failed  bool
	cached  bool
	empty   bool // no tests
	seconds float64
	// coverage is the percentage of statements that the tests run; negative if it was not measured.
	coverage float64
}

func newSummary(out io.Writer) *summary {
	return &summary{out: out, outputs: map[string]*strings.Builder{}, parts: map[testName]*parts{}, now: time.Now}
}

// read reads the output of go test -json to its end. It calls progress, if given, four times a second.
func (s *summary) read(output io.Reader, progress func()) error {
	const (
		longestLine = 16 << 20
		often       = 250 * time.Millisecond
	)

	scanner := bufio.NewScanner(output)
	scanner.Buffer(nil, longestLine)

	lines := make(chan []byte)

	go func() {
		defer close(lines)

		for scanner.Scan() {
			lines <- slices.Clone(scanner.Bytes())
		}
	}()

	tick := time.NewTicker(often)
	defer tick.Stop()

	for {
		select {
		case line, more := <-lines:
			if !more {
				return scanner.Err()
			}

			s.take(line)
		case <-tick.C:
			if progress != nil {
				progress()
			}
		}
	}
}

func (s *summary) take(line []byte) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		// Not from go test, but from a tool that it ran, or from go itself.
		s.printf("%s\n", line)

		return
	}

	switch e.Action {
	case "run":
		if s.began.IsZero() {
			s.began = s.now()
		}
	case "pause":
		if test, _, inner := strings.Cut(e.Test, "/"); inner {
			s.partsOf(testName{e.Package, test}).queued = true
		}
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

	test, _, inner := strings.Cut(e.Test, "/")
	name := testName{e.Package, test}

	switch e.Action {
	case "pass":
		s.passed++
	case "fail":
		s.failed++
		s.printf("\n--- %s %s\n%s", short(e.Package), e.Test, text)

		if !slices.Contains(s.failures, name) {
			s.failures = append(s.failures, name)
		}
	case "skip":
		s.skipped++
		s.skips.add(reason(text), short(e.Package)+" "+e.Test)

		return
	}

	if inner {
		s.partsOf(name).add(e)

		return
	}

	seconds := e.Elapsed
	if parts := s.parts[name]; parts != nil && parts.queued {
		seconds = min(seconds, parts.seconds)
	}

	delete(s.parts, name)
	s.tests = append(s.tests, tested{name, seconds})
}

func (s *summary) partsOf(name testName) *parts {
	if s.parts[name] == nil {
		s.parts[name] = &parts{parents: map[string]bool{}}
	}

	return s.parts[name]
}

// add counts a subtest that has ended. Its own subtests have already ended.
func (p *parts) add(e event) {
	if !p.parents[e.Test] {
		p.seconds += e.Elapsed
	}

	p.parents[e.Test[:strings.LastIndexByte(e.Test, '/')]] = true
}

func (s *summary) pkg(e event) {
	text := s.output(e.Package + " ").String()

	s.packages = append(s.packages, packageResult{
		name: e.Package, failed: e.Action == "fail", empty: e.Action == "skip", seconds: e.Elapsed, cached: strings.Contains(text, "\t(cached)"),
		coverage: readCoverage(text),
	})

	if e.Action != "fail" {
		return
	}

	if !slices.ContainsFunc(s.failures, func(f testName) bool { return f.pkg == e.Package }) {
		s.failed++

		text = s.output(e.FailedBuild).String() + s.unfinished(e.Package) + text
		s.printf("\n--- %s\n%s", short(e.Package), text)
	}

	s.printf("FAIL  %-40s %6.1f s\n", short(e.Package), e.Elapsed)
}

// unfinished returns the output of tests that were cut off.
func (s *summary) unfinished(pkg string) string {
	var text strings.Builder

	for key, output := range s.outputs {
		if strings.HasPrefix(key, pkg+" ") && key != pkg+" " {
			text.WriteString(output.String())
		}
	}

	return text.String()
}

// progress describes the state of the run in a line, with the total number of packages if it is known.
func (s *summary) progress(all int, after time.Duration) string {
	packages := fmt.Sprintf("%d", len(s.packages))
	if all > 0 {
		packages += fmt.Sprintf("/%d", all)
	}

	return fmt.Sprintf("%s packages, %d tests, %d failed, %.0f s", packages, s.passed+s.failed+s.skipped, s.failed, after.Seconds())
}

func (s *summary) printSkips() { s.printf("%s", s.skips.String()) }

// printSlowest prints the slowest tests.
func (s *summary) printSlowest() {
	const most = 3

	for _, t := range slowest(s.tests, most) {
		s.printf("slow  %6.1f s  %s %s\n", t.seconds, short(t.pkg), t.test)
	}
}

// printTotal prints the last line, which scripts read.
func (s *summary) printTotal() {
	s.printf("%d passed, %d failed, %d skipped\n", s.passed, s.failed, s.skipped)
}

func (s *summary) printf(format string, args ...any) {
	// If the output cannot be written, the exit code is still correct.
	_, _ = fmt.Fprintf(s.out, format, args...)
}

// slowest returns the slowest tests, slowest first.
func slowest(tests []tested, most int) []tested {
	tests = slices.Clone(tests)
	slices.SortStableFunc(tests, func(a, b tested) int { return cmp.Compare(b.seconds, a.seconds) })

	return tests[:min(most, len(tests))]
}

// short removes the module path from a package's name.
func short(pkg string) string {
	const module = "tarsy.dev/tarsy"

	if pkg == module {
		return "."
	}

	return strings.TrimPrefix(pkg, module+"/")
}

// errFailed reports that go test failed. runner.run drops it if tests failed, since those are already printed.
var errFailed = errors.New("go test failed")
