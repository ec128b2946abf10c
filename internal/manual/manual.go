// Package manual renders the documents as pages: HTML without scripts that loads nothing from other servers, with contents, anchors and
// a search.
//
// It knows nothing of HTTP; internal/api serves the pages.
package manual

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
)

const (
	// Root is the address of the index. Other addresses are below it.
	Root = "/docs"
	// StyleFile is the name of Style below Root.
	StyleFile = "manual.css"
	// index is the document that lists the others, in the order of a reader.
	index  = "README.md"
	suffix = ".md"
)

// Style is the style sheet of all pages.
//
//go:embed manual.css
var Style []byte

//go:embed page.html
var pageText string

// pageTemplate is parsed at the first use.
var pageTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// Manual is the result of rendering. A server keeps Search, and the pages compressed, which makes them several times smaller.
type Manual struct {
	// Pages are the complete pages by name: "" is the index, "install" is install.md.
	Pages map[string][]byte
	// Missing is the page for addresses where there is nothing.
	Missing []byte
	Search  *Search
	// Problems are dead links, dead anchors, and HTML in the documents, which is not shown.
	Problems []string
}

// group is a part of the contents, such as "Install".
type group struct {
	Title   string
	Entries []entry
}

// entry is a document in the contents.
type entry struct{ Name, Title string }

// page is what the template shows: a document, or else the results of a search, or nothing.
type page struct {
	Root, Style string
	Title       string
	Groups      []group
	// Name is the document that is shown, and Parts are its second-level headings.
	Name  string
	Parts []heading
	// Body has been rendered from Markdown, with everything escaped that is not Markdown.
	Body    template.HTML
	Query   string
	Results []Result
	// More is the number of further results.
	More   int
	Failed bool
}

// Render renders all documents. The index must exist and link to the others.
func Render(files fs.FS) (*Manual, error) {
	markdown := newMarkdown()

	documents, err := parseAll(markdown, files)
	if err != nil {
		return nil, err
	}

	at := slices.IndexFunc(documents, func(d *document) bool { return d.file == index })
	if at < 0 {
		return nil, errors.New("manual: there is no " + index)
	}

	groups := contents(documents[at])
	documents = inOrder(documents, groups)
	m := &Manual{Pages: map[string][]byte{}, Search: &Search{groups: groups}}

	for _, d := range documents {
		m.Problems = append(m.Problems, d.resolve(documents, files)...)
		m.Search.sections = append(m.Search.sections, d.sections()...)

		body, err := d.render(markdown)
		if err != nil {
			return nil, fmt.Errorf("manual: render %s: %w", d.file, err)
		}

		m.Pages[d.name], err = execute(page{
			Title: d.title, Groups: groups, Name: d.name, Parts: d.parts(),
			Body: template.HTML(body), //nolint:gosec // our own documents, and the renderer escapes everything that is not Markdown
		})
		if err != nil {
			return nil, err
		}
	}

	m.Missing, err = execute(page{Title: "Not found", Groups: groups, Failed: true})

	return m, err
}

func execute(p page) ([]byte, error) {
	p.Root, p.Style = Root, Root+"/"+StyleFile

	var out bytes.Buffer
	if err := pageTemplate().Execute(&out, p); err != nil {
		return nil, fmt.Errorf("manual: %w", err)
	}

	return out.Bytes(), nil
}

// parseAll parses every Markdown file.
func parseAll(markdown goldmark.Markdown, files fs.FS) ([]*document, error) {
	var documents []*document

	err := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(file) != suffix {
			return err
		}

		text, err := fs.ReadFile(files, file)
		if err == nil {
			documents = append(documents, parse(markdown, file, text))
		}

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("manual: %w", err)
	}

	return documents, nil
}

// inOrder sorts the documents as they are in the contents: the index first, those without an entry last. Search results have this order.
func inOrder(documents []*document, groups []group) []*document {
	position := map[string]int{"": -1}

	for _, g := range groups {
		for _, e := range g.Entries {
			position[e.Name] = len(position)
		}
	}

	slices.SortStableFunc(documents, func(a, b *document) int { return rank(position, a) - rank(position, b) })

	return documents
}

func rank(position map[string]int, d *document) int {
	if at, ok := position[d.name]; ok {
		return at
	}

	return len(position)
}

// nameOf returns the name of the page of a Markdown file.
func nameOf(file string) string {
	if file == index {
		return ""
	}

	return strings.TrimSuffix(file, suffix)
}

// address returns the path of a page.
func address(name string) string {
	return strings.TrimSuffix(Root+"/"+name, "/")
}
