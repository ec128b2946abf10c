package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestArgumentsAreTakenApartAsGoTestDoes(t *testing.T) {
	t.Parallel()

	a := parseArguments(strings.Fields("-shuffle=on -run Watch -v -count 2 --race ./e2e ./llm/... -timeout=1m -test.cpu 2 -args -run x"))
	require.Equal(t, []string{"-shuffle=on", "-run=Watch", "-v", "-count=2", "--race", "-timeout=1m", "-test.cpu=2"}, a.flags)
	require.Equal(t, []string{"./e2e", "./llm/..."}, a.packages)
	require.Equal(t, []string{"-args", "-run", "x"}, a.rest)

	require.True(t, a.has("race"))
	require.False(t, a.has("skip"))
	require.Equal(t, []string{"-v", "-count=2", "--race", "-timeout=1m", "-test.cpu=2"}, a.without("shuffle", "run"))
	require.Equal(t, []string{"--race"}, a.only("race", "tags"))
	require.Equal(t, []string{"test", "-json", "-x", "-v"}, parseArguments([]string{"-v"}).command("-x"))
}

func TestParallelTestsExceedCoresOfSmallMachine(t *testing.T) {
	t.Parallel()

	a := parseArguments([]string{"-v", "./e2e"})
	require.Equal(t, []string{"test", "-json", "-v", "-parallel=4", "./e2e"}, a.withParallel(2).command())
	require.Equal(t, []string{"test", "-json", "-v", "-parallel=16", "./e2e"}, a.withParallel(16).command())
	require.Equal(t, []string{"test", "-json", "-v", "./e2e"}, a.command(), "the arguments themselves stay")
	require.Equal(t, []string{"-parallel=1"}, parseArguments([]string{"-parallel=1"}).withParallel(16).flags)
}
