// Package match is the condition on a text that script files use everywhere: for requests to a model and for what a bot
// sends. It knows nothing about the meaning of the text.
package match

import (
	"fmt"
	"regexp"
	"strings"
)

// Text is a condition on a text. All given keys must match.
type Text struct {
	Equals   string `yaml:"equals" doc:"The whole text." nonempty:"true"`
	Contains string `yaml:"contains" doc:"A substring of the text." nonempty:"true" short:"true"`
	Matches  string `yaml:"matches" doc:"A regular expression (RE2) that matches some part of the text." nonempty:"true" format:"regexp"`
}

// Fits reports whether a text meets the condition. A regular expression that does not compile matches nothing.
func (t Text) Fits(text string) bool {
	if t.Equals != "" && text != t.Equals || t.Contains != "" && !strings.Contains(text, t.Contains) {
		return false
	}

	if t.Matches == "" {
		return true
	}

	pattern, err := regexp.Compile(t.Matches)

	return err == nil && pattern.MatchString(text)
}

// String describes the condition, or returns "" if there is none.
func (t Text) String() string {
	var parts []string

	for _, part := range []struct{ verb, value string }{{"equals", t.Equals}, {"contains", t.Contains}, {"matches", t.Matches}} {
		if part.value != "" {
			parts = append(parts, fmt.Sprintf("%s %q", part.verb, part.value))
		}
	}

	return strings.Join(parts, " and ")
}
