package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFailedPackagesComeFirstThenTheSlowest(t *testing.T) {
	t.Parallel()

	h := history{
		"quick":  {Seconds: []float64{1, 30, 1}, Failed: []bool{false, false, false}},
		"slow":   {Seconds: []float64{9, 10, 11}},
		"failed": {Failed: []bool{true, false}},
		"often":  {Seconds: []float64{2}, Failed: []bool{true, true}},
	}

	require.Equal(t, strings.Fields("often failed slow quick new other"), h.order(strings.Fields("new quick other slow failed often")))
	require.Equal(t, strings.Fields("b a c"), history{}.order(strings.Fields("b a c")), "without a history the order stays")
}

func TestHistoryKeepsDurationsOfTheLatestUsualRuns(t *testing.T) {
	t.Parallel()

	h := history{}

	for i := range 12 {
		h.add(packageResult{name: "a", seconds: float64(i), failed: i == 11}, i != 10)
	}

	h.add(packageResult{name: "a", seconds: 99, cached: true}, true)
	h.add(packageResult{name: "none", empty: true}, true)

	require.Equal(t, []float64{5, 6, 7, 8, 9}, h["a"].Seconds, "neither of a run with a selection of tests nor of a failed one")
	require.Len(t, h["a"].Failed, keptResults)
	require.Equal(t, 1, h.failures("a"))
	require.NotContains(t, h, "none")
}

func TestDamagedHistoryIsIgnored(t *testing.T) {
	t.Parallel()

	root := t.TempDir()
	require.Empty(t, readHistory(root))

	require.NoError(t, history{"a": {Seconds: []float64{1.5}}}.write(root))
	require.Equal(t, history{"a": {Seconds: []float64{1.5}}}, readHistory(root))

	require.NoError(t, os.WriteFile(historyFile(root), []byte(`{"a": {"sec`), 0o644))
	require.Empty(t, readHistory(root))
}

func TestRunsStartPackagesInTheOrderOfTheHistory(t *testing.T) {
	t.Parallel()

	const test = "package x\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { t.Fatal(\"starts\") }\n"

	module := newModule(t, map[string]string{"a/a_test.go": test, "b/b_test.go": test, "c/c_test.go": test})
	require.NoError(t, history{"example.test/c": {Failed: []bool{true}}, "example.test/b": {Seconds: []float64{3}}}.write(module))

	good, text := runIn(t, module, "-p=1", "./...")
	require.False(t, good)

	var order []string

	for line := range strings.Lines(text) {
		if name, found := strings.CutPrefix(line, "--- example.test/"); found && strings.HasSuffix(name, " TestX\n") {
			order = append(order, name[:1])
		}
	}

	require.Equal(t, []string{"c", "b", "a"}, order, text)

	h := readHistory(module)
	require.Equal(t, []bool{true, true}, h["example.test/c"].Failed, "the run is added")
	require.Equal(t, []bool{true}, h["example.test/a"].Failed)
}
