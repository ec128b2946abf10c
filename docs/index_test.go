package docs_test

import (
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/manual"
)

var (
	inlineLink = regexp.MustCompile(`\]\(<?([^)\s>]+)>?(?:\s+"[^"]*")?\)`)
	codeSpan   = regexp.MustCompile("`+[^`\n]*`+")
	fence      = regexp.MustCompile("^\\s*(```+|~~~+)")
	named      = regexp.MustCompile(`\bdocs/[a-z-]+\.md(?:#[\w-]+)?`)
	linkText   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
)

func TestIndexLinksEveryDocumentOnce(t *testing.T) {
	t.Parallel()

	linked := map[string]int{}
	for _, l := range links(read(t, "README.md")) {
		linked[l]++
	}

	documents, err := filepath.Glob("*.md")
	require.NoError(t, err)

	for _, document := range documents {
		if document != "README.md" {
			assert.Equal(t, 1, linked[document], "docs/README.md has %d links to %s", linked[document], document)
		}
	}
}

func TestRelativeLinksLeadToFilesAndHeadings(t *testing.T) {
	t.Parallel()

	for _, document := range markdown(t) {
		for _, link := range links(read(t, document)) {
			if target, err := url.Parse(link); assert.NoError(t, err, "%s links to %s", document, link) && !target.IsAbs() && target.Host == "" {
				checkLink(t, document, target)
			}
		}
	}
}

func checkLink(t *testing.T, document string, target *url.URL) {
	t.Helper()

	file := document
	if target.Path != "" {
		file = filepath.Join(filepath.Dir(document), filepath.FromSlash(target.Path))
	}

	if _, err := os.Stat(file); !assert.NoError(t, err, "%s links to %s", document, target) {
		return
	}

	if target.Fragment != "" && strings.HasSuffix(file, ".md") {
		assert.True(t, manual.Anchors(read(t, file))[target.Fragment], "%s links to %s, but %s has no such heading", document, target, file)
	}
}

// TestProgramNamesExistingDocuments checks the documents named in help texts, messages, comments and alert rules.
func TestProgramNamesExistingDocuments(t *testing.T) {
	t.Parallel()

	kinds := map[string]bool{".go": true, ".ts": true, ".tsx": true, ".yaml": true, ".tmpl": true, ".example": true, ".service": true, ".txt": true}

	for _, file := range files(t, func(name string) bool { return kinds[filepath.Ext(name)] && !strings.HasSuffix(name, "_test.go") }) {
		for _, link := range named.FindAllString(read(t, file), -1) {
			document, anchor, _ := strings.Cut(link, "#")
			checkLink(t, file, &url.URL{Path: filepath.ToSlash(relative(t, file, "../"+document)), Fragment: anchor})
		}
	}
}

// relative returns the path of a file relative to the directory of another one.
func relative(t *testing.T, from, file string) string {
	t.Helper()

	path, err := filepath.Rel(filepath.Dir(from), file)
	require.NoError(t, err)

	return path
}

// markdown lists the Markdown files of the repository.
func markdown(t *testing.T) []string {
	t.Helper()

	return files(t, func(name string) bool { return strings.HasSuffix(name, ".md") })
}

// files lists the files of the repository whose names match, except those in testdata, which people do not read.
func files(t *testing.T, match func(name string) bool) []string {
	t.Helper()

	var found []string

	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}

		switch name := entry.Name(); {
		case entry.IsDir() && (name == "node_modules" || name == "testdata" || name != ".." && strings.HasPrefix(name, ".")):
			return fs.SkipDir
		case !entry.IsDir() && match(name):
			found = append(found, path)
		}

		return nil
	}))

	require.NotEmpty(t, found)

	return found
}

// prose returns the lines of a document that are not in code blocks.
func prose(text string) []string {
	var (
		out  []string
		open string
	)

	for line := range strings.Lines(text) {
		marker := fence.FindStringSubmatch(line)

		switch {
		case open == "" && marker != nil:
			open = marker[1]
		case open != "" && marker != nil && strings.HasPrefix(marker[1], open):
			open = ""
		case open == "":
			out = append(out, strings.TrimRight(line, "\r\n"))
		}
	}

	return out
}

// links returns the targets of the links and images of a document.
func links(text string) []string {
	var out []string

	for _, line := range prose(text) {
		for _, m := range inlineLink.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
			out = append(out, m[1])
		}
	}

	return out
}
