package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

// A tree is JSON that keeps the order of members and the notation of numbers: object, list, string, json.Number, bool or
// nil.
type (
	object []pair
	list   []any
	pair   struct {
		name  string
		value any
	}
)

// maxDepth limits the depth of trees; a deeper body is kept as text.
const maxDepth = 64

var (
	errTooDeep = errors.New("it is nested too deeply")
	errNotJSON = errors.New("it is not JSON")
	number     = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

// parseTree reads one JSON value.
func parseTree(text []byte) (any, error) {
	if !json.Valid(text) {
		return nil, errNotJSON
	}

	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()

	return readTree(decoder, 0)
}

func readTree(decoder *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}

	next, err := decoder.Token()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}

	delimiter, ok := next.(json.Delim)
	if !ok {
		return next, nil
	}

	var (
		members object
		items   = list{}
	)

	for decoder.More() {
		if delimiter == '{' {
			name, err := decoder.Token()
			if err != nil {
				return nil, err
			}

			value, err := readTree(decoder, depth+1)
			if err != nil {
				return nil, err
			}

			members = append(members, pair{fmt.Sprint(name), value})

			continue
		}

		item, err := readTree(decoder, depth+1)
		if err != nil {
			return nil, err
		}

		items = append(items, item)
	}

	// The closing bracket is there: the text is valid.
	_, err = decoder.Token()
	if delimiter == '{' {
		return members, err
	}

	return items, err
}

// appendTree appends a tree as compact JSON.
func appendTree(buf []byte, tree any) []byte {
	switch v := tree.(type) {
	case object:
		buf = append(buf, '{')

		for i, p := range v {
			if i > 0 {
				buf = append(buf, ',')
			}

			buf = append(exchange.AppendString(buf, p.name), ':')
			buf = appendTree(buf, p.value)
		}

		return append(buf, '}')
	case list:
		buf = append(buf, '[')

		for i, item := range v {
			if i > 0 {
				buf = append(buf, ',')
			}

			buf = appendTree(buf, item)
		}

		return append(buf, ']')
	case string:
		return exchange.AppendString(buf, v)
	case json.Number:
		return append(buf, v...)
	case bool:
		return fmt.Appendf(buf, "%t", v)
	default:
		return append(buf, "null"...)
	}
}

// treeOf converts a YAML node to a tree.
func treeOf(node ast.Node) (any, error) {
	switch n := node.(type) {
	case *ast.MappingNode:
		var members object

		for _, value := range n.Values {
			child, err := treeOf(value.Value)
			if err != nil {
				return nil, err
			}

			members = append(members, pair{keyText(value.Key), child})
		}

		return members, nil
	case *ast.MappingValueNode:
		child, err := treeOf(n.Value)

		return object{{keyText(n.Key), child}}, err
	case *ast.SequenceNode:
		items := list{}

		for _, value := range n.Values {
			item, err := treeOf(value)
			if err != nil {
				return nil, err
			}

			items = append(items, item)
		}

		return items, nil
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.NullNode:
		return nil, nil //nolint:nilnil // null is a tree
	case *ast.BoolNode:
		return n.Value, nil
	case ast.ScalarNode:
		return scalarOf(n.GetToken()), nil
	default:
		return nil, fmt.Errorf("line %d: this is not allowed in JSON", node.GetToken().Position.Line)
	}
}

func keyText(key ast.MapKeyNode) string { return key.GetToken().Value }

// scalarOf distinguishes numbers from text by their notation.
func scalarOf(t *token.Token) any {
	quoted := t.Type == token.DoubleQuoteType || t.Type == token.SingleQuoteType
	if !quoted && number.MatchString(t.Value) {
		return json.Number(t.Value)
	}

	return t.Value
}
