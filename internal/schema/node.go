package schema

import (
	"reflect"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// pair is a key of a map with its value; node is the position of the key.
type pair struct {
	key   string
	node  ast.Node
	value ast.Node
}

// pairs returns the keys of a map, those from merge keys (<<) after the map's own, and reports duplicates.
func (d *Decoder) pairs(node ast.Node, path string) ([]pair, bool) {
	var values []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		d.fail(node, path, "expected keys with values, got "+describe(node), "")
		return nil, false
	}
	var own, merged []pair
	seen := make(map[string]ast.Node)
	for _, v := range values {
		if d.nodes++; d.nodes > maxNodes {
			break
		}
		if v.Key.IsMergeKey() {
			merged = append(merged, d.merged(v.Value, path)...)
			continue
		}
		keyNode := unwrap(v.Key)
		key, ok := scalarText(keyNode)
		if !ok {
			d.fail(v.Key, path, "a key must be plain text", d.plainKeyHint())
			continue
		}
		if strings.ContainsRune(key, 0) {
			d.fail(v.Key, path, "a key must not hold NUL", "")
			continue
		}
		if d.hasVariable(key) {
			d.fail(v.Key, path, "an environment variable cannot be part of a key", "")
			continue
		}
		if first, twice := seen[key]; twice {
			d.fail(v.Key, Join(path, key), "duplicate key", "first set at "+d.place(first).String())
			continue
		}
		seen[key] = v.Key
		own = append(own, pair{key: key, node: v.Key, value: v.Value})
	}
	for _, p := range merged {
		if _, overridden := seen[p.key]; !overridden {
			seen[p.key] = p.node
			own = append(own, p)
		}
	}
	return own, true
}

// merged returns the keys that a merge key adds, from one anchor or several.
func (d *Decoder) merged(node ast.Node, path string) []pair {
	switch n := unwrap(node).(type) {
	case *ast.AliasNode:
		name := anchorName(n.Value)
		target, ok := d.anchors[name]
		if !ok || d.open[name] {
			d.fail(n, path, "alias *"+name+" has no anchor before it", "")
			return nil
		}
		d.open[name] = true
		defer delete(d.open, name)
		return d.merged(target, path)
	case *ast.SequenceNode:
		var all []pair
		for _, item := range n.Values {
			all = append(all, d.merged(item, path)...)
		}
		return all
	case *ast.MappingNode, *ast.MappingValueNode:
		pairs, _ := d.pairs(n, path)
		return pairs
	default:
		d.fail(node, path, "<< needs an alias of a map", "")
		return nil
	}
}

func (d *Decoder) plainKeyHint() string {
	if d.env == nil {
		return "put it in quotes"
	}
	return "put it in quotes; an environment variable cannot be part of a key"
}

// unwrap removes anchors, tags and explicit keys (?) from a node.
func unwrap(node ast.Node) ast.Node {
	for {
		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.TagNode:
			node = n.Value
		case *ast.MappingKeyNode:
			node = n.Value
		default:
			return node
		}
	}
}

// collectAnchors collects the anchors of a document by name.
func collectAnchors(body ast.Node, into map[string]ast.Node) {
	ast.Walk(anchorVisitor(into), body)
}

type anchorVisitor map[string]ast.Node

// Visit implements ast.Visitor.
func (a anchorVisitor) Visit(node ast.Node) ast.Visitor {
	if anchor, ok := node.(*ast.AnchorNode); ok && anchor.Value != nil {
		a[anchorName(anchor.Name)] = anchor.Value
	}
	return a
}

func anchorName(node ast.Node) string {
	if node == nil || node.GetToken() == nil {
		return ""
	}
	return node.GetToken().Value
}

// scalarText returns a scalar as written, without quotes.
func scalarText(node ast.Node) (string, bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		if n.Value == nil {
			return "", true
		}
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	default:
		return "", false
	}
}

// wrongKind returns the expected kind, and whether a scalar written without a variable is of another kind than v: like YAML, it
// distinguishes "5" from 5. Text accepts any scalar.
func wrongKind(node ast.Node, v reflect.Value, f Field) (string, bool) {
	var right bool
	switch t := node.Type(); {
	case isDuration(v.Type()):
		right = t == ast.StringType || (f.Seconds && t == ast.IntegerType)
	case isWhole(v.Kind()):
		right = t == ast.IntegerType
	case v.Kind() == reflect.Float64:
		right = t == ast.IntegerType || t == ast.FloatType
	case v.Kind() == reflect.Bool:
		right = t == ast.BoolType
	default:
		right = true
	}
	return wanted(v, f), !right
}

func wanted(v reflect.Value, f Field) string {
	switch {
	case isDuration(v.Type()) && f.Seconds:
		return errWantDuration.Error() + " or a number of seconds"
	case isDuration(v.Type()):
		return errWantDuration.Error()
	case isWhole(v.Kind()):
		return errWantInt.Error()
	case v.Kind() == reflect.Float64:
		return errWantFloat.Error()
	case v.Kind() == reflect.Bool:
		return errWantBool.Error()
	default:
		return errWantText.Error()
	}
}

func kindHint(node ast.Node, v reflect.Value) string {
	switch {
	case isDuration(v.Type()) && node.Type() == ast.IntegerType:
		return "a number needs a unit"
	case v.Kind() != reflect.String && !isDuration(v.Type()) && node.Type() == ast.StringType:
		return "write it without quotes"
	default:
		return ""
	}
}

// describe describes the kind of a node for people.
func describe(node ast.Node) string {
	switch unwrap(node).(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a map"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	default:
		return "something else"
	}
}

// positionOf returns the start of a node. A map's own token is the colon of its first key, but people look for the key.
func positionOf(node ast.Node) token.Position {
	switch n := node.(type) {
	case nil:
		return token.Position{}
	case *ast.MappingNode:
		if !n.IsFlowStyle && len(n.Values) > 0 {
			return positionOf(n.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return positionOf(n.Key)
	}
	if tk := node.GetToken(); tk != nil && tk.Position != nil {
		return *tk.Position
	}
	return token.Position{}
}
