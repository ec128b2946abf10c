package mask

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// rule is a regular expression, with the words that trigger it.
type rule struct {
	name   string // of the pattern that must be wanted
	marker string
	words  []string
	group  int // the expression's group that is the secret; 0 means what secretGroups finds
	check  func(s *scan, match window, secret string) bool
	near   lookaround // if set, it replaces the outline
	// leaks means that the rule replaces one of gitleaks, and is part of that group too.
	leaks bool

	expression string
	named      bool // nameBefore was removed from the expression
	outline    func() outline
	groups     func() []int // see secretGroups
	re         func() *regexp.Regexp
	anchored   func() *regexp.Regexp // re, anchored at the beginning of a text
}

// nameBefore is the beginning of a name in most rules of gitleaks. It changes nothing about what they find, but makes them try fifty
// starts at every character; so it is removed, and the beginning of the name is found afterwards.
const (
	nameBefore        = `[\w.-]{0,50}?`
	longestNameBefore = 50
)

// newRule prepares a rule; its expression is parsed when one of its words first occurs.
func newRule(name, expression string, words ...string) *rule {
	expression, named := strings.CutPrefix(expression, "(?i)"+nameBefore)
	if named {
		expression = "(?i)" + expression
	} else if expression, named = strings.CutPrefix(expression, nameBefore+"(?i:"+nameBefore); named {
		expression = "(?i:" + expression
	}

	r := &rule{name: name, marker: name, words: words, expression: expression, named: named}
	r.outline = sync.OnceValue(func() outline { return outlineOf(expression, r.group, words) })
	r.groups = sync.OnceValue(func() []int { return secretGroups(expression, r.group) })
	r.re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
	r.anchored = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\A(?:` + expression + `)`) })

	return r
}

func (r *rule) wanted(by names) bool { return by[r.name] || r.leaks && by[gitleaksGroup] }

// shape is how much of the text around a word a rule must see.
type shape int

const (
	// free rules see the length of their longest match, on both sides of the word.
	free shape = iota
	// assigned rules match a name, a sign such as = and a value.
	assigned
	// compact rules match within one run of token characters.
	compact
)

// outline describes the matches of an expression, derived from its syntax.
type outline struct {
	shape    shape
	shortest int // of the secret
	longest  int // of the match; unbounded if it has no end
	compact  bool
	letters  *[256]bool // of the secret
	// atWord means that every match begins with one of the rule's words, regardless of what precedes it.
	atWord bool
}

const (
	unbounded = 1 << 20
	// slack is how far beyond its match a rule sees, for word boundaries.
	slack = 4
	// prefixBefore is how much of a name assigned rules see before their word.
	prefixBefore = 16
	// reach is how far a rule without a longest match sees, at least.
	reach = 512
)

// assignmentSign is the sign between name and value in the rules of gitleaks that match by name.
const assignmentSign = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`

func outlineOf(expression string, group int, words []string) outline {
	tree, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return outline{}
	}

	secret := capture(tree, group)
	shortest, _ := lengths(secret)
	_, longest := lengths(tree)
	o := outline{shortest: shortest, longest: min(longest, unbounded), compact: isCompact(secret), letters: &[256]bool{}}
	collect(secret, o.letters)

	heads, _ := beginnings(tree)
	o.atWord = len(heads) > 0 && !slices.ContainsFunc(heads, func(head string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(head, word) })
	})

	switch {
	case strings.Contains(expression, assignmentSign):
		o.shape = assigned
	case shortest >= 6 && o.compact:
		// The word must be within the run: only boundaries are allowed around the secret.
		if _, outside := lengthsWithout(tree, secret); secret == tree || outside <= slack-1 {
			o.shape = compact
		}
	}

	return o
}

// window returns what the rule must see to check a word, or false if the rule cannot match there.
func (r *rule) window(s *scan, start, end int) (window, bool) {
	if r.near != nil {
		return r.near(s, start, end)
	}

	o := r.outline()

	switch o.shape {
	case compact:
		run := s.runAt(start)
		if run.end-run.start < o.shortest {
			return window{}, false
		}

		return s.around(max(run.start, start-o.longest)-slack, min(run.end, end+o.longest)+slack), true
	case assigned:
		from := assignedAfter(s.text, end)
		if from < 0 {
			return window{}, false
		}

		if o.compact {
			for n := range o.shortest {
				if from+n >= len(s.text) || !o.letters[s.text[from+n]] {
					return window{}, false
				}
			}

			return s.around(start-prefixBefore, s.spaceAfter(from)+slack), true
		}

		return s.around(start-prefixBefore, r.end(s, o, end)), true
	case free:
	}

	return s.around(start-min(o.longest, reach)-slack, r.end(s, o, end)), true
}

// end returns the end of what the rule sees. A match of unbounded length may extend to the next space.
func (r *rule) end(s *scan, o outline, from int) int {
	if o.longest < 4*reach {
		return from + o.longest + slack
	}

	return s.spaceAfter(min(from+reach, len(s.text))) + slack
}

func (s *scan) around(start, end int) window {
	return window{max(0, start), min(len(s.text), end)}
}

// assignedAfter returns where the value begins after the word of a name, the rest of the name and a sign; or -1.
func assignedAfter(text string, at int) int {
	limit := min(len(text), at+60)
	for at < limit && (isName(text[at]) || text[at] == ' ' || text[at] == '\t') {
		at++
	}

	for n := 0; n < 3 && at < len(text) && (isSpace(text[at]) || text[at] == '\'' || text[at] == '"'); n++ {
		at++
	}

	if at >= len(text) || strings.IndexByte("=>:|?,", text[at]) < 0 {
		return -1
	}

	for n := 0; n < 10 && at < len(text) && strings.IndexByte("=>:|?,`'\" \t\r\n", text[at]) >= 0; n++ {
		at++
	}

	return at
}
