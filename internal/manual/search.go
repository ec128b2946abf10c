package manual

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extensionast "github.com/yuin/goldmark/extension/ast"
)

// Limits of a search, which needs no login.
const (
	longestQuery = 100 // bytes
	mostWords    = 8
	mostResults  = 30
	// before and after are the bytes of an excerpt around the first match.
	before = 60
	after  = 180
)

// Search finds text in the documents. It is safe for concurrent use.
type Search struct {
	sections []section
	groups   []group
}

// section is the text below a heading, up to the next heading.
type section struct {
	document, title string // name and title of the document
	heading         heading
	text            string
}

// Result is a section that contains all words of a query.
type Result struct {
	Address, Document, Heading string
	Excerpt                    []Piece
	score                      int
}

// Piece is a part of an excerpt. Match means that it is one of the query's words.
type Piece struct {
	Text  string
	Match bool
}

// Page returns the page with the results of a query.
func (s *Search) Page(query string) ([]byte, error) {
	query = strings.TrimSpace(shorten(strings.ToValidUTF8(query, "")))
	results := s.Find(query)
	more := max(0, len(results)-mostResults)

	return execute(page{Title: "Search", Groups: s.groups, Query: query, Results: results[:len(results)-more], More: more})
}

// Find returns the sections that contain all words of a query, ignoring case, those with the words in their heading first.
func (s *Search) Find(query string) []Result {
	phrase := strings.Join(strings.Fields(fold(query)), " ")

	words := strings.Fields(phrase)
	if len(words) == 0 {
		return nil
	}

	words = words[:min(len(words), mostWords)]

	var results []Result

	for i := range s.sections {
		if found, ok := s.sections[i].find(phrase, words); ok {
			results = append(results, found)
		}
	}

	slices.SortStableFunc(results, func(a, b Result) int { return cmp.Compare(b.score, a.score) })

	return results
}

func (s *section) find(phrase string, words []string) (Result, bool) {
	heading, text := fold(s.title+"\n"+s.heading.Text), fold(s.text)
	inHeading := 0

	for _, word := range words {
		if strings.Contains(heading, word) {
			inHeading++
		} else if !strings.Contains(text, word) {
			return Result{}, false
		}
	}

	found := Result{Address: address(s.document), Document: s.title, Heading: s.heading.Text}
	if s.heading.level > 1 {
		found.Address += "#" + s.heading.Anchor
	}

	switch {
	case strings.Contains(fold(s.heading.Text), phrase):
		found.score = 3
	case inHeading == len(words):
		found.score = 2
	case strings.Contains(text, phrase):
		found.score = 1
	}

	found.Excerpt = excerpt(s.text, text, phrase, words)

	return found, true
}

// excerpt returns the text around the first match, or its beginning. The folded text has the same positions.
func excerpt(text, folded, phrase string, words []string) []Piece {
	at := strings.Index(folded, phrase)
	for i := 0; at < 0 && i < len(words); i++ {
		at = strings.Index(folded, words[i])
	}

	from, to := max(0, at-before), min(len(text), max(0, at)+after)

	// Whole words, unless they are longer than the excerpt.
	if from > 0 {
		from += max(0, strings.IndexByte(text[from:at], ' ')+1)
	}

	if to < len(text) {
		if space := strings.LastIndexByte(text[max(0, at):to], ' '); space > 0 {
			to = max(0, at) + space
		}
	}

	for from < to && !utf8.RuneStart(text[from]) {
		from++
	}

	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}

	pieces := marked(text[from:to], folded[from:to], words)
	if from > 0 {
		pieces = slices.Insert(pieces, 0, Piece{Text: "… "})
	}

	if to < len(text) {
		pieces = append(pieces, Piece{Text: " …"})
	}

	return pieces
}

// marked splits a text at the words.
func marked(text, folded string, words []string) []Piece {
	var pieces []Piece

	for text != "" {
		at, length := len(text), 0

		for _, word := range words {
			if i := strings.Index(folded, word); i >= 0 && (i < at || i == at && len(word) > length) {
				at, length = i, len(word)
			}
		}

		if at > 0 {
			pieces = append(pieces, Piece{Text: text[:at]})
		}

		if length > 0 {
			pieces = append(pieces, Piece{Text: text[at : at+length], Match: true})
		}

		text, folded = text[at+length:], folded[at+length:]
	}

	return pieces
}

// fold makes ASCII letters small. Positions stay the same, which strings.ToLower does not promise.
func fold(text string) string {
	folded := []byte(text)
	for i, c := range folded {
		if 'A' <= c && c <= 'Z' {
			folded[i] = c + 'a' - 'A'
		}
	}

	return string(folded)
}

// shorten cuts a query at a rune.
func shorten(query string) string {
	for len(query) > longestQuery {
		_, size := utf8.DecodeLastRuneInString(query)
		query = query[:len(query)-size]
	}

	return query
}

// sections returns the text of the document by heading.
func (d *document) sections() []section {
	var (
		found []section
		words []string
		seen  int // headings
	)

	current := section{document: d.name, title: d.title}
	finish := func() {
		if current.text = strings.Join(words, " "); current.text != "" || seen > 0 {
			found = append(found, current)
		}
	}

	d.walk(func(node ast.Node) {
		switch node.(type) {
		case *ast.Heading:
			finish()

			current.heading, words = d.headings[seen], nil
			seen++
		case *ast.Paragraph, *ast.TextBlock, *ast.CodeBlock, *ast.FencedCodeBlock, *extensionast.TableCell:
			words = append(words, strings.Fields(plain(node, d.source))...)
		}
	})

	finish()

	return found
}
