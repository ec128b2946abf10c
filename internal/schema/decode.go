package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"tarsy.dev/tarsy/internal/nearest"
)

// maxNodes limits the expansion of a small file by aliases.
const maxNodes = 200_000

// Decoder fills a struct from one file after another and collects problems instead of stopping at the first.
type Decoder struct {
	// Marks are the places of the values that were written, by path.
	Marks    map[string]Mark
	Problems []Problem
	Warnings []Warning
	// Broken means that some file is not YAML at all.
	Broken bool
	// RefuseNull reports a key without a value, which otherwise has no effect.
	RefuseNull bool

	// Loose are keys that are ignored with a warning in a section that does not have them. They must not restrict anything:
	// ignoring a switch or a limit would allow what it was meant to forbid.
	Loose []string

	// Variables has the value of each {{.VAR}} that was used, by name.
	Variables map[string]string

	env func(string) (string, bool)

	// State of the file that is being read.
	name    string
	anchors map[string]ast.Node
	open    map[string]bool // aliases being followed, to detect cycles
	nodes   int
}

// Mark is the origin of a value.
type Mark struct {
	Place Place
	// Hidden means that the value came from a {{.VAR}}.
	Hidden bool
}

// NewDecoder returns a decoder. Env looks up {{.VAR}}; nil means that there are no variables, and {{.VAR}} is plain text.
func NewDecoder(env func(string) (string, bool)) *Decoder {
	return &Decoder{env: env, Marks: make(map[string]Mark), Variables: make(map[string]string)}
}

// File decodes a file over the current contents of into, a pointer to a struct.
func (d *Decoder) File(name string, text []byte, into any) {
	d.name, d.nodes = name, 0
	d.anchors, d.open = make(map[string]ast.Node), make(map[string]bool)
	body, problem := d.parse(name, text)
	if problem != nil {
		d.Problems = append(d.Problems, *problem)
		d.Broken = true
		return
	}
	if body == nil {
		return
	}
	collectAnchors(body, d.anchors)
	d.value(body, reflect.ValueOf(into).Elem(), "", Field{})
}

// value decodes node into v. A missing value (null) changes nothing.
func (d *Decoder) value(node ast.Node, v reflect.Value, path string, f Field) {
	if d.nodes++; d.nodes > maxNodes {
		if d.nodes == maxNodes+1 {
			d.fail(node, path, "too many values", "aliases repeat their anchors too often")
		}
		return
	}
	if alias, ok := node.(*ast.AliasNode); ok {
		d.alias(alias, v, path, f)
		return
	}
	node = unwrap(node)
	if isJSON(v.Type()) {
		d.json(node, v, path, f)
		return
	}
	if node == nil || node.Type() == ast.NullType {
		if d.RefuseNull {
			at := PlaceOf(d.Marks, path) // the key: a missing value has no position
			d.Problems = append(d.Problems, Problem{
				File: d.name, Line: at.Line, Column: at.Column, Path: path, Message: "has no value", Hint: "leave the key out",
			})
		}
		return
	}
	switch t := v.Type(); {
	case t.Kind() == reflect.Pointer:
		if v.IsNil() {
			elem := reflect.New(t.Elem())
			if t.Elem().Kind() == reflect.Struct {
				ApplyDefaults(elem.Elem())
			}
			v.Set(elem)
		}
		d.value(node, v.Elem(), path, f)
	case t.Kind() == reflect.Struct:
		d.section(node, v, path)
	case t.Kind() == reflect.Map:
		d.entries(node, v, path, f)
	case t.Kind() == reflect.Slice:
		d.list(node, v, path, f)
	default:
		d.scalar(node, v, path, f)
	}
}

func (d *Decoder) alias(alias *ast.AliasNode, v reflect.Value, path string, f Field) {
	name := anchorName(alias.Value)
	target, ok := d.anchors[name]
	if !ok || d.open[name] {
		d.fail(alias, path, "alias *"+name+" has no anchor before it", "")
		return
	}
	d.open[name] = true
	d.value(target, v, path, f)
	delete(d.open, name)
}

// section decodes a map with a fixed set of keys.
func (d *Decoder) section(node ast.Node, v reflect.Value, path string) {
	fields := FieldsOf(v.Type())
	if _, ok := scalarText(node); ok {
		for _, f := range fields {
			if f.Short {
				d.mark(node, Join(path, f.Key))
				d.scalar(node, v.Field(f.Index), Join(path, f.Key), f)
				return
			}
		}
	}
	pairs, ok := d.pairs(node, path)
	if !ok {
		return
	}
	for _, p := range pairs {
		at := Join(path, p.key)
		f, known := findField(fields, p.key)
		if !known && slices.Contains(d.Loose, p.key) {
			d.warn(p.node, at, "is not a key of this section and is ignored (keys of this section: "+strings.Join(keysOf(fields), ", ")+")")
			continue
		}
		if !known {
			d.fail(p.node, at, "unknown key", nearest.Hint(p.key, keysOf(fields), "keys"))
			continue
		}
		fv := v.Field(f.Index)
		// Sections are merged key by key across files; anything else can be set only once.
		if !IsSection(fv.Type()) && fv.Kind() != reflect.Map && d.claimed(p.node, at) {
			continue
		}
		d.mark(p.node, at)
		d.value(p.value, fv, at, f)
	}
}

