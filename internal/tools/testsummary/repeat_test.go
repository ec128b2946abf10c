package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTestThatPassesOnTheSecondRunIsFlakyAndFailsTheRun(t *testing.T) {
	t.Parallel()

	// Each test appends its name to a file, which then lists the tests that ran.
	module := newModule(t, map[string]string{"a/a_test.go": `package a

import (
	"os"
	"strings"
	"testing"
)

func ran(t *testing.T) (times int) {
	f, err := os.OpenFile("ran", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = f.WriteString(t.Name() + "\n")
	}

	raw, err2 := os.ReadFile("ran")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}

	return strings.Count(string(raw), t.Name()+"\n")
}

func TestGood(t *testing.T) { ran(t) }

func TestFlaky(t *testing.T) {
	t.Run("part", func(t *testing.T) {
		if ran(t) == 1 {
			t.Fatal("the first time")
		}
	})
}

func TestBad(t *testing.T) {
	ran(t)
	t.Fatal("always")
}
`})

	good, text := runIn(t, module, "-shuffle=on", "-run=.", "-count=1", "./...")
	require.False(t, good, text)
	require.Contains(t, text, "\nflaky   example.test/a TestFlaky\n")
	require.Contains(t, text, "\nfailed  example.test/a TestBad\n")
	require.NotContains(t, text, "TestGood\n---")
	require.Equal(t, 1, strings.Count(text, ": always\n"), "a failure is printed once")
	require.True(t, strings.HasSuffix(text, "\n1 passed, 3 failed, 0 skipped\n"), text)

	raw, err := os.ReadFile(filepath.Join(module, "a", "ran"))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(raw), "TestGood\n"), "what passed is not run again")
	require.Equal(t, 2, strings.Count(string(raw), "TestBad\n"))
	require.Equal(t, 2, strings.Count(string(raw), "TestFlaky/part\n"))
}

func TestRepetitionKeepsFlagsButOrderAndSelection(t *testing.T) {
	t.Parallel()

	r := &runner{arguments: parseArguments(strings.Fields("-race -shuffle=on -run Watch -count=3 -tags bench -p=3 ./... -args -v"))}
	require.Equal(t, strings.Fields("test -json -race -count=3 -tags=bench -p=3 -run=^(TestA|TestB)$ a/b -args -v"),
		r.repetition("a/b", []string{"TestA", "TestB"}))

	r.arguments = arguments{}
	require.Equal(t, strings.Fields("test -json -run=^(TestA)$ -count=1 a"), r.repetition("a", []string{"TestA"}), "a cached result is no second run")
}

func TestRepetitionCountsAsPassedOnlyIfEachRunPassed(t *testing.T) {
	t.Parallel()

	s, _ := summaryOf(t,
		`{"Action":"pass","Package":"a","Test":"TestTwice"}`,
		`{"Action":"fail","Package":"a","Test":"TestTwice"}`,
		`{"Action":"pass","Package":"a","Test":"TestOnce"}`,
	)
	require.False(t, s.passedAlways(testName{"a", "TestTwice"}))
	require.True(t, s.passedAlways(testName{"a", "TestOnce"}))
	require.False(t, s.passedAlways(testName{"a", "TestNever"}), "a test that did not run has not passed")
}

func TestManyFailuresAreNotRepeated(t *testing.T) {
	t.Parallel()

	var out strings.Builder

	s := newSummary(&out)

	for i := range maxRepeated + 1 {
		s.failures = append(s.failures, testName{"a", fmt.Sprintf("Test%d", i)})
	}

	(&runner{directory: "/does/not/exist"}).repeat(t.Context(), s)
	require.Equal(t, "\n21 tests failed: too many to run them again\n", out.String())
}
