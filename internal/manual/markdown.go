package manual

import (
	"bytes"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// newMarkdown returns what parses and renders documents. It has tables of its own, so a server makes it at the first request.
func newMarkdown() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(
			// A style attribute, which is the default, is forbidden by the policy of the pages.
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(blocks{}, 1))),
	)
}

func (d *document) render(markdown goldmark.Markdown) ([]byte, error) {
	var out bytes.Buffer
	err := markdown.Renderer().Render(&out, d.source, d.root)

	return out.Bytes(), err
}

// blocks renders the nodes that are not rendered as goldmark does it.
type blocks struct{}

// RegisterFuncs tells goldmark which nodes these are.
func (blocks) RegisterFuncs(register renderer.NodeRendererFuncRegisterer) {
	register.Register(ast.KindHeading, renderHeading)
	register.Register(ast.KindCodeBlock, renderCode)
	register.Register(ast.KindFencedCodeBlock, renderCode)
	register.Register(ast.KindHTMLBlock, renderNothing)
	register.Register(ast.KindRawHTML, renderNothing)
	register.Register(extensionast.KindTable, renderTable)
}

// renderHeading adds a link to the heading, for pointers; keyboards have the contents.
func renderHeading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	level := '0' + rune(node.(*ast.Heading).Level) //nolint:forcetypeassert // registered for this kind
	id, _ := node.AttributeString("id")
	anchor, _ := id.([]byte)
	anchor = util.EscapeHTML(anchor)

	if entering {
		write(w, "<h", string(level), ` id="`, string(anchor), `">`)
	} else {
		write(w, ` <a class="anchor" href="#`, string(anchor), `" aria-hidden="true" tabindex="-1">#</a></h`, string(level), ">\n")
	}

	return ast.WalkContinue, nil
}

// renderCode renders a code block, which scrolls inside itself, also by keyboard.
func renderCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		write(w, `<pre tabindex="0"><code>`, string(util.EscapeHTML(node.Lines().Value(source))), "</code></pre>\n")
	}

	return ast.WalkSkipChildren, nil
}

// renderTable renders a table, which scrolls as code does.
func renderTable(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		write(w, `<div class="table" tabindex="0" role="group" aria-label="Table"><table>`, "\n")
	} else {
		write(w, "</table></div>\n")
	}

	return ast.WalkContinue, nil
}

func renderNothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

// write ignores errors: goldmark reports them when it flushes.
func write(w util.BufWriter, texts ...string) {
	for _, text := range texts {
		_, _ = w.WriteString(text)
	}
}
