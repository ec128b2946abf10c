package config

import (
	"reflect"
	"strings"

	"tarsy.dev/tarsy/internal/schema"
)

const (
	// originBuiltin is the origin of values that are not set anywhere.
	originBuiltin = "built-in"
	// originEnv is the prefix of the origin of values that an environment variable determined.
	originEnv = "env "
)

// mark is where one value came from.
type mark struct {
	place  schema.Place // zero if the value was not in a file
	origin string       // for people: tarsy.yaml:12, env TARSY_X, flag --workers
	hidden bool         // came through {{.VAR}}, or was marked secret by its origin
}

// Value is one setting and where it came from.
type Value struct {
	Path   string
	Value  string // secrets are Hidden
	Origin string
}

// Origins lists every setting that has a value, in the order of the sections.
func (c *Config) Origins() []Value {
	var values []Value
	c.walk(func(leaf leaf) {
		m, set := c.marks[leaf.Path]
		if !set && leaf.Value.IsZero() && leaf.Field.Default == "" {
			return
		}
		origin := originBuiltin
		if set {
			origin = m.origin
		}
		values = append(values, Value{Path: leaf.Path, Value: c.show(leaf), Origin: origin})
	})
	return values
}

// Written reports whether the files contain an entry of a section such as agent_chains.
func (c *Config) Written(section, name string) bool {
	_, ok := c.marks[joinPath(section, name)]
	return ok
}

// placeOf returns where in the files a path, or its nearest parent, is set.
func (c *Config) placeOf(path string) schema.Place {
	for path != "" {
		if m, ok := c.marks[path]; ok {
			return m.place
		}
		path = schema.Parent(path)
	}
	return schema.Place{}
}

// leaf is a value without further keys: a scalar, or a list of scalars.
type leaf = schema.Leaf

// walk visits every leaf, sections in declaration order and entries by name.
func (c *Config) walk(visit func(leaf)) { schema.Walk(c, visit) }

func joinPath(path, key string) string { return schema.Join(path, key) }

// show renders a leaf with its secrets hidden.
func (c *Config) show(l leaf) string {
	paths, values := l.Texts()
	if l.Field.Secret == "args" {
		safe := shownArgs(values)
		for i, path := range paths {
			safe[i] = shown(safe[i], "", c.marks[path].hidden)
		}
		return "[" + strings.Join(safe, ", ") + "]"
	}
	whole := c.marks[l.Path].hidden
	for i, path := range paths {
		values[i] = shown(values[i], l.Field.Secret, whole || c.marks[path].hidden)
	}
	if l.Value.Kind() == reflect.Slice {
		return "[" + strings.Join(values, ", ") + "]"
	}
	return values[0]
}
