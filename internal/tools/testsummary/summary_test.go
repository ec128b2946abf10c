package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSummaryCountsTestsAndShowsOnlyFailures(t *testing.T) {
	t.Parallel()

	var out strings.Builder

	s := newSummary(&out)

	for _, line := range []string{
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
	} {
		s.take([]byte(line))
	}

	require.False(t, s.finish())

	text := out.String()
	require.NotContains(t, text, "noise")
	require.Contains(t, text, "--- a TestBad\n    a_test.go:3: wrong\n")
	require.Contains(t, text, "c.go:1: syntax error\n", "a package that does not build says why")
	require.Contains(t, text, "panic: boom\n", "a test that was cut off shows what it said")
	require.Contains(t, text, "skip  a TestSkipped: a_test.go:9: needs root\n")
	require.Contains(t, text, "not json\n")
	require.True(t, strings.HasSuffix(text, "\n1 passed, 3 failed, 1 skipped\n"), text)
}

func TestAllGreenIsOneLinePerPackagePlusTotal(t *testing.T) {
	t.Parallel()

	var out strings.Builder

	s := newSummary(&out)
	s.take([]byte(`{"Action":"pass","Package":"tarsy.dev/tarsy","Test":"TestA"}`))
	s.take([]byte(`{"Action":"pass","Package":"tarsy.dev/tarsy","Elapsed":0.5}`))
	require.True(t, s.finish())
	require.Equal(t, []string{"ok    .", "1 passed, 0 failed, 0 skipped"}, []string{
		strings.TrimSpace(strings.Split(out.String(), "  0.5")[0]), strings.TrimSpace(strings.Split(out.String(), "\n")[1]),
	})
}

func TestTimesAreMedianAndMaximumPerTest(t *testing.T) {
	t.Parallel()

	var out strings.Builder

	s := newSummary(&out)
	s.showTimes = true

	for _, line := range []string{
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestSlow","Elapsed":3}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestQuick","Elapsed":0.05}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestUsual/part","Elapsed":9}`,
		`{"Action":"pass","Package":"tarsy.dev/tarsy/a","Test":"TestUsual","Elapsed":0.07}`,
	} {
		s.take([]byte(line))
	}

	require.True(t, s.finish())
	require.Contains(t, out.String(), "time  a: 3 tests, median 0.07 s\n        3.00 s  TestSlow\n")
}
