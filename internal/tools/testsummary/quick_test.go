package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sample returns a module in which b imports a, the tests of c import b, d imports c, and nothing imports docs.
func sample() module {
	with := func(name string, imports, testImports []string) goPackage {
		return goPackage{ImportPath: "m/" + name, Imports: imports, TestImports: testImports, TestGoFiles: []string{"x_test.go"}}
	}

	m := module{
		".":        {ImportPath: "m", TestGoFiles: []string{"x_test.go"}},
		"a":        with("a", []string{"fmt"}, nil),
		"b":        with("b", []string{"m/a"}, nil),
		"c":        with("c", nil, []string{"m/b"}),
		"d":        with("d", []string{"m/c"}, nil),
		"docs":     with("docs", nil, nil),
		"e2e":      with("e2e", []string{"m/b"}, []string{"m/a"}),
		"untested": {ImportPath: "m/untested", Imports: []string{"m/a"}},
		"f":        with("f", []string{"m/untested"}, nil),
		"web":      with("web", nil, nil),
	}

	a := m["a"]
	a.EmbedFiles = []string{"sql/one.sql"}
	m["a"] = a

	return m
}

func TestChangedFilesBelongToPackages(t *testing.T) {
	t.Parallel()

	m := sample()

	for file, want := range map[string]map[string]bool{
		"a/a.go":              {"a": true},
		"a/a_test.go":         {"a": false},
		"a/sql/one.sql":       {"a": true},
		"a/testdata/x.go":     {"a": false},
		"a/testdata/y/z.json": {"a": false},
		"README.md":           {"docs": false},
		"Makefile":            {"docs": false},
		"web/src/app.tsx":     {},
		"web/fields.json":     {"web": false},
		"gone/gone.go":        {},
	} {
		require.Equal(t, want, m.changed([]string{file}), file)
	}

	require.Equal(t, map[string]bool{"a": true}, m.changed([]string{"a/a_test.go", "a/a.go", "a/b_test.go"}))
	require.Len(t, m.changed([]string{"go.sum"}), len(m))
}

func TestAffectedPackagesImportTheChangedOne(t *testing.T) {
	t.Parallel()

	m := sample()

	require.Equal(t, map[string]int{"a": 0, "b": 1, "e2e": 1, "c": 2, "f": 2}, m.affected(map[string]bool{"a": true}),
		"d does not see what only the tests of c import")
	require.Equal(t, map[string]int{"a": 0}, m.affected(map[string]bool{"a": false}), "nobody imports tests")
	require.Equal(t, map[string]int{"a": 0, "b": 0, "e2e": 1, "c": 2, "f": 2}, m.affected(map[string]bool{"a": true, "b": false}))
}

func TestQuickRunsTheNearestPackagesThatFit(t *testing.T) {
	t.Parallel()

	past := history{"m/b": {Seconds: []float64{500}}, "m/c": {Seconds: []float64{60}}, "m/f": {Seconds: []float64{90}}}

	p := choose(map[string]int{"a": 0, "b": 1, "e2e": 1, "f": 2, "c": 2}, sample(), past, 3)
	require.Equal(t, []string{"a", "c"}, p.run)
	require.Equal(t, []string{"e2e (takes minutes)", "b (500 s)", "f (90 s)"}, p.skipped)
	require.LessOrEqual(t, p.estimate, quickBudget)
}

func TestQuickGuessesUnknownPackagesByWhatTheyImport(t *testing.T) {
	t.Parallel()

	m := module{
		"plain":    {ImportPath: "tarsy.dev/tarsy/plain", Imports: []string{"fmt"}},
		"database": {ImportPath: "tarsy.dev/tarsy/database", XTestImports: []string{"tarsy.dev/tarsy/internal/postgres/pgtest"}},
		"known":    {ImportPath: "tarsy.dev/tarsy/known", TestImports: []string{"tarsy.dev/tarsy/tarsytest"}},
		"product":  {ImportPath: "tarsy.dev/tarsy/product", TestImports: []string{"tarsy.dev/tarsy/tarsytest"}},
		"programs": {ImportPath: "tarsy.dev/tarsy/programs", TestImports: []string{"tarsy.dev/tarsy/internal/postgres/private"}},
	}

	p := choose(map[string]int{"plain": 0, "database": 0, "known": 0, "product": 0, "programs": 0}, m, history{"tarsy.dev/tarsy/known": {Seconds: []float64{3}}}, 2)
	require.Equal(t, []string{"plain", "known", "database"}, p.run)
	require.Equal(t, []string{"product (60 s)", "programs (60 s)"}, p.skipped)
}

