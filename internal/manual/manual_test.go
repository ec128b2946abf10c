package manual_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/docs"
	"tarsy.dev/tarsy/internal/manual"
)

// render renders documents whose index lists install.md and x.md.
func render(t *testing.T, documents map[string]string) *manual.Manual {
	t.Helper()

	files := fstest.MapFS{"README.md": {Data: []byte("# Documentation\n\n## Install\n\n| document |\n| --- |\n| [Installation](install.md) |\n| [An X](x.md) |\n")}}
	for name, text := range documents {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}

	for _, name := range []string{"install.md", "x.md"} {
		if files[name] == nil {
			files[name] = &fstest.MapFile{Data: []byte("# Title of " + name + "\n")}
		}
	}

	m, err := manual.Render(files)
	require.NoError(t, err)

	return m
}

// main returns what a page has between its main tags.
func main(t *testing.T, page []byte) string {
	t.Helper()

	_, rest, _ := strings.Cut(string(page), `<main id="content">`)
	text, _, found := strings.Cut(rest, "</main>")
	require.True(t, found)

	return strings.TrimSpace(text)
}

func TestDocumentsHaveNoDeadLinksAndNoHTML(t *testing.T) {
	t.Parallel()

	m, err := manual.Render(docs.Files)
	require.NoError(t, err)
	require.Empty(t, m.Problems)
	require.Contains(t, string(m.Pages["install"]), `<a href="/docs/troubleshooting">Troubleshooting</a>`)
	require.Contains(t, string(m.Pages["internals/features"]), "<table>")

	for name, page := range m.Pages {
		require.NotContains(t, string(page), "<script", name)
		require.NotContains(t, string(page), " style=", name)
		require.NotContains(t, string(page), "<!-- raw HTML", name)
	}
}

func TestDeadLinksAndAnchorsAreReported(t *testing.T) {
	t.Parallel()

	m := render(t, map[string]string{
		"install.md": "# Install\n\n[a](nothing.md) [b](x.md#nothing) [c](#nothing) [d](x.md#part) [e](#install) [f](../LICENSE) [g](openapi.json) " +
			"[h](https://example.org/#x) ![i](images/no.png) a <b>bold</b> word <!-- comment -->\n",
		"x.md": "# X\n\n## Part\n",
	})
	require.Equal(t, []string{
		"install.md links to nothing.md: there is no nothing.md",
		"install.md links to x.md#nothing: x.md has no heading nothing",
		"install.md links to #nothing: install.md has no heading nothing",
		"install.md shows the picture images/no.png, which is not in the manual",
		"install.md contains HTML, which is not shown: <b>",
		"install.md contains HTML, which is not shown: </b>",
	}, m.Problems)
}

func TestLinksLeadToPagesOfTheManual(t *testing.T) {
	t.Parallel()

	m := render(t, map[string]string{
		"install.md": "# Install\n\n[one](x.md#part), [two](internals/y.md), [three](README.md), [*four*](../LICENSE), [five](openapi.json), " +
			"[six](script.schema.json), [seven](https://example.org/a)\n\n![a picture](images/a.png)\n",
		"x.md": "# X\n\n## Part\n", "internals/y.md": "# Y\n\n[back](../x.md)\n", "script.schema.json": "{}", "images/a.png": "png",
	})
	require.Empty(t, m.Problems)

	text := main(t, m.Pages["install"])
	for _, want := range []string{
		`<a href="/docs/x#part">one</a>`, `<a href="/docs/internals/y">two</a>`, `<a href="/docs">three</a>`, `, <em>four</em>, `, `<a href="/openapi.json">five</a>`,
		`<a href="/docs/script.schema.json">six</a>`, `<a href="https://example.org/a">seven</a>`, `<img src="/docs/images/a.png" alt="a picture">`,
	} {
		require.Contains(t, text, want)
	}

	require.Contains(t, main(t, m.Pages["internals/y"]), `<a href="/docs/x">back</a>`)
}

func TestContentsHaveTheOrderOfTheIndex(t *testing.T) {
	t.Parallel()

	page := string(render(t, map[string]string{"x.md": "# An <X>\n\n## First part\n\n### Not this one\n\n## `Second` part\n"}).Pages["x"])
	require.Contains(t, page, "<title>An  · TARSy documentation</title>")
	require.Contains(t, page, `<h2>Install</h2>
<ul>
<li><a href="/docs/install">Installation</a></li>
<li><a href="/docs/x" aria-current="page">An X</a>
<ul><li><a href="#first-part">First part</a></li><li><a href="#second-part">Second part</a></li></ul></li>
</ul>`)
}

