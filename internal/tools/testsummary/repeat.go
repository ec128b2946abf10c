package main

import (
	"context"
	"io"
	"slices"
	"strings"
)

// maxRepeated limits how many failed tests are run again. If more failed, the build or the database is broken, and
// repeating them would only waste time.
const maxRepeated = 20

// repeat runs the failed tests once more, separately for each package, and prints which of them passed. Either way
// they fail the run: a flaky test is a bug.
func (r *runner) repeat(ctx context.Context, s *summary) {
	if len(s.failures) > maxRepeated {
		s.printf("\n%d tests failed: too many to run them again\n", len(s.failures))

		return
	}

	if len(s.failures) == 0 || ctx.Err() != nil {
		return
	}

	s.printf("\nrunning the failed tests once more…\n")

	for _, pkg := range failedPackages(s.failures) {
		var tests []string

		for _, f := range s.failures {
			if f.pkg == pkg {
				tests = append(tests, f.test)
			}
		}

		again := newSummary(io.Discard)
		_, _ = r.test(ctx, again, r.repetition(pkg, tests), nil) // it fails if a test fails, which again has recorded

		for _, test := range tests {
			verdict := "failed"
			if again.passedAlways(testName{pkg, test}) {
				verdict = "flaky "
			}

			s.printf("%s  %s %s\n", verdict, short(pkg), test)
		}
	}
}

// failedPackages returns the packages of failed tests, in the order of their first failure.
func failedPackages(failures []testName) []string {
	var packages []string

	for _, f := range failures {
		if !slices.Contains(packages, f.pkg) {
			packages = append(packages, f.pkg)
		}
	}

	return packages
}

// repetition returns the arguments of go that run only these tests of a package, with the flags of the first run except for the order.
func (r *runner) repetition(pkg string, tests []string) []string {
	flags := append(r.arguments.without("shuffle", "run", "debug-actiongraph"), "-run=^("+strings.Join(tests, "|")+")$")
	if !r.arguments.has("count") {
		flags = append(flags, "-count=1") // otherwise go may print the cached result of an earlier repetition
	}

	return arguments{flags: flags, packages: []string{pkg}, rest: r.arguments.rest}.command()
}

// passedAlways reports whether a test ran and never failed.
func (s *summary) passedAlways(name testName) bool {
	ran := slices.ContainsFunc(s.tests, func(t tested) bool { return t.testName == name })

	return ran && !slices.Contains(s.failures, name)
}