// entries decodes a map whose keys are names. Each entry replaces a built-in of the same name and is not merged with other
// files.
func (d *Decoder) entries(node ast.Node, v reflect.Value, path string, f Field) {
	pairs, ok := d.pairs(node, path)
	if !ok {
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, p := range pairs {
		at := Join(path, p.key)
		if p.key == "" {
			d.fail(p.node, path, "an entry needs a name", "")
			continue
		}
		if d.claimed(p.node, at) {
			continue
		}
		d.mark(p.node, at)
		elem := reflect.New(v.Type().Elem()).Elem()
		if elem.Kind() == reflect.Struct {
			ApplyDefaults(elem)
		}
		d.value(p.value, elem, at, f)
		v.SetMapIndex(reflect.ValueOf(p.key), elem)
	}
}

func (d *Decoder) list(node ast.Node, v reflect.Value, path string, f Field) {
	seq, ok := node.(*ast.SequenceNode)
	if text, isText := scalarText(node); isText && d.hasVariable(text) && !IsSection(v.Type().Elem()) {
		d.scalar(node, v, path, f) // a variable with a comma-separated list
		return
	}
	if !ok {
		d.fail(node, path, "expected a list, got "+describe(node), "write each item on a line that starts with \"- \", or all in [ ]")
		return
	}
	list := reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values))
	for i, item := range seq.Values {
		at := fmt.Sprintf("%s[%d]", path, i)
		d.mark(item, at)
		elem := list.Index(i)
		if elem.Kind() == reflect.Struct {
			ApplyDefaults(elem)
		}
		d.value(item, elem, at, f)
	}
	v.Set(list)
}

func (d *Decoder) scalar(node ast.Node, v reflect.Value, path string, f Field) {
	raw, ok := scalarText(node)
	if !ok {
		hint := ""
		if node.Type() == ast.MappingType && v.Kind() == reflect.String {
			hint = d.braceHint()
		}
		d.fail(node, path, wanted(v, f)+", got "+describe(node), hint)
		return
	}
	if strings.ContainsRune(raw, 0) { // written as an escape; the database cannot store it
		d.fail(node, path, "text must not hold NUL", "")
		return
	}
	text, used, missing := d.expand(raw, f.Runtime)
	for _, name := range missing {
		d.fail(node, path, "environment variable "+name+" is not set", "")
	}
	if len(missing) > 0 {
		return
	}
	if used {
		m := d.Marks[path]
		m.Hidden = true
		d.Marks[path] = m
	} else if want, bad := wrongKind(node, v, f); bad && asScalar(v) == nil {
		d.fail(node, path, want+", got "+describe(node), kindHint(node, v))
		return
	}
	if n, isNumber := node.(*ast.IntegerNode); isNumber && v.Kind() != reflect.String {
		text = fmt.Sprint(n.Value) // 0x10 and 1_000 are numbers in YAML
	}
	if err := SetText(v, text, f); err != nil {
		message := err.Error()
		if used {
			message += ", and that is not what the environment variable holds"
		}
		d.fail(node, path, message, "")
		return
	}
}

func (d *Decoder) braceHint() string {
	if d.env == nil {
		return "put text that starts with { in quotes"
	}
	return "put text that starts with { in quotes; an environment variable is written {{.NAME}}"
}

// claimed reports a problem if another file, or an earlier line, has already set the value.
func (d *Decoder) claimed(node ast.Node, path string) bool {
	first, taken := d.Marks[path]
	if taken {
		d.fail(node, path, "set a second time", "first set at "+first.Place.String())
	}
	return taken
}

func (d *Decoder) mark(node ast.Node, path string) {
	if _, taken := d.Marks[path]; taken {
		return // a section that an earlier file has started
	}
	d.Marks[path] = Mark{Place: d.place(node)}
}

func (d *Decoder) place(node ast.Node) Place {
	at := positionOf(node)
	return Place{File: d.name, Line: at.Line, Column: at.Column}
}

func (d *Decoder) fail(node ast.Node, path, message, hint string) {
	at := d.place(node)
	d.Problems = append(d.Problems, Problem{
		File: at.File, Line: at.Line, Column: at.Column, Path: restoreVariables(path), Message: message, Hint: hint,
	})
}

func (d *Decoder) warn(node ast.Node, path, message string) {
	at := d.place(node)
	d.Warnings = append(d.Warnings, Warning{
		File: at.File, Line: at.Line, Column: at.Column, Path: path, Message: message,
	})
}

func findField(fields []Field, key string) (Field, bool) {
	for _, f := range fields {
		if f.Key == key {
			return f, true
		}
	}
	return Field{}, false
}

// Join appends a key to a path, quoting it if it would be ambiguous.
func Join(path, key string) string {
	if key == "" || strings.ContainsFunc(key, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return fmt.Sprintf("%s[%q]", path, key)
	}
	if path == "" {
		return key
	}
	return path + "." + key
}
