package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"tarsy.dev/tarsy/internal/schema"
)

// The kinds of Change.
const (
	ChangeAdded   = "added"
	ChangeChanged = "changed"
	ChangeRemoved = "removed"
)

// When a change takes effect: for sessions submitted from now on, immediately for everything, or after a restart of the server.
const (
	EffectSessions    = "new sessions"
	EffectImmediately = "at once"
	EffectRestart     = "restart"
)

// reloadSessions is the value of the tag reload for settings that a session keeps from its start.
const reloadSessions = "sessions"

// emptySection is shown for an entry without any value.
const emptySection = "{}"

// Change is one setting that differs between two configurations.
type Change struct {
	Path string
	// Kind is ChangeAdded, ChangeChanged or ChangeRemoved.
	Kind string
	// Old and New have secrets hidden, so both may be Hidden. Old is empty if the setting was added, New if it was removed.
	Old, New string
	// TakesEffect is EffectSessions, EffectImmediately or EffectRestart.
	TakesEffect string
}

// Reload returns the configuration that a server running c changes to after loading fresh, and how fresh differs from c. Settings with the
// tag restart keep the values of c; if those conflict with the rest of fresh, the error lists the problems. The call consumes fresh.
func (c *Config) Reload(fresh *Config) (*Config, []Change, error) {
	changes := diff(c, fresh)
	fresh.keepUntilRestart(c)
	problems := fresh.check(nil)
	if len(problems) == 0 {
		return fresh, changes, nil
	}
	for i := range problems {
		problems[i].Hint = "the files are valid, but not with the settings that a running server keeps; restart the server to apply them"
	}
	return nil, changes, newError(problems)
}

// keepUntilRestart copies the fields with the tag restart from running.
func (c *Config) keepUntilRestart(running *Config) {
	var kept []string
	keepFields(reflect.ValueOf(c).Elem(), reflect.ValueOf(running).Elem(), "", func(path string) { kept = append(kept, path) })
	isKept := func(path string) bool {
		return slices.ContainsFunc(kept, func(section string) bool { return path == section || isBelow(path, section) })
	}
	maps.DeleteFunc(c.marks, func(path string, _ mark) bool { return isKept(path) })
	for path, m := range running.marks {
		if isKept(path) {
			c.marks[path] = m
		}
	}
	// A kept value may have come from a variable that the files no longer use.
	variables := maps.Clone(running.variables)
	if variables == nil {
		variables = make(map[string]string)
	}
	maps.Copy(variables, c.variables)
	c.variables = variables
}

// keepFields copies fields with the tag restart. It does not look inside maps and lists, whose entries have no such fields.
func keepFields(to, from reflect.Value, path string, kept func(path string)) {
	for _, f := range schema.FieldsOf(to.Type()) {
		here := joinPath(path, f.Key)
		switch {
		case f.Restart:
			to.Field(f.Index).Set(from.Field(f.Index))
			kept(here)
		case to.Field(f.Index).Kind() == reflect.Struct:
			keepFields(to.Field(f.Index), from.Field(f.Index), here, kept)
		}
	}
}

// setting is a leaf as diff compares it.
type setting struct {
	path   string
	clear  []string // its texts, secrets included
	shown  string
	has    bool // as in Origins: it is set, or has a value or a default
	effect string
}

func (s setting) equal(other setting) bool { return slices.Equal(s.clear, other.clear) }

