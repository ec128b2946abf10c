package mask

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"tarsy.dev/tarsy/internal/mask/gitleaks"
)

// gitleaksRules makes the embedded rules of gitleaks ready. Compiling all of them takes longer than a server needs to
// start, so each is compiled when one of its keywords first turns up.
func gitleaksRules() []*rule {
	file, err := gitleaks.Load()
	if err != nil {
		panic(err)
	}

	general := newAllowlist(file.Allowlist)
	rules := make([]*rule, len(file.Rules))

	for i, r := range file.Rules {
		allowed := []*allowlist{general}
		for _, list := range r.Allowlists {
			allowed = append(allowed, newAllowlist(list))
		}

		made := newRule(gitleaksGroup, r.Regex, r.Keywords...)
		made.marker = strings.ReplaceAll(r.ID, "-", "_")
		made.group = r.SecretGroup
		made.check = func(s *scan, match window, secret string) bool {
			if r.Entropy != 0 && entropy(secret) <= r.Entropy {
				return false
			}

			return !slices.ContainsFunc(allowed, func(l *allowlist) bool { return l.allowsWord(secret) }) &&
				!slices.ContainsFunc(allowed, func(l *allowlist) bool { return l.allows(s, match, secret) })
		}

		rules[i] = made
	}

	return rules
}

// allowlist names matches of a rule that are not secrets.
type allowlist struct {
	gitleaks.Allowlist

	// re is one expression for all of the list's, nil if it has none; words finds its stop words, nil if it has none.
	// Both are made when the first match needs them.
	re    func() *regexp.Regexp
	words func() *words
}

func newAllowlist(list gitleaks.Allowlist) *allowlist {
	l := &allowlist{Allowlist: list}

	if len(list.Regexes) > 0 {
		// Gitleaks joins them like this, without groups of their own.
		l.re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strings.Join(list.Regexes, "|")) })
	}

	if len(list.StopWords) > 0 {
		l.words = sync.OnceValue(func() *words { return newWords(list.StopWords, true) })
	}

	return l
}

// allowsWord is the cheaper half of allows, for lists of which either half is enough.
func (l *allowlist) allowsWord(secret string) bool {
	return !l.All && l.words != nil && l.words().in(secret)
}

func (l *allowlist) allows(s *scan, match window, secret string) bool {
	if !l.All {
		return l.re != nil && l.re().MatchString(l.subject(s, match, secret))
	}

	return (l.words == nil || l.words().in(secret)) && (l.re == nil || l.re().MatchString(l.subject(s, match, secret)))
}

// subject is what the list's expressions are tried on.
func (l *allowlist) subject(s *scan, match window, secret string) string {
	switch l.Target {
	case "match":
		return s.text[match.start:match.end]
	case "line":
		return s.line(match)
	default:
		return secret
	}
}

// line returns the line of a match, or so much of it as is near.
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
