package script

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// Match defines which calls a route takes. Conditions that are set must all hold; the zero Match takes every call.
type Match struct {
	// Name is the name of the route in explanations and Call.Route; empty means its conditions.
	Name string
	// Agent and Purpose must equal those of the request. A call over the wire has none: there the agent is the value of the
	// header X-Tarsy-Agent, or else the name in a system text that begins with "You are NAME,".
	Agent   string
	Purpose string
	Model   Text
	// System is checked against all system texts joined by newlines, User against the last user message.
	System Text
	User   Text
	// ToolResult must hold for one of the tool results since the last assistant message.
	ToolResult Text
	// Header contains conditions on headers of the HTTP request, by case-insensitive name.
	Header map[string]Text
	// Turn is the number of assistant messages in the conversation so far.
	Turn *int
}

// Text is a condition on a text. All parts that are set must hold; the zero Text is no condition.
type Text struct {
	Equals   string
	Contains string
	// Matches is an RE2 regular expression that matches some part of the text.
	Matches string
}

var errTurn = errors.New("turn must not be negative")

// subject is what a condition checks.
type subject int

const (
	ofAgent subject = iota
	ofPurpose
	ofModel
	ofSystem
	ofUser
	ofToolResult
	ofHeader
	ofTurn
)

func (s subject) String() string {
	return [...]string{"agent", "purpose", "model", "system", "user", "tool result", "header", "turn"}[s]
}

// condition is one part of a Match, validated and compiled.
type condition struct {
	of     subject
	header string
	want   pattern
	turn   int
}

// pattern is a compiled Text.
type pattern struct {
	exact    bool
	equals   string
	contains string
	matches  *regexp.Regexp
}

// compile returns the conditions of a match, or every error in it.
func (m *Match) compile() ([]condition, error) {
	var (
		conditions []condition
		failures   []error
	)

	add := func(of subject, header string, text Text) {
		want, err := text.compile()
		if err != nil {
			failures = append(failures, fmt.Errorf("%s: %w", subjectName(of, header), err))
		} else if text != (Text{}) {
			conditions = append(conditions, condition{of: of, header: header, want: want})
		}
	}

	add(ofAgent, "", Text{Equals: m.Agent})
	add(ofPurpose, "", Text{Equals: m.Purpose})
	add(ofModel, "", m.Model)
	add(ofSystem, "", m.System)
	add(ofUser, "", m.User)
	add(ofToolResult, "", m.ToolResult)

	for _, name := range slices.Sorted(maps.Keys(m.Header)) {
		add(ofHeader, http.CanonicalHeaderKey(name), m.Header[name])
	}

	if m.Turn != nil {
		conditions = append(conditions, condition{of: ofTurn, turn: *m.Turn})
		if *m.Turn < 0 {
			failures = append(failures, errTurn)
		}
	}

	return conditions, errors.Join(failures...)
}

func (t Text) compile() (pattern, error) {
	want := pattern{exact: t.Equals != "", equals: t.Equals, contains: t.Contains}
	if t.Matches == "" {
		return want, nil
	}

	expression, err := regexp.Compile(t.Matches)
	if err != nil {
		return pattern{}, fmt.Errorf("read a pattern: %w", err)
	}

	want.matches = expression

	return want, nil
}

// holds reports whether a condition holds. It runs for every call, so it does not allocate.
func (c *condition) holds(f *facts) bool {
	switch c.of {
	case ofTurn:
		return f.turn() == c.turn
	case ofToolResult:
		recent := f.recent()
		for i := range recent {
			if recent[i].Role == llm.RoleTool && c.want.holds(recent[i].Content) {
				return true
			}
		}

		return false
	case ofAgent, ofPurpose, ofModel, ofSystem, ofUser, ofHeader:
	}

	text, there := f.text(c)

	return there && c.want.holds(text)
}

func (p *pattern) holds(text string) bool {
	return (!p.exact || text == p.equals) && strings.Contains(text, p.contains) && (p.matches == nil || p.matches.MatchString(text))
}

// failing lists the parts of the pattern that do not hold for a text; if there is no text, that is all of them.
func (p *pattern) failing(text string, there bool) []string {
	var parts []string
	if p.exact && (!there || text != p.equals) {
		parts = append(parts, "be "+strconv.Quote(short(p.equals, shortMessage)))
	}

	if p.contains != "" && (!there || !strings.Contains(text, p.contains)) {
		parts = append(parts, "contain "+strconv.Quote(short(p.contains, shortMessage)))
	}

	if p.matches != nil && (!there || !p.matches.MatchString(text)) {
		parts = append(parts, "match "+strconv.Quote(short(p.matches.String(), shortMessage)))
	}

	return parts
}

// String describes a condition for people.
func (c *condition) String() string {
	name := subjectName(c.of, c.header)

	switch c.of {
	case ofTurn:
		return name + " " + strconv.Itoa(c.turn)
	case ofAgent, ofPurpose:
		return name + " " + c.want.equals
	case ofModel, ofSystem, ofUser, ofToolResult, ofHeader:
	}

	var parts []string
	if c.want.exact {
		parts = append(parts, "is "+strconv.Quote(short(c.want.equals, shortReply)))
	}

	if c.want.contains != "" {
		parts = append(parts, "contains "+strconv.Quote(short(c.want.contains, shortReply)))
	}

	if c.want.matches != nil {
		parts = append(parts, "matches "+strconv.Quote(short(c.want.matches.String(), shortReply)))
	}

	return name + " " + strings.Join(parts, " and ")
}

func subjectName(of subject, header string) string {
	if of == ofHeader {
		return "header " + header
	}

	return of.String()
}
