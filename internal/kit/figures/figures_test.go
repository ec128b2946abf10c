package figures

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCostBeyondToleranceIsReported(t *testing.T) {
	t.Parallel()

	known := map[string]figure{"statements": {number: 100, why: "counted"}, "nothing": {why: "counted"}, "unexplained": {number: 1}}

	require.Empty(t, compare("costs.txt", "statements", 105, known))
	require.Empty(t, compare("costs.txt", "statements", 95, known))
	require.Empty(t, compare("costs.txt", "nothing", 0, known))
	require.Contains(t, compare("costs.txt", "statements", 105.2, known), "105.2, 5.2 % more than the 100 of costs.txt (counted)")
	require.Contains(t, compare("costs.txt", "statements", 94, known), "94, 6.0 % less than")
	require.Contains(t, compare("costs.txt", "nothing", 1, known), "more than the 0 of")
	require.Contains(t, compare("costs.txt", "unheard of", 1, known), "has no figure")
	require.Contains(t, compare("costs.txt", "unexplained", 1, known), "has no reason")
}

func TestWrittenFiguresKeepCommentsAndReasons(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "costs.txt")
	require.NoError(t, os.WriteFile(file, []byte("# What it costs.\nkept | 1 | as before\nchanged | 2 | because\n"), 0o600))

	known, comment, err := read(file)
	require.NoError(t, err)
	require.NoError(t, write(file, comment, known, map[string]float64{"changed": 3, "new": 4}))

	written, comment, err := read(file)
	require.NoError(t, err)
	require.Equal(t, "# What it costs.\n", comment)
	require.Equal(t, map[string]figure{"kept": {1, "as before"}, "changed": {3, "because"}, "new": {4, ""}}, written)

	require.NoError(t, os.WriteFile(file, []byte("# Comment\nhalf a line | 1\n"), 0o600))

	_, _, err = read(file)
	require.ErrorContains(t, err, "half a line")
}
