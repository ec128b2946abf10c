package wait_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A test's context is cancelled before its cleanups run, so a shutdown in a cleanup has no time left: it only succeeds on
// an idle machine.
func TestNoCleanupUsesTestContext(t *testing.T) {
	t.Parallel()

	files := token.NewFileSet()
	parsed := 0

	require.NoError(t, fs.WalkDir(os.DirFS("../../.."), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		if name := entry.Name(); entry.IsDir() && path != "." && (name == "node_modules" || strings.HasPrefix(name, ".")) {
			return fs.SkipDir
		}

		if !strings.HasSuffix(path, ".go") {
			return nil
		}

		file, err := parser.ParseFile(files, filepath.Join("../../..", path), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}

		parsed++

		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && method(call) == "Cleanup" {
				for _, argument := range call.Args {
					require.Empty(t, cancelled(files, argument), "use context.WithoutCancel or a context with a time limit")
				}
			}

			return true
		})

		return nil
	}))
	require.Greater(t, parsed, 1000, "the files of the module")
}

// cancelled returns the positions where an expression uses the context of a test outside of WithoutCancel.
func cancelled(files *token.FileSet, in ast.Node) (places []string) {
	ast.Inspect(in, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}

		if method(call) == "Context" && len(call.Args) == 0 {
			places = append(places, files.Position(call.Pos()).String())
		}

		return method(call) != "WithoutCancel"
	})

	return places
}

func method(call *ast.CallExpr) string {
	if selector, ok := call.Fun.(*ast.SelectorExpr); ok {
		return selector.Sel.Name
	}

	return ""
}
