package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCoverageIsPrintedPerPackageLowestFirst(t *testing.T) {
	t.Parallel()

	var out strings.Builder

	s := newSummary(&out)
	require.NoError(t, s.read(strings.NewReader(strings.Join([]string{
		`{"Action":"output","Package":"tarsy.dev/tarsy/high","Output":"coverage: 91.5% of statements\n"}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/high","Elapsed":1}`,
		`{"Action":"output","Package":"tarsy.dev/tarsy/low","Output":"ok  \ttarsy.dev/tarsy/low\t(cached)\tcoverage: 7% of statements\n"}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/low","Elapsed":1}`,
		`{"Action":"output","Package":"tarsy.dev/tarsy/words","Output":"coverage: [no statements]\n"}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/words","Elapsed":1}`,
		`{"Action":"output","Package":"tarsy.dev/tarsy/none","Output":"\ttarsy.dev/tarsy/none\t\tcoverage: 0.0% of statements\n"}`,
		`{"Action":"skip","Package":"tarsy.dev/tarsy/none"}`,
		`{"Action":"output","Package":"tarsy.dev/tarsy/also","Output":"coverage: 91.5% of statements\n"}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/also","Elapsed":1}`,
	}, "\n")), nil))
	s.printCoverage()

	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 3)
	require.Contains(t, lines[0], "coverage of 4 packages")
	require.Equal(t, strings.Fields("0.0 none 7.0 low 91.5 also"), strings.Fields(lines[1]))
	require.Equal(t, strings.Fields("91.5 high"), strings.Fields(lines[2]))

	_, text := summaryOf(t, `{"Action":"pass","Package":"tarsy.dev/tarsy/a"}`)
	require.NotContains(t, text, "coverage")
}
