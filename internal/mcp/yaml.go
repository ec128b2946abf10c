package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	// maxYAMLBytes limits the input of the YAML parser: its time is quadratic for some texts.
	maxYAMLBytes = 32 << 10
	// maxYAMLDepth limits nesting, which the parser follows by recursion.
	maxYAMLDepth = 64
)

var errNotPlain = errors.New("not a plain value")

// parseYAML parses a mapping with structure: nested lists, mappings or blocks of text, or braces around it. parsePairs handles flat
// ones. Anchors, tags, merges and further documents are rejected: they can expand, or mean something other than they show.
func parseYAML(text string, known shape) (members []member, ok bool) {
	if len(text) > maxYAMLBytes || nesting(text) > maxYAMLDepth {
		return nil, false
	}
	// The parser is third-party code, and the text is untrusted.
	defer func() {
		if recover() != nil {
			members, ok = nil, false
		}
	}()
	// The trimmed line break belongs to a block of text at the end.
	file, err := parser.ParseBytes([]byte(text+"\n"), 0)
	if err != nil || len(file.Docs) != 1 {
		return nil, false
	}
	values, inBraces := entries(file.Docs[0].Body)
	structured := inBraces
	for _, entry := range values {
		key, value := entry.Key.GetToken(), entry.Value
		// Without a value: {job="api"} is a selector and not a mapping.
		bare := inBraces && value.GetToken().Type == token.ImplicitNullType
		if bare || !isScalar(entry.Key) || !argumentKey.MatchString(key.Value) {
			return nil, false
		}
		structured = structured || !isScalar(value) || value.Type() == ast.LiteralType
		var out bytes.Buffer
		if isScalar(value) && known.isText(key.Value) {
			out.Write(quoted(scalarText(value)))
		} else if writeJSON(&out, value, 0) != nil {
			return nil, false
		}
		members = append(members, member{key.Value, out.Bytes()})
	}

	return members, structured && len(members) > 0 && !repeats(members)
}

// nesting estimates how deep the parser would recurse, by open brackets and by the dashes and question marks of one line. A closing
// bracket in quotes makes the estimate too low; but each level hidden like that takes bytes, which maxYAMLBytes limits.
func nesting(text string) int {
	most, inLine, open := 0, 0, 0
	for i, c := range []byte(text) {
		switch c {
		case '\n':
			inLine = 0
		case ' ':
			if i > 0 && (text[i-1] == '-' || text[i-1] == '?') {
				inLine++
			}
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		}
		most = max(most, inLine, open)
	}

	return most
}

// entries returns the entries of a mapping, and whether it is written in braces.
func entries(node ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, n.IsFlowStyle
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, false
	default:
		return nil, false
	}
}

// isScalar excludes other nodes that the parser calls scalars: anchors, aliases, tags and merges.
func isScalar(node ast.Node) bool {
	switch node.(type) {
	case *ast.StringNode, *ast.LiteralNode, *ast.NullNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode,
		*ast.InfinityNode, *ast.NanNode:
		return true
	default:
		return false
	}
}

// scalarText returns a scalar as it was written, or the content of its quotes or its block.
func scalarText(node ast.Node) string {
	switch n := node.(type) {
	case *ast.LiteralNode:
		return n.Value.Value
	case *ast.StringNode:
		return n.Value
	case *ast.NullNode:
		return ""
	default:
		return n.GetToken().Value
	}
}

// writeJSON encodes a node. Its scalars become JSON by the rules of parsePairs: true in any case, exact numbers, no dates.
func writeJSON(out *bytes.Buffer, node ast.Node, depth int) error {
	if depth > maxYAMLDepth {
		return errNotPlain
	}
	switch n := node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return writeMapping(out, node, depth)
	case *ast.SequenceNode:
		out.WriteByte('[')
		for i, value := range n.Values {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, value, depth+1); err != nil {
				return err
			}
		}
		out.WriteByte(']')
	case *ast.NullNode:
		out.WriteString("null")
	case *ast.LiteralNode:
		out.Write(quoted(n.Value.Value))
	case *ast.StringNode:
		out.Write(stringJSON(n))
	case *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		out.Write(coerced(n.GetToken().Value))
	default: // anchors, aliases, tags, merges
		return errNotPlain
	}

	return nil
}

func stringJSON(n *ast.StringNode) json.RawMessage {
	if t := n.GetToken().Type; t == token.SingleQuoteType || t == token.DoubleQuoteType {
		return quoted(n.Value)
	}

	return coerced(strings.TrimSpace(n.Value))
}

func writeMapping(out *bytes.Buffer, node ast.Node, depth int) error {
	values, _ := entries(node)
	members := make([]member, 0, len(values))
	for _, entry := range values {
		if !isScalar(entry.Key) {
			return errNotPlain
		}
		var value bytes.Buffer
		if err := writeJSON(&value, entry.Value, depth+1); err != nil {
			return err
		}
		members = append(members, member{entry.Key.GetToken().Value, value.Bytes()})
	}
	if repeats(members) {
		return errNotPlain
	}
	out.Write(object(members...))

	return nil
}

// repeats reports whether a key is repeated.
func repeats(members []member) bool {
	seen := make(map[string]bool, len(members))
	for _, m := range members {
		seen[m.key] = true
	}

	return len(seen) < len(members)
}
