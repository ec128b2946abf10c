package match

import (
	"regexp"
	"strings"
)

// Op is the operator of a matcher.
type Op string

// Operators. Regular expressions must match the whole value.
const (
	Equal      Op = "="
	NotEqual   Op = "!="
	Matches    Op = "=~"
	NotMatches Op = "!~"
)

// Matcher is a condition on one value of an alert. Use Parse to create one; the zero value matches nothing.
type Matcher struct {
	// A label, or another name known to Values.
	Name string
	Op   Op
	// A literal value, or a regular expression without anchors.
	Value string

	// expression is the anchored Value; nil unless Op takes a regular expression.
	expression *regexp.Regexp
}

// Match reports whether a value satisfies the matcher. A missing value is the empty string, as in Alertmanager.
func (m Matcher) Match(value string) bool {
	switch m.Op {
	case Equal:
		return value == m.Value
	case NotEqual:
		return value != m.Value
	case Matches:
		return m.expression != nil && m.expression.MatchString(value)
	case NotMatches:
		return m.expression != nil && !m.expression.MatchString(value)
	default:
		return false
	}
}

// String returns the matcher in the form that Parse accepts, with its value quoted.
func (m Matcher) String() string {
	name := m.Name
	if !isPlainName(name) {
		name = quote(name)
	}

	return name + string(m.Op) + quote(m.Value)
}

// Set is a list of matchers that must all match. An empty set matches every alert.
type Set []Matcher

// Match reports whether all matchers match. value returns the value of a name, or "" if the alert has none; see Values.
func (s Set) Match(value func(name string) string) bool {
	for _, m := range s {
		if !m.Match(value(m.Name)) {
			return false
		}
	}

	return true
}

// String returns the matchers as Alertmanager shows them.
func (s Set) String() string {
	parts := make([]string, len(s))
	for i, m := range s {
		parts[i] = m.String()
	}

	return "{" + strings.Join(parts, ", ") + "}"
}
