package config

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"tarsy.dev/tarsy/internal/nearest"
)

// maxNodes bounds what aliases can blow a small file up to.
const maxNodes = 200_000

// decoder fills a Config from one file after the other and collects what is
// wrong instead of stopping at it.
type decoder struct {
	config   *Config
	env      func(string) (string, bool)
	problems []Problem
	broken   bool // some file is not YAML at all

	// Of the file that is being read.
	name    string
	anchors map[string]ast.Node
	open    map[string]bool // aliases being followed, to notice one inside itself
	nodes   int
}

func (d *decoder) file(file File) {
	d.name, d.nodes = file.Name, 0
	d.anchors, d.open = make(map[string]ast.Node), make(map[string]bool)
	body, problem := parseFile(file)
	if problem != nil {
		d.problems = append(d.problems, *problem)
		d.broken = true
		return
	}
	if body == nil {
		return
	}
	collectAnchors(body, d.anchors)
	d.value(body, reflect.ValueOf(d.config).Elem(), "", field{})
}

// value decodes node into v. A value that is not there (null) changes nothing.
func (d *decoder) value(node ast.Node, v reflect.Value, path string, f field) {
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
	if node == nil || node.Type() == ast.NullType {
		return
	}
	switch t := v.Type(); {
	case t.Kind() == reflect.Pointer:
		if v.IsNil() {
			elem := reflect.New(t.Elem())
			if t.Elem().Kind() == reflect.Struct {
				applyDefaults(elem.Elem())
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

func (d *decoder) alias(alias *ast.AliasNode, v reflect.Value, path string, f field) {
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
func (d *decoder) section(node ast.Node, v reflect.Value, path string) {
	fields := fieldsOf(v.Type())
	if _, ok := scalarText(node); ok {
		for _, f := range fields {
			if f.short {
				d.mark(node, joinPath(path, f.key))
				d.scalar(node, v.Field(f.index), joinPath(path, f.key), f)
				return
			}
		}
	}
	pairs, ok := d.pairs(node, path)
	if !ok {
		return
	}
	for _, p := range pairs {
		at := joinPath(path, p.key)
		f, known := findField(fields, p.key)
		if !known {
			d.fail(p.node, at, "unknown key", nearest.Hint(p.key, keysOf(fields), "keys"))
			continue
		}
		fv := v.Field(f.index)
		// Sections merge key by key over several files; anything else is set once.
		if !isSection(fv.Type()) && fv.Kind() != reflect.Map && d.claimed(p.node, at) {
			continue
		}
		d.mark(p.node, at)
		if f.later == "true" {
			d.warn(p.node, at, "is accepted but has no effect yet")
		}
		d.value(p.value, fv, at, f)
	}
}

// entries decodes a map whose keys are names. Each entry is new: it takes nothing
// from a built-in of the same name, nor from another file.
func (d *decoder) entries(node ast.Node, v reflect.Value, path string, f field) {
	pairs, ok := d.pairs(node, path)
	if !ok {
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, p := range pairs {
		at := joinPath(path, p.key)
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
			applyDefaults(elem)
		}
		d.value(p.value, elem, at, f)
		v.SetMapIndex(reflect.ValueOf(p.key), elem)
	}
}

func (d *decoder) list(node ast.Node, v reflect.Value, path string, f field) {
	seq, ok := node.(*ast.SequenceNode)
	if text, isText := scalarText(node); isText && hasVariable(text) && !isSection(v.Type().Elem()) {
		d.scalar(node, v, path, f) // a variable that holds a list, separated by commas
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
			applyDefaults(elem)
		}
		d.value(item, elem, at, f)
	}
	v.Set(list)
}

func (d *decoder) scalar(node ast.Node, v reflect.Value, path string, f field) {
	raw, ok := scalarText(node)
	if !ok {
		hint := ""
		if node.Type() == ast.MappingType && v.Kind() == reflect.String {
			hint = "put text that starts with { in quotes; an environment variable is written {{.NAME}}"
		}
		d.fail(node, path, wanted(v, f)+", got "+describe(node), hint)
		return
	}
	if strings.ContainsRune(raw, 0) { // written as an escape; the database could not hold it
		d.fail(node, path, "text must not hold NUL", "")
		return
	}
	text, used, missing := expandVariables(raw, f.runtime, d.env)
	for _, name := range missing {
		d.fail(node, path, "environment variable "+name+" is not set", "")
	}
	if len(missing) > 0 {
		return
	}
	if used {
		m := d.config.marks[path]
		m.hidden = true
		d.config.marks[path] = m
	} else if want, bad := wrongKind(node, v, f); bad {
		d.fail(node, path, want+", got "+describe(node), kindHint(node, v))
		return
	}
	if n, isNumber := node.(*ast.IntegerNode); isNumber && v.Kind() != reflect.String {
		text = fmt.Sprint(n.Value) // 0x10 and 1_000 are numbers in YAML
	}
	if err := setText(v, text, f); err != nil {
		message := err.Error()
		if used {
			message += ", and that is not what the environment variable holds"
		}
		d.fail(node, path, message, "")
		return
	}
	if v.Kind() == reflect.String && f.later != "true" && f.laterFor(text) {
		d.warn(node, path, strconv.Quote(text)+" is accepted but has no effect yet")
	}
}

// claimed reports a value that another file, or an earlier line, has set already.
func (d *decoder) claimed(node ast.Node, path string) bool {
	first, taken := d.config.marks[path]
	if taken {
		d.fail(node, path, "set a second time", "first set at "+first.place.String())
	}
	return taken
}

func (d *decoder) mark(node ast.Node, path string) {
	if _, taken := d.config.marks[path]; taken {
		return // a section that an earlier file has opened
	}
	at := d.place(node)
	d.config.marks[path] = mark{place: at, origin: at.String()}
}

func (d *decoder) place(node ast.Node) place {
	at := positionOf(node)
	return place{file: d.name, line: at.Line, column: at.Column}
}

func (d *decoder) fail(node ast.Node, path, message, hint string) {
	at := d.place(node)
	d.problems = append(d.problems, Problem{
		File: at.file, Line: at.line, Column: at.column, Path: restoreVariables(path), Message: message, Hint: hint,
	})
}

func (d *decoder) warn(node ast.Node, path, message string) {
	at := d.place(node)
	d.config.Warnings = append(d.config.Warnings, Warning{
		File: at.file, Line: at.line, Column: at.column, Path: path, Message: message,
	})
}

func findField(fields []field, key string) (field, bool) {
	for _, f := range fields {
		if f.key == key {
			return f, true
		}
	}
	return field{}, false
}

// joinPath appends a key; one that would be misread is quoted.
func joinPath(path, key string) string {
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
