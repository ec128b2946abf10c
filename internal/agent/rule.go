package agent

import "strings"

// ToolRule limits which tools may be used. The zero value allows all. It is stored with sessions as part of their recipe.
type ToolRule struct {
	// Allowed are names of tools; none means all. A name may end in *, which stands for any ending.
	Allowed []string `json:"allowed,omitempty"`
	// Denied are names in the same form. It wins over Allowed.
	Denied []string `json:"denied,omitempty"`
	// ReadOnly allows only tools of which the server says that they change nothing.
	ReadOnly bool `json:"read_only,omitempty"`
}

// IsZero reports whether the rule allows everything.
func (r ToolRule) IsZero() bool { return len(r.Allowed) == 0 && len(r.Denied) == 0 && !r.ReadOnly }

// Allows reports whether a tool may be used.
func (r ToolRule) Allows(t Tool) bool { return r.AllowsName(t.Name) && (t.ReadOnly || !r.ReadOnly) }

// AllowsName reports whether a tool of this name may be used, as far as its name decides.
func (r ToolRule) AllowsName(name string) bool {
	return (len(r.Allowed) == 0 || matchesAny(r.Allowed, name)) && !matchesAny(r.Denied, name)
}

func matchesAny(patterns []string, name string) bool {
	for _, p := range patterns {
		if MatchesTool(p, name) {
			return true
		}
	}

	return false
}

// MatchesTool reports whether a pattern of a rule means the tool of this name.
func MatchesTool(pattern, name string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, prefix)
	}

	return pattern == name
}
