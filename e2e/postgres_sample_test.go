package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// postgresSample lists the scenarios that scripts/test-postgres.sh runs on each version of PostgreSQL.
const postgresSample = "testdata/postgres-sample.txt"

// A pattern that matches no test runs none and succeeds, so a renamed scenario would silently drop out of the sample.
func TestPostgresSampleNamesExistingScenarios(t *testing.T) {
	t.Parallel()

	raw, err := os.ReadFile(postgresSample)
	require.NoError(t, err)

	scenarios, seen := scenarioNames(t), map[string]bool{}

	for line := range strings.Lines(string(raw)) {
		name := strings.TrimSuffix(line, "\n")
		if name == "" || strings.HasPrefix(name, "#") {
			continue
		}

		require.True(t, scenarios[name], "%s names %q, which is not a test of this package: rename it there too", postgresSample, name)
		require.False(t, seen[name], "%s names %s twice", postgresSample, name)

		seen[name] = true
	}

	require.NotEmpty(t, seen)
}

// scenarioNames returns the tests in the files of this package.
func scenarioNames(t *testing.T) map[string]bool {
	t.Helper()

	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)

	names := map[string]bool{}

	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)

		for _, declaration := range file.Decls {
			if function, ok := declaration.(*ast.FuncDecl); ok && strings.HasPrefix(function.Name.Name, "Test") {
				names[function.Name.Name] = function.Recv == nil && function.Name.Name != "TestMain"
			}
		}
	}

	return names
}
