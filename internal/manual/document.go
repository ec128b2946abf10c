package manual

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// elsewhere has the addresses of files that the server serves outside the manual.
var elsewhere = map[string]string{"openapi.json": "/openapi.json"}

// document is a parsed Markdown file.
type document struct {
	file, name, title string
	source            []byte
	root              ast.Node
	headings          []heading
}

// heading is a heading of a document with its anchor.
type heading struct {
	Text, Anchor string
	level        int
}

// parse parses a document and gives each heading its anchor.
func parse(markdown goldmark.Markdown, file string, source []byte) *document {
	d := &document{file: file, name: nameOf(file), title: file, source: source, root: markdown.Parser().Parse(text.NewReader(source))}
	taken := map[string]int{}

	d.walk(func(node ast.Node) {
		h, ok := node.(*ast.Heading)
		if !ok {
			return
		}

		found := heading{Text: plain(h, source), level: h.Level}
		found.Anchor = anchor(found.Text, taken)
		h.SetAttributeString("id", []byte(found.Anchor))
		d.headings = append(d.headings, found)
	})

	if len(d.headings) > 0 {
		d.title = d.headings[0].Text
	}

	return d
}

// parts returns the headings of the second level.
func (d *document) parts() []heading {
	return slices.DeleteFunc(slices.Clone(d.headings), func(h heading) bool { return h.level != 2 })
}

func (d *document) hasAnchor(anchor string) bool {
	return slices.ContainsFunc(d.headings, func(h heading) bool { return h.Anchor == anchor })
}

// resolve makes links lead to the pages of the manual, and returns what is wrong with the document. Links to files outside the manual
// become text.
func (d *document) resolve(documents []*document, files fs.FS) []string {
	var (
		problems []string
		outside  []*ast.Link
	)

	report := func(format string, arguments ...any) {
		problems = append(problems, d.file+" "+fmt.Sprintf(format, arguments...))
	}

	d.walk(func(node ast.Node) {
		switch n := node.(type) {
		case *ast.Link:
			destination, inside, err := d.target(string(n.Destination), documents, files)
			if err != nil {
				report("links to %s: %v", n.Destination, err)
			}

			if !inside {
				outside = append(outside, n)
			}

			n.Destination = []byte(destination)
		case *ast.Image:
			destination, inside, err := d.target(string(n.Destination), documents, files)
			if err != nil || !inside || !strings.HasPrefix(destination, Root+"/") {
				report("shows the picture %s, which is not in the manual", n.Destination)
			}

			n.Destination = []byte(destination)
		case *ast.HTMLBlock, *ast.RawHTML:
			if html := rawHTML(n, d.source); !strings.HasPrefix(html, "<!--") {
				report("contains HTML, which is not shown: %s", html)
			}
		}
	})

	for _, link := range outside {
		unlink(link)
	}

	return problems
}

// target returns the address of a link's destination, and whether the manual or another server has it.
func (d *document) target(destination string, documents []*document, files fs.FS) (resolved string, inside bool, err error) {
	to, err := url.Parse(destination)
	if err != nil || to.Scheme != "" || to.Host != "" {
		return destination, err == nil, err
	}

	file := d.file
	if to.Path != "" {
		file = path.Join(path.Dir(d.file), to.Path)
	}

	switch at := slices.IndexFunc(documents, func(other *document) bool { return other.file == file }); {
	case at >= 0:
		if to.Fragment != "" && !documents[at].hasAnchor(to.Fragment) {
			err = fmt.Errorf("%s has no heading %s", file, to.Fragment)
		}

		to.Path = address(documents[at].name)
	case elsewhere[file] != "":
		to.Path = elsewhere[file]
	case !fs.ValidPath(file): // above the documents, such as the licence; tests of the repository check these
		return destination, false, nil
	default:
		if _, err = fs.Stat(files, file); err != nil {
			return destination, false, fmt.Errorf("there is no %s", file)
		}

		to.Path = Root + "/" + file
	}

	return to.String(), true, err
}

// unlink replaces a link with its text.
func unlink(link *ast.Link) {
	parent := link.Parent()

	for child := link.FirstChild(); child != nil; child = link.FirstChild() {
		parent.InsertBefore(parent, link, child)
	}

	parent.RemoveChild(parent, link)
}

// contents reads the groups and entries of the index: links in tables below headings of the second level.
func contents(d *document) []group {
	var groups []group

	d.walk(func(node ast.Node) {
		switch n := node.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				groups = append(groups, group{Title: plain(n, d.source)})
			}
		case *ast.Link:
			file := string(n.Destination)
			if len(groups) > 0 && path.Ext(file) == suffix && !strings.Contains(file, "/") {
				last := &groups[len(groups)-1]
				last.Entries = append(last.Entries, entry{Name: nameOf(file), Title: plain(n, d.source)})
			}
		}
	})

	return groups
}

// walk calls a function for each node of the document. The function must not change the tree.
func (d *document) walk(visit func(ast.Node)) {
	_ = ast.Walk(d.root, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // visit has no errors
		if entering {
			visit(node)
		}

		return ast.WalkContinue, nil
	})
}

// plain returns the text of a node without markup.
func plain(node ast.Node, source []byte) string {
	var b strings.Builder

	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) { // no errors, as in walk
		if !entering {
			return ast.WalkContinue, nil
		}

		switch n := node.(type) {
		case *ast.Text:
			b.Write(unescape(n, source))

			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			b.Write(n.Lines().Value(source))
		case *ast.HTMLBlock, *ast.RawHTML:
			return ast.WalkSkipChildren, nil
		}

		return ast.WalkContinue, nil
	})

	return b.String()
}

// unescape returns the characters that a text stands for: \* is a star, except in code.
func unescape(n *ast.Text, source []byte) []byte {
	if n.IsRaw() {
		return n.Value(source)
	}

	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(n.Value(source))))
}

// rawHTML returns the first line of HTML in a document.
func rawHTML(node ast.Node, source []byte) string {
	var html []byte

	switch n := node.(type) {
	case *ast.HTMLBlock:
		html = n.Lines().Value(source)
	case *ast.RawHTML:
		html = n.Segments.Value(source)
	}

	line, _, _ := bytes.Cut(html, []byte("\n"))

	return string(line)
}
