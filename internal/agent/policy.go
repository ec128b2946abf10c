package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"tarsy.dev/tarsy/internal/match"
)

// Policy decides whether a tool call is made.
type Policy string

// The policies.
const (
	// PolicyAsk makes the call wait for a person's decision.
	PolicyAsk Policy = "ask"
	// PolicyAlways makes the call without asking.
	PolicyAlways Policy = "always"
	// PolicyNever refuses the call.
	PolicyNever Policy = "never"
)

// Approvals configures which calls of an agent need a person's approval. With the zero value all calls are made. It is stored with
// sessions as part of their recipe; engines below version 3 do not support it.
type Approvals struct {
	// Rules are tried in order; the first match decides. A call without a match is made.
	Rules []ApprovalRule `json:"rules,omitempty"`
	// Unnamed is the policy for tools that no rule names and that their server does not mark as read-only: PolicyAsk, or the zero
	// value, which makes the calls. Engines below version 4 do not support it.
	Unnamed Policy `json:"unnamed,omitempty"`
	// ExpiresAfter is how long a person has to decide.
	ExpiresAfter time.Duration `json:"expires_after_ns,omitempty"`
}

// ApprovalRule is a policy for the calls that meet all of its conditions.
type ApprovalRule struct {
	// Name is the path of the rule in the configuration.
	Name string `json:"name"`
	// Server and Tool are names; a final * matches any ending. Empty matches any name.
	Server string `json:"server,omitempty"`
	Tool   string `json:"tool,omitempty"`
	// Arguments maps paths of arguments, such as "metadata.namespace", to regular expressions. Each must match the whole value.
	Arguments map[string]string `json:"arguments,omitempty"`
	Policy    Policy            `json:"policy"`
}

// MayAsk reports whether the rules can prevent a call.
func (a Approvals) MayAsk() bool {
	if a.Unnamed == PolicyAsk {
		return true
	}

	for _, r := range a.Rules {
		if r.Policy != PolicyAlways {
			return true
		}
	}

	return false
}

// unnamedRule is the rule name for decisions on tools that no rule names.
const unnamedRule = "approvals.unnamed"

// writingToolsRule ends the names of rules for the writing tools of a server.
const writingToolsRule = ".writing_tools"

// policyFor decides on a call, and returns the rule that decides; nil if none does. A call that no rule matches is made, unless the tool can
// write and no rule names it.
func (a Approvals) policyFor(server, tool string, readOnly bool, arguments json.RawMessage) (Policy, *ApprovalRule) {
	var read callArguments

	for i, r := range a.Rules {
		if len(r.Arguments) > 0 && !read.done {
			read = readArguments(arguments)
		}

		if a.Rules[i].matches(server, tool, &read) {
			return r.Policy, &a.Rules[i]
		}
	}

	if a.Unnamed == PolicyAsk && !readOnly && !a.names(server, tool) {
		return PolicyAsk, &ApprovalRule{Name: unnamedRule, Policy: PolicyAsk}
	}

	return PolicyAlways, nil
}

// text returns why the rule makes a call wait, for people.
func (r *ApprovalRule) text() string {
	if r.Name == unnamedRule {
		return "No rule names this tool, and its server does not mark it as read-only. Such calls wait for a person."
	}

	if strings.HasSuffix(r.Name, writingToolsRule) {
		return "The configuration lists " + named(r.Tool) + " of the server " + r.Server + " as changing something. Such calls wait for a person."
	}

	text := "A rule makes calls of " + named(r.Tool)
	if r.Server != "" {
		text += " of " + servers(r.Server)
	}

	var conditions []string
	for _, path := range slices.Sorted(maps.Keys(r.Arguments)) {
		conditions = append(conditions, path+" matching "+r.Arguments[path])
	}

	if len(conditions) > 0 {
		text += " with " + strings.Join(conditions, " and ")
	}

	return text + " wait for a person."
}

// named returns a pattern of tool names in words.
func named(pattern string) string {
	if pattern == "" || pattern == "*" {
		return "every tool"
	}

	if prefix, isPrefix := strings.CutSuffix(pattern, "*"); isPrefix {
		return "tools whose names begin with " + prefix
	}

	return "the tool " + pattern
}

// servers returns a pattern of server names in words.
func servers(pattern string) string {
	if prefix, isPrefix := strings.CutSuffix(pattern, "*"); isPrefix {
		if prefix == "" {
			return "every server"
		}

		return "servers whose names begin with " + prefix
	}

	return "the server " + pattern
}

