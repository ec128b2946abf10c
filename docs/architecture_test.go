package docs_test

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	architecture      = "ARCHITECTURE.md"
	architectureLines = 120 // ten minutes of reading
)

// rowOfPackages matches a table row whose first cell contains only package names in backticks.
var rowOfPackages = regexp.MustCompile("(?m)^\\| ((?:`[^`]+` ?)+)\\| [^|]+ \\|$")

func TestArchitectureIsShort(t *testing.T) {
	t.Parallel()

	assert.LessOrEqual(t, strings.Count(read(t, "../"+architecture), "\n"), architectureLines, "move details to docs/internals")
}

func TestEachPackageHasOneRow(t *testing.T) {
	t.Parallel()

	var names []string

	for _, row := range rowOfPackages.FindAllStringSubmatch(read(t, "../"+architecture), -1) {
		for _, name := range ticked.FindAllStringSubmatch(row[1], -1) {
			names = append(names, expand(name[1])...)
		}
	}

	require.NotEmpty(t, names)

	packages, used := packageDirectories(t), map[string]bool{}

	for _, p := range packages {
		var found []string

		for _, name := range names {
			if covers(name, p) {
				found, used[name] = append(found, name), true
			}
		}

		assert.Len(t, found, 1, "%s must have one row for the package %s", architecture, p)
	}

	for _, name := range names {
		assert.True(t, used[name], "%s names the package %s, which does not exist", architecture, name)
	}
}

// covers reports whether name is p, or is "x/..." and p is below x.
func covers(name, p string) bool {
	above, all := strings.CutSuffix(name, "/...")

	return name == p || all && strings.HasPrefix(p, above+"/")
}

// expand expands a/{b,c} to a/b and a/c.
func expand(name string) []string {
	before, rest, open := strings.Cut(name, "{")
	inside, after, closed := strings.Cut(rest, "}")

	if !open || !closed {
		return []string{name}
	}

	var names []string
	for part := range strings.SplitSeq(inside, ",") {
		names = append(names, before+part+after)
	}

	return names
}

// packageDirectories finds the directories with Go files, including those of other modules in this repository.
func packageDirectories(t *testing.T) []string {
	t.Helper()

	var directories []string

	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}

		switch name := entry.Name(); {
		case path != ".." && strings.HasPrefix(name, "."), name == "node_modules", name == "testdata", name == "bin":
			return fs.SkipDir
		}

		files, err := filepath.Glob(filepath.Join(path, "*.go"))
		if err != nil {
			return err
		}

		if len(files) > 0 {
			directory, err := filepath.Rel("..", path)
			if err != nil {
				return err
			}

			directories = append(directories, filepath.ToSlash(directory))
		}

		return nil
	}))
	require.Contains(t, directories, "cmd/tarsy")

	return directories
}
