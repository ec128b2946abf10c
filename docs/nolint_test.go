package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A directive for a linter that is off has no effect, and nolintlint does not report it.
func TestNolintNamesLintersThatAreOn(t *testing.T) {
	t.Parallel()

	configuration, err := os.ReadFile("../.golangci.yml")
	require.NoError(t, err)

	off := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^    - (\w+) #`).FindAllSubmatch(configuration, -1) {
		off[string(match[1])] = true
	}

	require.True(t, off["wrapcheck"], "the linters that are off were not found")

	directive := regexp.MustCompile(`//nolint:([a-z0-9_]+(?:,[a-z0-9_]+)*)`)
	found := 0

	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if err == nil && (entry.Name() == "node_modules" || entry.Name() == ".cache") {
				return fs.SkipDir
			}

			return err
		}

		if !strings.HasSuffix(path, ".go") {
			return nil
		}

		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}

		for _, match := range directive.FindAllSubmatch(source, -1) {
			found++

			for name := range strings.SplitSeq(string(match[1]), ",") {
				assert.False(t, off[name], "%s: nolint for %s, which is off", path, name)
			}
		}

		return nil
	}))
	require.NotZero(t, found)
}
