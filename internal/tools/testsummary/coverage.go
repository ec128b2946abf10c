package main

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// coverageLine matches what go test -cover prints for a package with statements.
var coverageLine = regexp.MustCompile(`coverage: (\d+(?:\.\d+)?)% of statements`)

// readCoverage returns the coverage in the output of a package, or -1 if there is none.
func readCoverage(output string) float64 {
	found := coverageLine.FindStringSubmatch(output)
	if found == nil {
		return -1
	}

	percent, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		return -1
	}

	return percent
}

// printCoverage prints the coverage of each package, lowest first and several per line, or nothing if none was measured.
func (s *summary) printCoverage() {
	const perLine = 3

	measured := slices.DeleteFunc(slices.Clone(s.packages), func(p packageResult) bool { return p.coverage < 0 })
	if len(measured) == 0 {
		return
	}

	slices.SortFunc(measured, func(a, b packageResult) int {
		return cmp.Or(cmp.Compare(a.coverage, b.coverage), strings.Compare(a.name, b.name))
	})

	s.printf("coverage of %d packages in percent of their statements, by their own tests, the lowest first:\n", len(measured))

	for line := range slices.Chunk(measured, perLine) {
		for _, p := range line {
			s.printf("  %5.1f %-34s", p.coverage, short(p.name))
		}

		s.printf("\n")
	}
}
