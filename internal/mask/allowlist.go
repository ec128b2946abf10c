package mask

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"

	"tarsy.dev/tarsy/internal/mask/gitleaks"
)

// allowlist names matches of a rule that are not secrets.
type allowlist struct {
	gitleaks.Allowlist

	// expressions returns the list's expressions; words finds its stop words, nil if it has none. Both are built for the first match
	// that needs them.
	expressions func() *alternatives
	words       func() *words
}

func newAllowlist(list gitleaks.Allowlist) *allowlist {
	l := &allowlist{Allowlist: list}
	l.expressions = sync.OnceValue(func() *alternatives { return newAlternatives(list.Regexes) })

	if len(list.StopWords) > 0 {
		l.words = sync.OnceValue(func() *words { return newWords(list.StopWords, true) })
	}

	return l
}

// allowsWord is the cheaper half of allows, for lists where either half is enough.
func (l *allowlist) allowsWord(secret string) bool {
	return !l.All && l.words != nil && l.words().in(secret)
}

func (l *allowlist) allows(s *scan, match window, secret string) bool {
	if !l.All {
		return l.matches(s, match, secret)
	}

	return (l.words == nil || l.words().in(secret)) && (len(l.Regexes) == 0 || l.matches(s, match, secret))
}

func (l *allowlist) matches(s *scan, match window, secret string) bool {
	if len(l.Regexes) == 0 {
		return false
	}

	switch l.Target {
	case "match":
		return l.expressions().match(s.text[match.start:match.end])
	case "line":
		return l.expressions().match(s.line(match))
	default:
		return l.expressions().match(secret)
	}
}

// alternatives are expressions of which any may match. A single joined expression would be so large that package regexp falls back to
// its slowest matcher, and it would be tried on every match of a rule. Separately, nearly all of them are ruled out because a literal
// that they need is not in the text.
type alternatives struct {
	each []alternative
	// literals finds the literals that the alternatives need.
	literals *words
}

type alternative struct {
	re *regexp.Regexp
	// needs are sets of literals, by their index in alternatives.literals: a match contains at least one of each set.
	needs [][]int32
}

func newAlternatives(expressions []string) *alternatives {
	// Gitleaks joins them like this, so flags of one expression also apply to those after it.
	joined := strings.Join(expressions, "|")

	tree, err := syntax.Parse(joined, syntax.Perl)
	if err != nil {
		panic(err)
	}

	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpAlternate {
		parts = tree.Sub
	}

	var (
		a    = &alternatives{}
		list []string
		ids  = map[string]int32{}
	)

	for _, part := range parts {
		one := alternative{re: regexp.MustCompile(part.String())}

		for _, set := range needs(part) {
			var numbers []int32

			for _, literal := range set {
				if _, ok := ids[literal]; !ok {
					ids[literal] = int32(len(list))
					list = append(list, literal)
				}

				numbers = append(numbers, ids[literal])
			}

			one.needs = append(one.needs, numbers)
		}

		a.each = append(a.each, one)
	}

	a.literals = newWords(list, true)

	return a
}

// match reports whether any of the expressions matches.
func (a *alternatives) match(text string) bool {
	found := make([]bool, len(a.literals.size))
	a.literals.each(text, func(literal int32, _, _ int) { found[literal] = true })

	return slices.ContainsFunc(a.each, func(one alternative) bool { return one.possible(found) && one.re.MatchString(text) })
}

func (a alternative) possible(found []bool) bool {
	return !slices.ContainsFunc(a.needs, func(set []int32) bool {
		return !slices.ContainsFunc(set, func(literal int32) bool { return found[literal] })
	})
}

// line returns the line of a match, limited to what is near it.
func (s *scan) line(match window) string {
	const near = 512

	start, end := max(0, match.start-near), min(len(s.text), match.end+near)
	if i := strings.LastIndexByte(s.text[start:match.start], '\n'); i >= 0 {
		start += i + 1
	}

	if i := strings.IndexByte(s.text[match.end:end], '\n'); i >= 0 {
		end = match.end + i
	}

	return s.text[start:end]
}
