package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// skips are the skipped tests, by reason.
type skips struct{ groups []skipGroup }

type skipGroup struct {
	reason string
	tests  []string
}

// position is the source position of a reason, which is removed because tests in different files can have the same reason.
var position = regexp.MustCompile(`^\S+\.go:\d+: `)

func (s *skips) add(reason, test string) {
	reason = position.ReplaceAllString(reason, "")

	i := slices.IndexFunc(s.groups, func(g skipGroup) bool { return g.reason == reason })
	if i < 0 {
		i = len(s.groups)
		s.groups = append(s.groups, skipGroup{reason: reason})
	}

	s.groups[i].tests = append(s.groups[i].tests, test)
}

// String returns a line for each reason, with the number of tests and up to two of them, the most frequent reason first.
func (s *skips) String() string {
	const named = 2

	var b strings.Builder

	groups := slices.Clone(s.groups)
	slices.SortStableFunc(groups, func(x, y skipGroup) int {
		return cmp.Or(cmp.Compare(len(y.tests), len(x.tests)), cmp.Compare(x.reason, y.reason))
	})

	for _, g := range groups {
		tests := slices.Sorted(slices.Values(g.tests))
		more := ""

		if len(tests) > named {
			more = ", …"
		}

		fmt.Fprintf(&b, "skip  %d × %s: %s%s\n", len(tests), g.reason, strings.Join(tests[:min(named, len(tests))], ", "), more)
	}

	return b.String()
}

// reason returns the first line that a test printed before it was skipped.
func reason(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---") {
			return line
		}
	}

	return "no reason given"
}
