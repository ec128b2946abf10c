package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/schema"
)

const configPackage = "tarsy.dev/tarsy/internal/config"

// A key that nothing reads must be tagged later, or be in a section that is.
func TestEveryKeyIsReadOrTaggedAsWithoutEffect(t *testing.T) {
	t.Parallel()
	read := fieldsRead(t)
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(section reflect.Type) {
		for section.Kind() != reflect.Struct {
			switch section.Kind() {
			case reflect.Pointer, reflect.Map, reflect.Slice:
				section = section.Elem()
			default:
				return
			}
		}
		if seen[section] {
			return
		}
		seen[section] = true
		for _, f := range schema.FieldsOf(section) {
			field := section.Field(f.Index)
			name := section.Name() + "." + field.Name
			if f.Later == "true" {
				assert.False(t, read[name], "%s has an effect: remove its tag later", name)
				continue
			}
			assert.Contains(t, read, name, "nothing reads %s (%s): tag it later, or remove it", name, f.Key)
			visit(field.Type)
		}
	}
	visit(reflect.TypeFor[config.Config]())
	require.Greater(t, len(seen), 20)
}

// goPackage is the output of go list for a package.
type goPackage struct {
	ImportPath, Dir, Export string
	GoFiles, Imports        []string
	Standard                bool
}

// fieldsRead returns the fields of the configuration that some code reads, as Type.Field: true if read by name, false if only with the
// whole struct. Code that only checks a value or looks up a name does not count.
func fieldsRead(t *testing.T) map[string]bool {
	t.Helper()
	packages := listPackages(t)
	fset := token.NewFileSet()
	exports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(packages[path].Export)
	})
	read := map[string]bool{}
	for _, p := range packages {
		if p.ImportPath != configPackage && !slices.Contains(p.Imports, configPackage) {
			continue
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			files = append(files, file)
		}
		info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}, Types: map[ast.Expr]types.TypeAndValue{}}
		_, err := (&types.Config{Importer: exports}).Check(p.ImportPath, fset, files, info)
		require.NoError(t, err)
		for _, file := range files {
			for _, declared := range file.Decls {
				if function, ok := declared.(*ast.FuncDecl); ok && !onlyChecks(p, function) {
					collectReads(function, info, read)
					collectConversions(function, info, read)
				}
			}
		}
	}
	return read
}

func onlyChecks(p goPackage, function *ast.FuncDecl) bool {
	name := function.Name.Name
	return p.ImportPath == configPackage && (strings.HasPrefix(name, "check") || name == "names" || name == "nameEntries" || name == "addBuiltins")
}

// collectConversions counts all fields of a struct as read if the whole struct is converted to another type.
func collectConversions(function *ast.FuncDecl, info *types.Info, read map[string]bool) {
	ast.Inspect(function, func(node ast.Node) bool {
		call, ok := node.(*ast.CallExpr)
		if !ok || len(call.Args) != 1 || !info.Types[call.Fun].IsType() {
			return true
		}
		named, ok := info.Types[call.Args[0]].Type.(*types.Named)
		if !ok || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != configPackage {
			return true
		}
		if fields, ok := named.Underlying().(*types.Struct); ok {
			for field := range fields.Fields() {
				if name := named.Obj().Name() + "." + field.Name(); !read[name] {
					read[name] = false // present: read, though not by its name
				}
			}
		}
		return true
	})
}

func collectReads(function *ast.FuncDecl, info *types.Info, read map[string]bool) {
	assigned := map[ast.Expr]bool{}
	ast.Inspect(function, func(node ast.Node) bool {
		if assignment, ok := node.(*ast.AssignStmt); ok && assignment.Tok == token.ASSIGN {
			for _, left := range assignment.Lhs {
				assigned[left] = true
			}
		}
		return true
	})
	ast.Inspect(function, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok || assigned[selector] {
			return true
		}
		selection := info.Selections[selector]
		if selection == nil || selection.Kind() != types.FieldVal {
			return true
		}
		owner := selection.Recv()
		if pointer, ok := owner.Underlying().(*types.Pointer); ok {
			owner = pointer.Elem()
		}
		if named, ok := owner.(*types.Named); ok && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == configPackage {
			read[named.Obj().Name()+"."+selector.Sel.Name] = true
		}
		return true
	})
}

// listPackages runs go list for the packages of the program, with their export data.
func listPackages(t *testing.T) map[string]goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Imports,Standard", "tarsy.dev/tarsy/cmd/tarsy")
	out, err := cmd.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		err = fmt.Errorf("%w: %s", err, failed.Stderr)
	}
	require.NoError(t, err)
	packages := map[string]goPackage{}
	decoder := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		require.NoError(t, err)
		packages[p.ImportPath] = p
	}
}
