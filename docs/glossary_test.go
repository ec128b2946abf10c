package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestGlossaryIsSortedAndNamesTypesOfVocabulary(t *testing.T) {
	t.Parallel()

	var words []string

	types := vocabulary(t)
	row := regexp.MustCompile("^\\| ([^|]+) \\| .* \\| (?:`(\\w+\\.\\w+)` )?\\|$")

	for _, line := range prose(read(t, "glossary.md")) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| word |") || strings.HasPrefix(line, "| --- |") {
			continue
		}

		m := row.FindStringSubmatch(line)
		require.NotNil(t, m, line)
		words = append(words, strings.ToLower(m[1]))
		assert.True(t, m[2] == "" || types[m[2]], "%s: there is no %s", m[1], m[2])
	}

	require.NotEmpty(t, words)
	assert.Equal(t, slices.Compact(slices.Sorted(slices.Values(words))), words)
}

// vocabulary returns the types of the root package and of notebook, with their packages.
func vocabulary(t *testing.T) map[string]bool {
	t.Helper()

	found := map[string]bool{}

	paths, err := filepath.Glob("../*.go")
	require.NoError(t, err)

	notes, err := filepath.Glob("../notebook/*.go")
	require.NoError(t, err)

	paths = append(paths, notes...)

	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)

		for _, declaration := range file.Decls {
			if d, ok := declaration.(*ast.GenDecl); ok {
				for _, spec := range d.Specs {
					if named, ok := spec.(*ast.TypeSpec); ok {
						found[file.Name.Name+"."+named.Name.Name] = true
					}
				}
			}
		}
	}

	return found
}
