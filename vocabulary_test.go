package tarsy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// maxFieldGroup is how many adjacent fields one comment may document.
const maxFieldGroup = 3

// TestVocabularyFieldsAreDocumented requires a comment on every field of every exported struct of this package and of notebook, above it or
// at the end of its line. One comment may cover up to three fields on adjacent lines. Embedded fields are exempt.
func TestVocabularyFieldsAreDocumented(t *testing.T) {
	t.Parallel()

	paths, err := filepath.Glob("*.go")
	require.NoError(t, err)

	notes, err := filepath.Glob("notebook/*.go")
	require.NoError(t, err)
	require.NotEmpty(t, notes)

	paths = append(paths, notes...)

	checked := 0

	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}

		src := token.NewFileSet()

		file, err := parser.ParseFile(src, path, nil, parser.ParseComments)
		require.NoError(t, err)

		for name, fields := range exportedStructs(file) {
			checked++

			for _, field := range undocumentedFields(src, fields) {
				t.Errorf("%s: %s.%s has no comment", src.Position(field.Pos()), name, field.Name)
			}
		}
	}

	require.NotZero(t, checked)
}

func TestVocabularyCheckFindsUndocumentedFields(t *testing.T) {
	t.Parallel()

	src := token.NewFileSet()

	file, err := parser.ParseFile(src, "example.go", `package example

type hidden struct{ Free int }

type Shown struct {
	hidden
	First int
	// Covers the two lines below as well.
	Second int
	Third  int
	Fourth, private int
	Fifth  int

	Sixth   int // Documented, and covers nothing below a blank line.

	Seventh int
}
`, parser.ParseComments)
	require.NoError(t, err)

	found := []string{}

	for _, fields := range exportedStructs(file) {
		for _, field := range undocumentedFields(src, fields) {
			found = append(found, field.Name)
		}
	}

	require.Equal(t, []string{"First", "Fifth", "Seventh"}, found)
}

// exportedStructs returns the fields of the exported struct types that a file declares, by the name of the type.
func exportedStructs(file *ast.File) map[string][]*ast.Field {
	structs := map[string][]*ast.Field{}

	for _, declared := range file.Decls {
		types, ok := declared.(*ast.GenDecl)
		if !ok {
			continue
		}

		for _, spec := range types.Specs {
			named, ok := spec.(*ast.TypeSpec)
			if !ok || !named.Name.IsExported() {
				continue
			}

			if body, ok := named.Type.(*ast.StructType); ok {
				structs[named.Name.Name] = body.Fields.List
			}
		}
	}

	return structs
}

// undocumentedFields returns the names of exported fields that have no comment and are not covered by that of a field above.
func undocumentedFields(src *token.FileSet, fields []*ast.Field) []*ast.Ident {
	var (
		missing []*ast.Ident
		covered int // fields that the last comment covers so far; zero if it covers no more
		line    int // last line of the previous field
	)

	for _, field := range fields {
		adjacent := src.Position(field.Pos()).Line == line+1
		line = src.Position(field.End()).Line

		switch {
		case field.Doc != nil || field.Comment != nil:
			covered = 1

			continue
		case covered > 0 && covered < maxFieldGroup && adjacent:
			covered++

			continue
		}

		covered = 0

		for _, name := range field.Names {
			if name.IsExported() {
				missing = append(missing, name)
			}
		}
	}

	return missing
}
