package schema

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits that no honest file meets. The parser recurses, and a Go stack that runs
// over cannot be recovered from.
const (
	maxFileSize = 1 << 20
	maxNesting  = 1000
)

var errNotYAML = errors.New("not valid YAML")

// parse returns the one document of a file, nil if it is empty.
func (d *Decoder) parse(name string, content []byte) (ast.Node, *Problem) {
	fail := func(line, column int, message, hint string) (ast.Node, *Problem) {
		return nil, &Problem{File: name, Line: line, Column: column, Message: message, Hint: hint}
	}
	if len(content) > maxFileSize {
		return fail(0, 0, "file is too large", "at most 1 MiB")
	}
	text := bytes.TrimPrefix(content, []byte("\xef\xbb\xbf"))
	if line := badLine(text); line > 0 {
		return fail(line, 1, "not valid text", "the file must be UTF-8 without control characters")
	}
	if line := deepLine(string(text)); line > 0 {
		return fail(line, 1, "nested too deeply", fmt.Sprintf("at most %d levels", maxNesting))
	}
	parsed, err := safeParse(d.mangle(string(text)))
	if err != nil {
		line, column, message := syntaxError(err)
		return fail(line, column, message, "")
	}
	var body ast.Node
	for _, doc := range parsed.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType || doc.Body.Type() == ast.DirectiveType {
			continue
		}
		if body != nil {
			at := positionOf(doc.Body)
			return fail(at.Line, at.Column, "a second document in one file", "put it into its own file")
		}
		body = doc.Body
	}
	return body, nil
}

// safeParse turns a panic of the parser into an error: the text is whatever
// somebody typed, and an index out of range in a library is not worth a crash.
func safeParse(text string) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			file, err = nil, errNotYAML
		}
	}()
	// Duplicate keys are found by the decoder, which can name both places.
	file, err = parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, err
	}
	return file, nil
}

// syntaxError takes the position and the words out of a parser's error and leaves
// out the excerpt of the file, which may show a secret.
func syntaxError(err error) (int, int, string) {
	line, column := 0, 0
	var located interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if !errors.As(err, &located) {
		return 0, 0, errNotYAML.Error()
	}
	if tk := located.GetToken(); tk != nil && tk.Position != nil {
		line, column = tk.Position.Line, tk.Position.Column
	}
	return line, column, errNotYAML.Error() + ": " + strings.ToLower(restoreVariables(located.GetMessage()))
}

// badLine returns the first line with bytes that are not text, 0 if there is none.
func badLine(text []byte) int {
	line := 1
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\n':
			line++
		case r == utf8.RuneError && size == 1, r < ' ' && r != '\t' && r != '\r', r == '\x7f':
			return line
		}
		text = text[size:]
	}
	return 0
}

// deepLine returns the first line that may be nested more deeply than the parser
// should be asked to follow, 0 if there is none. It counts characters, not YAML:
// it may refuse odd prose, and lets nothing through that is too deep.
func deepLine(text string) int {
	open, line := 0, 0
	for content := range strings.Lines(text) {
		line++
		inLine := 0
		for i, r := range content {
			switch r {
			case '[', '{':
				open++
			case ']', '}':
				open = max(0, open-1)
			case '-', '?', ':':
				if i+1 < len(content) && strings.ContainsRune(" \t\n", rune(content[i+1])) {
					inLine++
				}
			}
		}
		indent := len(content) - len(strings.TrimLeft(content, " "))
		if open > maxNesting || inLine > maxNesting || indent > maxNesting {
			return line
		}
	}
	return 0
}
