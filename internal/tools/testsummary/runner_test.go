package main

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// newModule creates a module without dependencies from these files and a go.mod, and returns its directory.
func newModule(t *testing.T, files map[string]string) string {
	t.Helper()

	directory := t.TempDir()
	files = maps.Clone(files)
	files["go.mod"] = "module example.test\n\ngo 1.26\n"

	for name, text := range files {
		file := filepath.Join(directory, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}

	return directory
}

// runIn runs the tests of a module and returns the output.
func runIn(t *testing.T, directory string, arguments ...string) (good bool, text string) {
	t.Helper()

	var out strings.Builder

	r := &runner{out: newScreen(&out, false), stderr: &out, arguments: parseArguments(arguments), directory: directory}

	good, err := r.run(t.Context())
	if err != nil {
		out.WriteString(err.Error())
	}

	return good && err == nil, out.String()
}

func TestGreenRunPrintsPhasesAndTotal(t *testing.T) {
	t.Parallel()

	module := newModule(t, map[string]string{
		"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n\nfunc TestB(t *testing.T) { t.Skip(\"no network\") }\n",
		"b/b.go":      "package b\n",
	})

	good, text := runIn(t, module, "./...")
	require.True(t, good, text)
	require.Regexp(t, `^skip  1 × no network: example.test/a TestB
slow +\d+\.\d s  example.test/a TestA
time  \d+ s until the first test \(\d+ s of CPU time to compile and \d+ s to link\), \d+ s to run(; the host gave \d+ % of the CPU time to other machines)?
1 passed, 0 failed, 1 skipped
$`, text)
}

func TestPackageThatCannotBeLoadedFailsTheRun(t *testing.T) {
	t.Parallel()

	good, text := runIn(t, newModule(t, map[string]string{"a/a.go": "package a\n"}), "./missing")
	require.False(t, good, text)
	require.Contains(t, text, "missing")
}