func TestQuickBeginsNoPackagesWhenTheTimeIsUp(t *testing.T) {
	t.Parallel()

	files := map[string]string{}
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		files[name+"/x_test.go"] = "package " + name + "\n\nimport \"testing\"\n\nfunc TestRun(*testing.T) {}\n"
	}

	var out strings.Builder

	q := &quick{out: newScreen(&out, false), stderr: &out, root: newModule(t, files), parallel: 2}
	expected := func(packages []string) time.Duration {
		if slices.Contains(packages, "./d") {
			return time.Hour
		}

		return time.Second
	}

	good, err := q.test(t.Context(), []string{"f", "e", "d", "c", "b", "a"}, time.Now().Add(10*time.Minute), expected)
	require.NoError(t, err)
	require.True(t, good)
	require.Contains(t, out.String(), "not run:  d, because the time was up; make test-go runs them\n")
	require.Contains(t, out.String(), "5 passed, 0 failed")

	// Even if it is too late, one package is tested.
	out.Reset()

	_, err = q.test(t.Context(), []string{"f", "d"}, time.Now(), expected)
	require.NoError(t, err)
	require.Contains(t, out.String(), "not run:  d, ")
	require.Contains(t, out.String(), "1 passed, 0 failed")
}

func TestQuickRunsOnlyWhatTheLatestChangeAffects(t *testing.T) {
	t.Parallel()

	test := func(pkg string) string {
		return "package " + pkg + "\n\nimport \"testing\"\n\nfunc TestRun(t *testing.T) { t.Log(Name) }\n"
	}

	root := newModule(t, map[string]string{
		".gitignore": "/.cache\n",
		"a/a.go":     "package a\n\nconst Name = \"a\"\n", "a/a_test.go": test("a"),
		"b/b.go": "package b\n\nimport \"example.test/a\"\n\nconst Name = a.Name\n", "b/b_test.go": test("b"),
		"c/c.go": "package c\n\nconst Name = \"c\"\n", "c/c_test.go": test("c"),
		"e2e/e2e.go": "package e2e\n\nimport \"example.test/b\"\n\nconst Name = b.Name\n", "e2e/e2e_test.go": test("e2e"),
	})
	git := func(arguments ...string) {
		command := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.test"}, arguments...)...)
		command.Dir = root
		out, err := command.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	run := func() (bool, string) {
		var out strings.Builder

		good, err := (&quick{out: newScreen(&out, false), stderr: &out, root: root, parallel: 2}).run(t.Context())
		require.NoError(t, err)

		return good, out.String()
	}

	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "one")

	good, text := run()
	require.True(t, good)
	require.Equal(t, "nothing changed since HEAD\n", text)

	require.NoError(t, os.WriteFile(filepath.Join(root, "a", "new.go"), []byte("package a\n"), 0o644))

	good, text = run()
	require.True(t, good, text)
	require.Contains(t, text, "1 files changed since HEAD, in packages: a\nrunning:  a, b\nnot run:  e2e (takes minutes); make test-go runs them\n")
	require.True(t, strings.HasSuffix(text, "\n2 passed, 0 failed, 0 skipped\n"), text)

	git("add", ".")
	git("commit", "-qm", "two")

	base, files, err := (&quick{root: root}).changes(t.Context())
	require.NoError(t, err)
	require.Equal(t, "HEAD~1", base, "with a clean working tree it is what the last commit changed")
	require.Equal(t, []string{"a/new.go"}, files)

	require.NoError(t, os.WriteFile(filepath.Join(root, "c", "c.go"),
		[]byte("package c\n\nimport \"fmt\"\n\nvar Name = fmt.Sprintf(\"%d\", \"not a number\")\n"), 0o644))

	good, text = run()
	require.False(t, good, "go vet fails, although the tests pass:\n"+text)
	require.Contains(t, text, "1 passed, 0 failed")

	git("update-ref", "refs/remotes/origin/main", "HEAD~1")

	_, files, err = (&quick{root: root}).changes(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"a/new.go", "c/c.go"}, files, "with origin/main it is everything since the branch left it")
}

func TestModuleIsReadFromGoList(t *testing.T) {
	t.Parallel()

	m, err := parseModule("/src", strings.NewReader(`{"ImportPath":"m","Dir":"/src"}{"ImportPath":"m/a/b","Dir":"/src/a/b","Imports":["fmt"]}`))
	require.NoError(t, err)
	require.Equal(t, []string{".", "a/b"}, slices.Sorted(maps.Keys(m)))
	require.Equal(t, []string{"fmt"}, m["a/b"].Imports)
}