// diff lists the settings that differ between two configurations: those of fresh in its order, then removed ones.
func diff(running, fresh *Config) []Change {
	var changes []Change
	before, after := running.settings(), fresh.settings()
	known := byPath(before)
	for _, s := range after {
		old, ok := known[s.path]
		delete(known, s.path)
		switch {
		case ok && old.equal(s), !old.has && !s.has:
		case !old.has:
			changes = append(changes, Change{Path: s.path, Kind: ChangeAdded, New: s.shown, TakesEffect: s.effect})
		case !s.has:
			changes = append(changes, Change{Path: s.path, Kind: ChangeRemoved, Old: old.shown, TakesEffect: s.effect})
		default:
			changes = append(changes, Change{Path: s.path, Kind: ChangeChanged, Old: old.shown, New: s.shown, TakesEffect: s.effect})
		}
	}
	for _, s := range before {
		if _, gone := known[s.path]; gone && s.has {
			changes = append(changes, Change{Path: s.path, Kind: ChangeRemoved, Old: s.shown, TakesEffect: s.effect})
		}
	}
	return append(changes, diffEmpty(running, fresh, changes)...)
}

// diffEmpty lists added or removed entries that no other change shows because they have no values.
func diffEmpty(running, fresh *Config, shown []Change) []Change {
	var changes []Change
	before, after := running.entries(), fresh.entries()
	add := func(path, effect, kind, old, value string) {
		if !slices.ContainsFunc(shown, func(c Change) bool { return isBelow(c.Path, path) || c.Path == path }) {
			changes = append(changes, Change{Path: path, Kind: kind, Old: old, New: value, TakesEffect: effect})
		}
	}
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[path]; !ok {
			add(path, after[path], ChangeAdded, "", emptySection)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(before)) {
		if _, ok := after[path]; !ok {
			add(path, before[path], ChangeRemoved, emptySection, "")
		}
	}
	return changes
}

func (c *Config) settings() []setting {
	var all []setting
	c.walk(func(l leaf) {
		_, written := c.marks[l.Path]
		_, texts := l.Texts()
		all = append(all, setting{
			path: l.Path, clear: texts, shown: c.show(l), effect: effectOf(l.Field),
			has: written || !l.Value.IsZero() || l.Field.Default != "",
		})
	})
	return all
}

func byPath(settings []setting) map[string]setting {
	found := make(map[string]setting, len(settings))
	for _, s := range settings {
		found[s.path] = s
	}
	return found
}

// entries returns the paths of all map and list entries that are sections, and when a change to them takes effect.
func (c *Config) entries() map[string]string {
	found := make(map[string]string)
	var visit func(v reflect.Value, path string, f schema.Field)
	visit = func(v reflect.Value, path string, f schema.Field) {
		switch {
		case v.Kind() == reflect.Pointer && !v.IsNil() && schema.IsSection(v.Type()):
			visit(v.Elem(), path, f)
		case v.Kind() == reflect.Struct:
			for _, below := range schema.FieldsOf(v.Type()) {
				visit(v.Field(below.Index), joinPath(path, below.Key), below.Within(f))
			}
		case v.Kind() == reflect.Map && schema.IsSection(v.Type().Elem()):
			for key := range schema.KeySet(v) {
				found[joinPath(path, key)] = effectOf(f)
				visit(v.MapIndex(reflect.ValueOf(key)), joinPath(path, key), f)
			}
		case v.Kind() == reflect.Slice && schema.IsSection(v.Type().Elem()):
			for i := range v.Len() {
				item := fmt.Sprintf("%s[%d]", path, i)
				found[item] = effectOf(f)
				visit(v.Index(i), item, f)
			}
		}
	}
	visit(reflect.ValueOf(c).Elem(), "", schema.Field{})
	return found
}

func effectOf(f schema.Field) string {
	switch {
	case f.Restart:
		return EffectRestart
	case f.Reload == reloadSessions:
		return EffectSessions
	default:
		return EffectImmediately
	}
}

// String formats a change as one line.
func (c Change) String() string {
	switch c.Kind {
	case ChangeAdded:
		return fmt.Sprintf("%s added: %s (%s)", c.Path, c.New, c.TakesEffect)
	case ChangeRemoved:
		return fmt.Sprintf("%s removed: %s (%s)", c.Path, c.Old, c.TakesEffect)
	default:
		return fmt.Sprintf("%s changed: %s -> %s (%s)", c.Path, c.Old, c.New, c.TakesEffect)
	}
}
