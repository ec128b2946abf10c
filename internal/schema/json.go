package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// isJSON reports whether type t can hold any JSON value.
func isJSON(t reflect.Type) bool {
	return t == reflect.TypeFor[json.RawMessage]() || (t.Kind() == reflect.Interface && t.NumMethod() == 0)
}

// json decodes a value of any kind. Objects keep the order of their keys.
func (d *Decoder) json(node ast.Node, v reflect.Value, path string, f Field) {
	before := len(d.Problems)
	raw := d.appendJSON(nil, node, path)
	if len(d.Problems) > before {
		return
	}
	if f.Kinds != nil && !slices.Contains(f.Kinds, kindOf(raw)) {
		d.fail(node, path, "expected "+names(f.Kinds)+", got "+describe(node), "")
		return
	}
	if v.Kind() != reflect.Interface {
		v.SetBytes(raw)
		return
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		panic("schema: own JSON: " + err.Error())
	}
	if value != nil {
		v.Set(reflect.ValueOf(value))
	}
}

func (d *Decoder) appendJSON(buf []byte, node ast.Node, path string) []byte {
	if d.nodes++; d.nodes > maxNodes {
		if d.nodes == maxNodes+1 {
			d.fail(node, path, "too many values", "aliases repeat their anchors too often")
		}
		return buf
	}
	switch n := unwrap(node).(type) {
	case *ast.AliasNode:
		name := anchorName(n.Value)
		target, ok := d.anchors[name]
		if !ok || d.open[name] {
			d.fail(n, path, "alias *"+name+" has no anchor before it", "")
			return buf
		}
		d.open[name] = true
		defer delete(d.open, name)
		return d.appendJSON(buf, target, path)
	case *ast.MappingNode, *ast.MappingValueNode:
		return d.appendObject(buf, n, path)
	case *ast.SequenceNode:
		buf = append(buf, '[')
		for i, item := range n.Values {
			if i > 0 {
				buf = append(buf, ',')
			}
			buf = d.appendJSON(buf, item, fmt.Sprintf("%s[%d]", path, i))
		}
		return append(buf, ']')
	case nil, *ast.NullNode:
		return append(buf, "null"...)
	default:
		return d.appendScalar(buf, n, path)
	}
}

func (d *Decoder) appendObject(buf []byte, node ast.Node, path string) []byte {
	pairs, _ := d.pairs(node, path)
	buf = append(buf, '{')
	for i, p := range pairs {
		if i > 0 {
			buf = append(buf, ',')
		}
		at := Join(path, p.key)
		d.mark(p.node, at)
		buf = append(appendString(buf, p.key), ':')
		buf = d.appendJSON(buf, p.value, at)
	}
	return append(buf, '}')
}

func (d *Decoder) appendScalar(buf []byte, node ast.Node, path string) []byte {
	switch n := node.(type) {
	case *ast.IntegerNode:
		return fmt.Append(buf, n.Value)
	case *ast.FloatNode:
		if !math.IsInf(n.Value, 0) && !math.IsNaN(n.Value) {
			number, _ := json.Marshal(n.Value) //nolint:errchkjson // finite numbers always marshal
			return append(buf, number...)
		}
	case *ast.BoolNode:
		return fmt.Append(buf, n.Value)
	case *ast.StringNode, *ast.LiteralNode:
		text, _ := scalarText(n)
		if strings.ContainsRune(text, 0) {
			d.fail(node, path, "text must not hold NUL", "")
		}
		return appendString(buf, text)
	}
	d.fail(node, path, "is not a JSON value", "put it in quotes")
	return buf
}

func appendString(buf []byte, text string) []byte {
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		panic("schema: text as JSON: " + err.Error()) // text always encodes
	}
	return append(buf, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
}

// kindOf returns the kind of a JSON value in the terms of JSON Schema.
func kindOf(raw []byte) string {
	switch raw[0] {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	default:
		return "number"
	}
}

// names describes kinds in the same terms as describe.
func names(kinds []string) string {
	known := map[string]string{
		"object": "a map", "array": "a list", "string": "text", "number": "a number", "boolean": "true or false", "null": "nothing",
	}
	named := make([]string, len(kinds))
	for i, kind := range kinds {
		named[i] = known[kind]
	}
	return strings.Join(named, " or ")
}