// names reports whether a rule names a tool, or all tools of its server, regardless of the arguments.
func (a Approvals) names(server, tool string) bool {
	return slices.ContainsFunc(a.Rules, func(r ApprovalRule) bool { return r.Server+r.Tool != "" && r.matchesTool(server, tool) })
}

// forbids reports whether no call of a tool is ever made, whatever its arguments: the model need not see the tool.
func (a Approvals) forbids(server, tool string) bool {
	for _, r := range a.Rules {
		if !r.matchesTool(server, tool) {
			continue
		}

		// A rule with arguments may allow some calls, unless it forbids them as well.
		if r.Policy != PolicyNever {
			return false
		}

		if len(r.Arguments) == 0 {
			return true
		}
	}

	return false
}

func (r *ApprovalRule) matchesTool(server, tool string) bool {
	return (r.Server == "" || MatchesTool(r.Server, server)) && (r.Tool == "" || MatchesTool(r.Tool, tool))
}

// matches reports whether the rule applies to a call. Ambiguous arguments never allow a call: a rule that would allow it does not
// match, and any other rule does.
func (r *ApprovalRule) matches(server, tool string, arguments *callArguments) bool {
	if !r.matchesTool(server, tool) {
		return false
	}

	if len(r.Arguments) > 0 && arguments.ambiguous {
		return r.Policy != PolicyAlways
	}

	for path, pattern := range r.Arguments {
		value, found := arguments.at(path)

		switch {
		case found == keyResembles:
			return r.Policy != PolicyAlways
		case found == keyMissing || !matchesWhole(pattern, value):
			return false
		}
	}

	return true
}

// matchesWhole reports whether a pattern matches the whole value. Patterns were checked with the configuration; one that does not
// compile matches nothing.
func matchesWhole(pattern, value string) bool {
	compiled, err := match.Whole(pattern)

	return err == nil && compiled.MatchString(value)
}

// callArguments are the arguments of a call, as the rules read them.
type callArguments struct {
	done   bool
	object map[string]any
	// ambiguous is set if programs may parse the arguments differently: they are not a JSON object, or two keys of an object differ only
	// in case, in any alphabet.
	ambiguous bool
}

func readArguments(raw json.RawMessage) callArguments {
	read := callArguments{done: true}

	// Tools then get an empty object.
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage(`{}`)
	}

	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()

	err := decoder.Decode(&read.object)
	if err == nil {
		_, err = decoder.Token()
	}

	read.ambiguous = !errors.Is(err, io.EOF) || read.object == nil || hasRivalKeys(raw)

	return read
}

// found is how a key was found in arguments.
type found int

const (
	keyMissing found = iota
	keyExact
	// keyResembles means that a key matches only if case is ignored, as some programs do.
	keyResembles
)

// at returns the value at a path, a string as it is and anything else as JSON.
func (a *callArguments) at(path string) (string, found) {
	var value any = a.object

	for name := range strings.SplitSeq(path, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return "", keyMissing
		}

		if value, ok = object[name]; !ok {
			for key := range object {
				if strings.EqualFold(key, name) {
					return "", keyResembles
				}
			}

			return "", keyMissing
		}
	}

	if text, ok := value.(string); ok {
		return text, keyExact
	}

	raw, err := json.Marshal(value)
	if err != nil {
		return "", keyMissing
	}

	return string(raw), keyExact
}

// folded maps keys that differ only in case to the same text, using the folding of case-insensitive JSON parsers: the letter ſ is an s,
// and the Kelvin sign a k.
func folded(key string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			least = min(least, other)
		}

		return least
	}, key)
}

// hasRivalKeys reports whether an object in a JSON text has two keys that differ only in case: which of them counts depends on the
// parser.
func hasRivalKeys(raw json.RawMessage) bool {
	decoder := json.NewDecoder(bytes.NewReader(raw))

	type level struct {
		keys map[string]bool // nil for an array
		// atKey means that the next token of an object is a key.
		atKey bool
	}

	var levels []level

	for {
		token, err := decoder.Token()
		if err != nil {
			return false
		}

		if top := len(levels) - 1; top >= 0 && levels[top].keys != nil {
			if key, isText := token.(string); isText && levels[top].atKey {
				key = folded(key)
				if levels[top].keys[key] {
					return true
				}

				levels[top].keys[key], levels[top].atKey = true, false

				continue
			}

			levels[top].atKey = true
		}

		switch token {
		case json.Delim('{'):
			levels = append(levels, level{keys: map[string]bool{}, atKey: true})
		case json.Delim('['):
			levels = append(levels, level{})
		case json.Delim('}'), json.Delim(']'):
			levels = levels[:len(levels)-1]
		}
	}
}
