// Package golden compares the output of tests with reviewed files. It knows nothing about their contents.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write golden files instead of comparing with them")

// Compare compares actual with the golden file testdata/golden/<name>, or writes it when -update is given.
func Compare(t testing.TB, name string, actual []byte) {
	t.Helper()

	path := filepath.Join("testdata", "golden", filepath.FromSlash(name))

	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, actual, 0o600))

		return
	}

	want, err := os.ReadFile(path)
	require.NoError(t, err, "no golden file yet: run the test with -update and review what it writes")

	if diff := cmp.Diff(string(want), string(actual)); diff != "" {
		t.Errorf("%s differs (-golden +actual); run with -update if the change is meant:\n%s", path, diff)
	}
}
