package match

import (
	"regexp"
	"strings"
)

// Op is what a matcher demands of a value.
type Op string

// The operators. Expressions must match the whole value.
const (
	Equal      Op = "="
	NotEqual   Op = "!="
	Matches    Op = "=~"
	NotMatches Op = "!~"
)

// Matcher is a condition on one value of an alert. Parse makes it; the zero value matches nothing.
type Matcher struct {
	// A label or another name that Values knows.
	Name string
	Op   Op
	// Text, or a regular expression without anchors.
	Value string

	// expression is Value with anchors; nil unless Op has an expression.
	expression *regexp.Regexp
}

// Match reports whether a value fulfills the matcher. A value that is missing is the empty text, as in Alertmanager.
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

// String returns the matcher in the form that Parse reads, its value quoted.
func (m Matcher) String() string {
	name := m.Name
	if !isPlainName(name) {
		name = quote(name)
	}

	return name + string(m.Op) + quote(m.Value)
}

// Set is matchers that must all match. An empty set matches every alert.
type Set []Matcher

// Match reports whether all matchers match. value returns the value of a name, empty if the alert has none; see Values.
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
