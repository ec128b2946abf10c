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

// The SDKs of OpenAI and Anthropic take more time to compile than the rest of the program, and were most of its size, for
// one streamed request each. They are third-party clients that check the mock server, and only in packages that hold
// nothing else, so that no other test compiles them and the race detector never does.
func TestOnlySDKTestsImportProviderSDKs(t *testing.T) {
	t.Parallel()

	sdks := []string{"github.com/openai/openai-go", "github.com/anthropics/anthropic-sdk-go"}
	homes := []string{"../internal/kit/mock/openai/sdktest", "../internal/kit/mock/anthropic/sdktest"}
	importers := map[string]int{}

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
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}

			for i, sdk := range sdks {
				if imported != sdk && !strings.HasPrefix(imported, sdk+"/") {
					continue
				}

				importers[sdk]++

				assert.Equal(t, homes[i], filepath.ToSlash(filepath.Dir(path)), "%s imports %s", path, imported)
				assert.True(t, strings.HasSuffix(path, "_test.go"), "%s imports %s", path, imported)
			}
		}

		return nil
	}))

	for _, sdk := range sdks {
		require.NotZero(t, importers[sdk], sdk)
	}
}
