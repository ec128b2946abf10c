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

// Limits that no legitimate file reaches. The parser is recursive, and a Go stack overflow cannot be recovered from.
const (
	maxFileSize = 1 << 20
	maxNesting  = 1000
)

var errNotYAML = errors.New("not valid YAML")

// parse returns the only document of a file, or nil if it is empty.
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

// safeParse turns a panic of the parser into an error: the text can be anything, and an index out of range in a library must
// not crash the program.
func safeParse(text string) (file *ast.File, err error) {
	defer func() {
		if recover() != nil {
			file, err = nil, errNotYAML
		}
	}()
	// The decoder detects duplicate keys, because it can report both places.
	file, err = parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, err
	}
	return file, nil
}

// syntaxError extracts the position and the message from a parser's error, without the excerpt of the file, which may contain a
// secret.
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

// badLine returns the first line with bytes that are not text, or 0 if there is none.
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

// deepLine returns the first line that may be nested too deeply for the parser, or 0 if there is none. It counts characters
// instead of parsing YAML: it may reject unusual prose, but never accepts text that is too deep.
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
