package cassette

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

// content is bytes in a readable form. One of JSON, Event, Text and Base64 is set.
type content struct {
	// JSON is written as YAML. Indent and Newline record how its bytes were laid out.
	JSON    ast.Node `yaml:"json"`
	Indent  bool     `yaml:"indent"`
	Newline bool     `yaml:"newline"`
	// Event is one event of a stream, without the empty line that ends it.
	Event *string `yaml:"event"`
	Text  *string `yaml:"text"`
	// CRLF means that lines of Event and Text end with CR LF.
	CRLF   bool    `yaml:"crlf"`
	Base64 *string `yaml:"base64"`
}

var errNoContent = errors.New("content is one of json, event, text and base64")

// bytes returns the bytes that the content represents.
func (c *content) bytes() ([]byte, error) {
	switch {
	case c.JSON != nil:
		tree, err := treeOf(c.JSON)
		if err != nil {
			return nil, err
		}

		return layOut(appendTree(nil, tree), c.Indent, c.Newline), nil
	case c.Event != nil:
		return lines(*c.Event+"\n\n", c.CRLF), nil
	case c.Text != nil:
		return lines(*c.Text, c.CRLF), nil
	case c.Base64 != nil:
		return base64.StdEncoding.DecodeString(strings.TrimSpace(*c.Base64))
	default:
		return nil, errNoContent
	}
}

// layOut restores the white space of compact JSON.
func layOut(compact []byte, indent, newline bool) []byte {
	var out bytes.Buffer

	if indent {
		// Valid JSON can be indented.
		_ = json.Indent(&out, compact, "", "  ")
	} else {
		out.Write(compact)
	}

	if newline {
		out.WriteByte('\n')
	}

	return out.Bytes()
}

// describe returns the members that represent data in a cassette. plain selects base64, which nothing can garble.
func describe(data []byte, event, plain bool) object {
	if plain {
		return object{{"base64", base64.StdEncoding.EncodeToString(data)}}
	}

	if found := describeJSON(data); found != nil {
		return found
	}

	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	crlf := text != string(data)

	if !utf8.ValidString(text) || !bytes.Equal(lines(text, crlf), data) {
		return object{{"base64", base64.StdEncoding.EncodeToString(data)}}
	}

	described := object{{"text", text}}
	if whole, ok := strings.CutSuffix(text, "\n\n"); ok && event && whole != "" && !strings.HasSuffix(whole, "\n") {
		described = object{{"event", whole}}
	}

	if crlf {
		described = append(object{{"crlf", true}}, described...)
	}

	return described
}

// lines restores the line ends of a text.
func lines(text string, crlf bool) []byte {
	if crlf {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}

	return []byte(text)
}

// describeJSON describes objects and lists whose bytes can be restored from YAML; it returns nil for anything else.
func describeJSON(data []byte) object {
	tree, err := parseTree(data)
	if err != nil {
		return nil
	}

	switch v := tree.(type) {
	case object:
		if len(v) == 0 {
			return nil
		}
	case list:
		if len(v) == 0 {
			return nil
		}
	default:
		return nil
	}

	compact := appendTree(nil, tree)

	for _, indent := range []bool{false, true} {
		for _, newline := range []bool{false, true} {
			if !bytes.Equal(layOut(compact, indent, newline), data) {
				continue
			}

			members := object{}
			if indent {
				members = append(members, pair{"indent", true})
			}

			if newline {
				members = append(members, pair{"newline", true})
			}

			return append(members, pair{"json", tree})
		}
	}

	return nil
}
