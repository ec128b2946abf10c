package docs_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const module = "tarsy.dev/tarsy"

// llm is a library of its own: its packages and their tests may import each other, the vocabulary, and the reader of event
// streams, which imports nothing of this module; and nothing else of it. The mock server in particular knows llm, so the
// tests that need both belong to the mock.
func TestLLMImportsOnlyItselfAndRootPackage(t *testing.T) {
	t.Parallel()

	files := 0

	require.NoError(t, filepath.WalkDir("../llm", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}

		files++

		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}

		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}

			ours := imported == module || strings.HasPrefix(imported, module+"/")
			allowed := imported == module || imported == module+"/llm" || strings.HasPrefix(imported, module+"/llm/") || imported == module+"/internal/sse" || imported == module+"/internal/kit/slowness"
			assert.True(t, !ours || allowed, "%s imports %s", path, imported)
		}

		return nil
	}))
	require.NotZero(t, files)
}

// internal/kit/scale writes rows of sessions behind the engine's back, which only tests may do.
func TestOnlyTestsImportScale(t *testing.T) {
	t.Parallel()

	importers := 0

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

		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}

		for _, spec := range file.Imports {
			if spec.Path.Value == strconv.Quote(module+"/internal/kit/scale") {
				importers++

				assert.True(t, strings.HasSuffix(path, "_test.go"), "%s imports internal/kit/scale", path)
			}
		}

		return nil
	}))
	require.NotZero(t, importers)
}
