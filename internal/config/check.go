package config

import (
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/nearest"
)

var anyVariableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check returns everything that is wrong with the whole. known are the problems
// found so far: what could not be read is not also reported as missing.
func (c *Config) check(known []Problem) []Problem {
	var problems []Problem
	c.walk(func(l leaf) { problems = append(problems, c.checkLeaf(l)...) })
	problems = append(problems, c.checkRequired()...)
	problems = append(problems, c.checkAlertTypes()...)
	problems = append(problems, c.checkLease()...)
	problems = append(problems, c.checkStrategies()...)
	for _, id := range slices.Sorted(maps.Keys(c.MCPServers)) {
		problems = append(problems, c.checkTransport(joinPath("mcp_servers", id)+".transport", c.MCPServers[id].Transport)...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.LLMProviders)) {
		if p := c.LLMProviders[name]; p.Model == "" && p.Type != "" && p.Type != ProviderScripted {
			problems = append(problems, c.problem(joinPath("llm_providers", name)+".model", "is required", "the model's name at the provider"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Defaults.Agents)) {
		if _, ok := c.Agents[name]; !ok {
			hint := nearest.HintWithList(name, c.names("agents"), "agents")
			problems = append(problems, c.problem(joinPath("defaults.agents", name), "unknown agent", hint))
		}
	}
	return slices.DeleteFunc(problems, func(p Problem) bool { return reported(known, p.Path) })
}

// reported says whether there is a problem already with this value, a part of it,
// or what it is part of.
func reported(known []Problem, path string) bool {
	return slices.ContainsFunc(known, func(p Problem) bool {
		return p.Path == path || isBelow(p.Path, path) || isBelow(path, p.Path)
	})
}

func (c *Config) problem(path, message, hint string) Problem {
	at := c.placeOf(path)
	return Problem{File: at.file, Line: at.line, Column: at.column, Path: path, Message: message, Hint: hint}
}

// checkLeaf checks one value against the tags of its field.
func (c *Config) checkLeaf(l leaf) []Problem {
	if _, set := c.marks[l.path]; !set && l.value.IsZero() {
		return nil
	}
	var problems []Problem
	if message := belowMin(l); message != "" {
		problems = append(problems, c.problem(l.path, message, ""))
	}
	paths, values := l.texts()
	for i, path := range paths {
		if message, hint := c.checkText(values[i], c.quote(path, values[i], l), l.field); message != "" {
			problems = append(problems, c.problem(path, message, hint))
		}
	}
	return problems
}

// quote shows a value in a message, unless it is or may be a secret.
func (c *Config) quote(path, value string, l leaf) string {
	safe := shown(value, l.field.secret, c.marks[path].hidden || c.marks[l.path].hidden)
	if safe != value {
		return "(value hidden)"
	}
	return strconv.Quote(value)
}

// checkText returns what is wrong with a value and what would be right, "" if nothing is.
func (c *Config) checkText(value, quoted string, f field) (string, string) {
	switch {
	case f.enum != nil && !slices.Contains(f.enum, value):
		allowed := slices.DeleteFunc(slices.Clone(f.enum), func(s string) bool { return s == "" })
		return "unknown value " + quoted, nearest.HintWithList(value, allowed, "values")
	case f.ref != "" && value != "":
		if names := c.names(f.ref); !slices.Contains(names, value) {
			what := strings.ReplaceAll(f.ref, "_", " ")
			what = strings.NewReplacer("mcp", "MCP", "llm", "LLM").Replace(what)
			return "unknown " + strings.TrimSuffix(what, "s") + " " + quoted, nearest.HintWithList(value, names, what)
		}
	case f.format != "" && value != "":
		return checkFormat(value, f.format)
	}
	return "", ""
}

// names lists what a ref tag may point at.
func (c *Config) names(section string) []string {
	switch section {
	case "agents":
		return slices.Sorted(maps.Keys(c.Agents))
	case "mcp_servers":
		return slices.Sorted(maps.Keys(c.MCPServers))
	case "llm_providers":
		return slices.Sorted(maps.Keys(c.LLMProviders))
	case "fallback_lists":
		return slices.Sorted(maps.Keys(c.FallbackLists))
	case "label_maps":
		return slices.Sorted(maps.Keys(c.LabelMaps))
	case "alert_types":
		var names []string
		for _, t := range c.AlertTypes() {
			names = append(names, t.Name)
		}
		return names
	default:
		panic("config: no section " + section) // a tag of our own is wrong
	}
}

// checkFormat is checkText for the format tag. It never repeats the value: addresses
// and misplaced keys hold secrets.
func checkFormat(value, format string) (string, string) {
	switch format {
	case "url":
		u, err := url.Parse(value)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return "not an address", "it starts with http:// or https://"
		}
	case "cidr":
		_, prefixErr := netip.ParsePrefix(value)
		_, addrErr := netip.ParseAddr(value)
		if prefixErr != nil && addrErr != nil {
			return "not a network", "write 10.0.0.0/8, or one address"
		}
	case "env":
		if !anyVariableName.MatchString(value) || looksSecret(value) {
			return "not the name of an environment variable", "the name goes here, the key itself into the environment"
		}
	case "regexp":
		if _, err := regexp.Compile(value); err != nil {
			return "not a regular expression", "see https://github.com/google/re2/wiki/Syntax"
		}
	default:
		panic("config: no format " + format) // a tag of our own is wrong
	}
	return "", ""
}

func belowMin(l leaf) string {
	if l.field.min == "" {
		return ""
	}
	var below bool
	switch {
	case isDuration(l.value.Type()):
		least, err := time.ParseDuration(l.field.min)
		below = err != nil || l.value.Int() < int64(least)
	case l.value.Kind() == reflect.Int:
		least, err := strconv.ParseInt(l.field.min, 10, 64)
		below = err != nil || l.value.Int() < least
	case l.value.Kind() == reflect.Float64:
		least, err := strconv.ParseFloat(l.field.min, 64)
		below = err != nil || l.value.Float() < least
	}
	if !below {
		return ""
	}
	return "must be at least " + l.field.min
}

// checkRequired finds entries that leave out what they cannot do without.
func (c *Config) checkRequired() []Problem {
	var problems []Problem
	var visit func(v reflect.Value, path string)
	visit = func(v reflect.Value, path string) {
		switch v.Kind() { //nolint:exhaustive // the others have nothing below them
		case reflect.Pointer:
			if !v.IsNil() {
				visit(v.Elem(), path)
			}
		case reflect.Struct:
			for _, f := range fieldsOf(v.Type()) {
				fv, at := v.Field(f.index), joinPath(path, f.key)
				empty := fv.IsZero() || (fv.Kind() == reflect.Slice && fv.Len() == 0)
				if f.required && empty && !isSection(fv.Type()) {
					problems = append(problems, c.problem(at, "is required", strings.TrimSuffix(f.doc, ".")))
				}
				visit(fv, at)
			}
		case reflect.Map:
			for _, key := range slices.Sorted(maps.Keys(keySet(v))) {
				visit(v.MapIndex(reflect.ValueOf(key)), joinPath(path, key))
			}
		case reflect.Slice:
			for i := range v.Len() {
				visit(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
			}
		}
	}
	visit(reflect.ValueOf(c).Elem(), "")
	return problems
}

// checkAlertTypes finds types that two chains claim.
func (c *Config) checkAlertTypes() []Problem {
	var problems []Problem
	claims := make(map[string]string)
	for _, id := range slices.Sorted(maps.Keys(c.Chains)) {
		for i, name := range c.Chains[id].AlertTypes {
			path := fmt.Sprintf("%s.alert_types[%d]", joinPath("agent_chains", id), i)
			if name == "" {
				problems = append(problems, c.problem(path, "an alert type needs a name", ""))
				continue
			}
			if first, taken := claims[name]; taken {
				message := "alert type " + c.quote(path, name, leaf{}) + " belongs to another chain already"
				problems = append(problems, c.problem(path, message, "first claimed by "+first+", "+c.whereIs(first)))
				continue
			}
			claims[name] = path
		}
	}
	return problems
}

func (c *Config) whereIs(path string) string {
	if at := c.placeOf(path); at.file != "" {
		return at.String()
	}
	return originBuiltin
}

// checkLease keeps a lease alive when one renewal is late.
func (c *Config) checkLease() []Problem {
	half := c.Queue.OrphanThreshold / 2
	if c.Queue.HeartbeatInterval < half {
		return nil
	}
	path := "queue.heartbeat_interval"
	if _, set := c.marks[path]; !set {
		path = "queue.orphan_threshold"
	}
	return []Problem{c.problem(path, fmt.Sprintf("heartbeat_interval (%s) must be less than half of orphan_threshold (%s)",
		formatDuration(c.Queue.HeartbeatInterval), formatDuration(c.Queue.OrphanThreshold)),
		"set heartbeat_interval below "+formatDuration(half))}
}

func (c *Config) checkTransport(path string, t Transport) []Problem {
	switch {
	case t.Type == TransportStdio && t.Command == "":
		return []Problem{c.problem(path+".command", "is required", "the program that transport type stdio starts")}
	case (t.Type == TransportHTTP || t.Type == TransportSSE) && t.URL == "":
		return []Problem{c.problem(path+".url", "is required", "the address that transport type "+t.Type+" calls")}
	default:
		return nil
	}
}
