package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// summaryOf returns what is printed for these events, from the first failure to the last line.
func summaryOf(t *testing.T, events ...string) (*summary, string) {
	t.Helper()

	var out strings.Builder

	s := newSummary(&out)
	require.NoError(t, s.read(strings.NewReader(strings.Join(events, "\n")), nil))
	s.printSkips()
	s.printSlowest()
	s.printTotal()

	return s, out.String()
}

func TestSummaryCountsTestsAndShowsOnlyFailures(t *testing.T) {
	t.Parallel()

	_, text := summaryOf(t,
		`{"Action":"output","Package":"tarsy.dev/tarsy/a","Test":"TestGood","Output":"noise\n"}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestGood"}`,
		`{"Action":"output","Package":"tarsy.dev/tarsy/a","Test":"TestBad","Output":"    a_test.go:3: wrong\n"}`,
		`{"Action":"fail","Package":"tarsy.dev/tarsy/a","Test":"TestBad"}`,
		`{"Action":"output","Package":"tarsy.dev/tarsy/a","Test":"TestSkipped","Output":"=== RUN TestSkipped\n"}`,
		`{"Action":"output","Package":"tarsy.dev/tarsy/a","Test":"TestSkipped","Output":"    a_test.go:9: needs root\n"}`,
		`{"Action":"skip","Package":"tarsy.dev/tarsy/a","Test":"TestSkipped"}`,
		`{"Action":"fail","Package":"tarsy.dev/tarsy/a","Elapsed":1.25}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/b","Elapsed":0.5}`,
		`{"Action":"skip","Package":"tarsy.dev/tarsy/none"}`,
		`{"Action":"build-output","ImportPath":"tarsy.dev/tarsy/c","Output":"c.go:1: syntax error\n"}`,
		`{"Action":"fail","Package":"tarsy.dev/tarsy/c","FailedBuild":"tarsy.dev/tarsy/c"}`,
		`{"Action":"output","Package":"tarsy.dev/tarsy/d","Test":"TestCut","Output":"panic: boom\n"}`,
		`{"Action":"fail","Package":"tarsy.dev/tarsy/d"}`,
		`not json`,
	)

	require.NotContains(t, text, "noise")
	require.Contains(t, text, "--- a TestBad\n    a_test.go:3: wrong\n")
	require.Contains(t, text, "FAIL  a                                           1.2 s\n")
	require.Contains(t, text, "c.go:1: syntax error\n", "a package that does not build says why")
	require.Contains(t, text, "panic: boom\n", "a test that was cut off shows what it printed")
	require.Contains(t, text, "skip  1 × needs root: a TestSkipped\n")
	require.Contains(t, text, "not json\n")
	require.True(t, strings.HasSuffix(text, "\n1 passed, 3 failed, 1 skipped\n"), text)
}

func TestGreenRunHasNoLinePerPackageAndAtMost24Lines(t *testing.T) {
	t.Parallel()

	var events []string

	for i := range 120 {
		pkg := fmt.Sprintf("tarsy.dev/tarsy/p%d", i)

		for j := range 20 {
			events = append(events, fmt.Sprintf(`{"Action":"pass","Package":%q,"Test":"Test%d","Elapsed":%d.%d}`, pkg, j, j, i%10))
		}

		events = append(events,
			fmt.Sprintf(`{"Action":"output","Package":%q,"Test":"TestNode","Output":"    x%d_test.go:%d: node is missing\n"}`, pkg, i, i),
			fmt.Sprintf(`{"Action":"skip","Package":%q,"Test":"TestNode"}`, pkg),
			fmt.Sprintf(`{"Action":"pass","Package":%q,"Elapsed":0.5}`, pkg))
	}

	_, text := summaryOf(t, events...)
	require.Less(t, strings.Count(text, "\n"), 24, text)
	require.Equal(t, `skip  120 × node is missing: p0 TestNode, p1 TestNode, …
slow    19.9 s  p9 Test19
slow    19.9 s  p19 Test19
slow    19.9 s  p29 Test19
2400 passed, 0 failed, 120 skipped
`, text)
}

func TestSlowestTestsDoNotListSubtests(t *testing.T) {
	t.Parallel()

	_, text := summaryOf(t,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestQuick","Elapsed":0.05}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestUsual/part","Elapsed":9}`,
		`{"Action":"fail","Package":"tarsy.dev/tarsy/a","Test":"TestSlow","Elapsed":3}`,
	)
	require.Contains(t, text, "\nslow     3.0 s  a TestSlow\nslow     0.1 s  a TestQuick\n")
	require.NotContains(t, text, "part")
}

func TestWaitOfParallelSubtestsForTheirTurnIsNoTimeOfTheirTest(t *testing.T) {
	t.Parallel()

	_, text := summaryOf(t,
		`{"Action":"pause","Package":"tarsy.dev/tarsy/a","Test":"TestMany/group/one"}`,
		`{"Action":"pause","Package":"tarsy.dev/tarsy/a","Test":"TestMany/group/two"}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestMany/group/one","Elapsed":1}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestMany/group/two","Elapsed":2}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestMany/group","Elapsed":60}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestMany","Elapsed":60}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestInOrder/part","Elapsed":4}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestInOrder","Elapsed":9}`,
	)
	require.Contains(t, text, "slow     9.0 s  a TestInOrder\nslow     3.0 s  a TestMany\n")
}

func TestSubtestFailuresCountOnceAsTheirTest(t *testing.T) {
	t.Parallel()

	s, _ := summaryOf(t,
		`{"Action":"fail","Package":"a","Test":"TestTable/x"}`,
		`{"Action":"fail","Package":"a","Test":"TestTable/y"}`,
		`{"Action":"fail","Package":"a","Test":"TestTable"}`,
		`{"Action":"fail","Package":"a"}`,
	)
	require.Equal(t, []testName{{"a", "TestTable"}}, s.failures)
	require.Equal(t, 3, s.failed)
}
