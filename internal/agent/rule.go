package agent

import (
	"slices"
	"strings"
)

// ToolRule limits which tools can be used. The zero value allows all. It is stored with sessions as part of their recipe.
type ToolRule struct {
	// Allowed are names of tools; none means all. A final * matches any ending.
	Allowed []string `json:"allowed,omitempty"`
	// Denied are names in the same form. Denied takes precedence over Allowed.
	Denied []string `json:"denied,omitempty"`
	// ReadOnly allows only tools that their server marks as read-only.
	ReadOnly bool `json:"read_only,omitempty"`
	// AnyOf allows only what at least one of these grants allows; none means all. Engines below version 2 do not support it.
	AnyOf []ToolGrant `json:"any_of,omitempty"`
}

// ToolGrant allows those tools of some MCP servers that pass every rule.
type ToolGrant struct {
	Servers []string   `json:"servers"`
	Rules   []ToolRule `json:"rules,omitempty"`
}

// IsZero reports whether the rule allows everything.
func (r ToolRule) IsZero() bool {
	return len(r.Allowed) == 0 && len(r.Denied) == 0 && !r.ReadOnly && len(r.AnyOf) == 0
}

// Allows reports whether a tool can be used.
func (r ToolRule) Allows(t Tool) bool {
	return (t.ReadOnly || !r.ReadOnly) && r.matches(t.Name) &&
		r.grants(t.Server, func(rule ToolRule) bool { return rule.Allows(t) })
}

// AllowsName reports whether a server's tool of this name can be used, judging by the names alone.
func (r ToolRule) AllowsName(server, name string) bool {
	return r.matches(name) && r.grants(server, func(rule ToolRule) bool { return rule.AllowsName(server, name) })
}

func (r ToolRule) matches(name string) bool {
	return (len(r.Allowed) == 0 || matchesAny(r.Allowed, name)) && !matchesAny(r.Denied, name)
}

// grants reports whether some grant includes the server and all its rules pass.
func (r ToolRule) grants(server string, passes func(ToolRule) bool) bool {
	return len(r.AnyOf) == 0 || slices.ContainsFunc(r.AnyOf, func(g ToolGrant) bool {
		return slices.Contains(g.Servers, server) && !slices.ContainsFunc(g.Rules, func(rule ToolRule) bool { return !passes(rule) })
	})
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if MatchesTool(p, name) {
			return true
		}
	}

	return false
}

// MatchesTool reports whether a rule's pattern matches the name of a tool.
func MatchesTool(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}

	return pattern == name
}