func TestHostileMarkdownIsEscaped(t *testing.T) {
	t.Parallel()

	text := main(t, render(t, map[string]string{"x.md": strings.Join([]string{
		"# A <script>alert(1)</script>", "<script>alert(2)</script>", "<div onclick=\"alert(3)\">\n\n[a](javascript:alert(4))",
		"![b](data:text/html,x\"onerror=alert(5))", "`<script>alert(6)</script>`", "```\"><script>\n</code><script>alert(7)</script>\n```",
		"| <img src=x onerror=alert(8)> |\n| ---: |\n| <b>c</b> |", "<https://example.org/\"onclick=\"alert(9)>", "[d](x.md \"t\\\" onclick=alert(10)\")",
	}, "\n\n")}).Pages["x"])
	for _, unwanted := range []string{"<script", "<div on", "<img src=x", "<b>", "javascript:", `"onerror`, `"onclick`, "style=", `" onclick`} {
		require.NotContains(t, text, unwanted)
	}

	require.Contains(t, text, "<code>&lt;script&gt;alert(6)&lt;/script&gt;</code>")
	require.Contains(t, text, "<pre tabindex=\"0\"><code>&lt;/code&gt;&lt;script&gt;alert(7)&lt;/script&gt;\n</code></pre>")
}

func TestSearchFindsSectionsWithAllWords(t *testing.T) {
	t.Parallel()

	m := render(t, map[string]string{
		"install.md": "# Install\n\nBefore.\n\n## Reverse proxy\n\nSet `trusted_proxies`.\n\n## Other\n\nA reverse PROXY is not needed &amp; not <b>wanted</b>.\n",
		"x.md":       "# X\n\nNothing of a proxy.\n\n```\ncode with a proxy in reverse\n```\n",
	})

	found := m.Search.Find("reverse Proxy")
	addresses := make([]string, 0, len(found))

	for _, result := range found {
		addresses = append(addresses, result.Address)
	}

	require.Equal(t, []string{"/docs/install#reverse-proxy", "/docs/install#other", "/docs/x"}, addresses, "headings come before phrases, and these before words")
	require.Equal(t, []manual.Piece{
		{Text: "A "}, {Text: "reverse", Match: true}, {Text: " "}, {Text: "PROXY", Match: true}, {Text: " is not needed & not wanted."},
	}, found[1].Excerpt)

	require.Empty(t, m.Search.Find("reverse nothingness"))
	require.Empty(t, m.Search.Find("  "))
}

func TestSearchPageEscapesQueryAndText(t *testing.T) {
	t.Parallel()

	m := render(t, map[string]string{"x.md": "# X\n\nWrite `<script>alert(1)</script>` nowhere.\n"})

	page, err := m.Search.Page(`"><script>alert(1)</script>`)
	require.NoError(t, err)
	require.NotContains(t, string(page), "<script")
	require.Contains(t, string(page), `value="&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"`)
	require.Contains(t, string(page), "No section contains all words")

	page, err = m.Search.Page("<script>alert(1)</script>")
	require.NoError(t, err)
	require.Contains(t, main(t, page), "Write <mark>&lt;script&gt;alert(1)&lt;/script&gt;</mark> nowhere.")
}

func TestExcerptOfLongTextHasWholeWordsAndCharacters(t *testing.T) {
	t.Parallel()

	for name, text := range map[string]string{
		"words": strings.Repeat("größe ", 100) + "needle " + strings.Repeat("größe ", 100),
		"none":  strings.Repeat("ö", 500) + "needle" + strings.Repeat("ö", 500),
	} {
		found := render(t, map[string]string{"x.md": "# X\n\n" + text + "\n"}).Search.Find("NEEDLE")
		require.Len(t, found, 1, name)

		var all strings.Builder
		for _, piece := range found[0].Excerpt {
			all.WriteString(piece.Text)
		}

		require.Contains(t, all.String(), "needle", name)
		require.Less(t, all.Len(), 300, name)
		require.True(t, strings.HasPrefix(all.String(), "… ") && strings.HasSuffix(all.String(), " …"), name)
		require.Equal(t, strings.ToValidUTF8(all.String(), ""), all.String(), name)
	}
}

func TestSearchShowsLimitedResultsOfLimitedQuery(t *testing.T) {
	t.Parallel()

	m := render(t, map[string]string{"x.md": "# X\n" + strings.Repeat("\n## A part\n\nword\n", 40)})

	page, err := m.Search.Page("word")
	require.NoError(t, err)
	require.Equal(t, 30, strings.Count(string(page), "<mark>"))
	require.Contains(t, string(page), "10 more.")

	page, err = m.Search.Page(strings.Repeat("ö", 1000) + "\xff")
	require.NoError(t, err)
	require.Contains(t, string(page), "“"+strings.Repeat("ö", 50)+"”")
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	t.Parallel()

	text := "# A `b_c` d\n## Cost, in $\n## [Link](x.md) & more\n## Twice\n## Twice\n```\n# not one\n```\n"
	require.Equal(t, map[string]bool{"a-b_c-d": true, "cost-in-": true, "link--more": true, "twice": true, "twice-1": true}, manual.Anchors(text))
}
