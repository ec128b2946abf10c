// Package docs_test checks that the documents name only things that exist.
package docs_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// These patterns find the names in a document that must exist: in backticks, or on a line of a code block.
var (
	ticked   = regexp.MustCompile("`([^`\n]+)`")
	target   = regexp.MustCompile(`(?m)^\s*make ([a-z][a-z0-9-]*)`)
	command  = regexp.MustCompile(`(?m)^\s*(?:bin/)?tarsy ([a-z]+)([^\n#]*)`)
	flag     = regexp.MustCompile(`--[a-z][a-z-]+`)
	link     = regexp.MustCompile(`\]\(([^)#:\s]+)(?:#[^)]*)?\)`) // to a file of this repository
	path     = regexp.MustCompile(`^[A-Za-z0-9_.*/-]+$`)
	testName = regexp.MustCompile(`^Test[A-Z]\w+$`)
)

func TestDocumentsNameOnlyWhatExists(t *testing.T) {
	t.Parallel()

	makefile, cli, tests := read(t, "../Makefile"), read(t, "cli.md"), map[string]bool{}

	for _, inPackage := range testsByPackage(t) {
		maps.Copy(tests, inPackage)
	}

	for _, file := range documents(t) {
		text := read(t, file)

		for _, m := range target.FindAllStringSubmatch(lines(text), -1) {
			assert.Regexp(t, `(?m)^`+m[1]+`:`, makefile, "%s names `make %s`", file, m[1])
		}

		for _, m := range command.FindAllStringSubmatch(lines(text), -1) {
			assert.Contains(t, cli, "tarsy "+m[1], "%s names `tarsy %s`", file, m[1])

			for _, f := range flag.FindAllString(m[2], -1) {
				assert.Contains(t, cli, f, "%s names %s", file, f)
			}
		}

		for _, m := range link.FindAllStringSubmatch(text, -1) {
			assert.FileExists(t, filepath.Join(filepath.Dir(file), m[1]), "%s links to %s", file, m[1])
		}

		for _, m := range ticked.FindAllStringSubmatch(text, -1) {
			checkName(t, file, m[1], cli, tests)
		}
	}
}

// documents returns the Markdown files at the top level and below docs.
func documents(t *testing.T) []string {
	t.Helper()

	files, err := filepath.Glob("../*.md")
	require.NoError(t, err)

	require.NoError(t, filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			files = append(files, path)
		}

		return err
	}))

	return files
}

// lines returns the text, preceded by everything that it has in backticks, each on its own line.
func lines(text string) string {
	var b strings.Builder

	for _, m := range ticked.FindAllStringSubmatch(text, -1) {
		b.WriteString(m[1] + "\n")
	}

	return b.String() + text
}

func checkName(t *testing.T, file, name, cli string, tests map[string]bool) {
	t.Helper()

	switch {
	case strings.HasPrefix(name, "--") && flag.MatchString(name):
		assert.Contains(t, cli, flag.FindString(name), "%s names the flag %s", file, name)
	case testName.MatchString(name):
		assert.True(t, tests[name], "%s names the test %s", file, name)
	case path.MatchString(name) && isPath(name):
		found, err := filepath.Glob("../" + strings.TrimSuffix(strings.TrimSuffix(name, "..."), "/"))
		require.NoError(t, err)
		assert.NotEmpty(t, found, "%s names the path %s", file, name)
	}
}

// isPath distinguishes paths of this repository from other words with a slash or a dot.
func isPath(name string) bool {
	for _, prefix := range []string{"internal/", "docs/", "e2e/", "cmd/", "llm/", "flow/", "tarsytest/", "scripts/", "deploy/", "bench/"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}

	return !strings.Contains(name, "/") && strings.HasSuffix(name, ".md")
}

// testsByPackage finds every test function, by the directory of its package.
func testsByPackage(t *testing.T) map[string]map[string]bool {
	t.Helper()

	packages := map[string]map[string]bool{}
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)

	require.NoError(t, filepath.WalkDir("..", func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}

		if hidden := strings.HasPrefix(d.Name(), ".") && d.Name() != ".."; d.IsDir() && (hidden || d.Name() == "node_modules") {
			return filepath.SkipDir
		}

		if d.IsDir() || !strings.HasSuffix(p, "_test.go") {
			return nil
		}

		directory := filepath.ToSlash(strings.TrimPrefix(filepath.Dir(p), ".."+string(filepath.Separator)))
		if packages[directory] == nil {
			packages[directory] = map[string]bool{}
		}

		for _, m := range declared.FindAllStringSubmatch(read(t, p), -1) {
			packages[directory][m[1]] = true
		}

		return nil
	}))

	return packages
}

func read(t *testing.T, file string) string {
	t.Helper()

	raw, err := os.ReadFile(file)
	require.NoError(t, err)

	return string(raw)
}
