package mask

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// replaced are the rules of gitleaks that pemBlocks and rules of our own stand in for. Their matches span lines, and
// finding them takes a thousand times longer than finding others.
var replaced = []string{"private-key", "curl-auth-header", "curl-auth-user"}

// gitleaksRules reads the rules that gitleaks brings along. Its own loader would compile all of them at once, which takes
// longer than a server needs to start; here each is compiled when one of its keywords turns up.
func gitleaksRules() []*rule {
	var file config.ViperConfig
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &file); err != nil {
		panic(fmt.Errorf("read the gitleaks rules: %w", err))
	}

	var general []*listed
	if list := file.AllowList; list != nil { //nolint:staticcheck // the rules that come along still use it
		general = append(general, newListed("", list.RegexTarget, list.Regexes, list.StopWords))
	}

	var rules []*rule

	for _, r := range file.Rules {
		// Rules with a path are for files of that name.
		if r.Path != "" || r.Regex == "" || r.SkipReport || slices.Contains(replaced, r.ID) || len(r.Keywords) == 0 {
			continue
		}

		allowed := slices.Clone(general)

		for _, a := range append(r.Allowlists, r.AllowList) {
			// A list that also asks for a path or commit never allows anything in a text that has neither.
			if a == nil || strings.EqualFold(a.Condition, "AND") && len(a.Paths)+len(a.Commits) > 0 {
				continue
			}

			allowed = append(allowed, newListed(a.Condition, a.RegexTarget, a.Regexes, a.StopWords))
		}

		made := newRule(gitleaksGroup, r.Regex, lowered(r.Keywords)...)
		made.marker = strings.ReplaceAll(r.ID, "-", "_")
		made.group = r.SecretGroup
		least := r.Entropy
		made.check = func(s *scan, match window, secret string) bool {
			if least != 0 && entropy(secret) <= least {
				return false
			}

			return !slices.ContainsFunc(allowed, func(l *listed) bool { return l.allowsWord(secret) }) &&
				!slices.ContainsFunc(allowed, func(l *listed) bool { return l.allows(s, match, secret) })
		}

		rules = append(rules, made)
	}

	return rules
}

// listed is what gitleaks calls an allowlist: secrets that are none.
type listed struct {
	target string
	and    bool
	load   func() *config.Allowlist
}

func newListed(condition, target string, expressions, stopWords []string) *listed {
	l := &listed{target: target, and: strings.EqualFold(condition, "AND") || condition == "&&"}
	l.load = sync.OnceValue(func() *config.Allowlist {
		list := &config.Allowlist{StopWords: stopWords}
		for _, expression := range expressions {
			list.Regexes = append(list.Regexes, regexp.MustCompile(expression))
		}

		if len(expressions)+len(stopWords) == 0 {
			return list
		}

		if err := list.Validate(); err != nil {
			panic(fmt.Errorf("read a list of the gitleaks rules: %w", err))
		}

		return list
	})

	return l
}

// allowsWord is the cheaper half of allows, for lists of which either half is enough.
func (l *listed) allowsWord(secret string) bool {
	if l.and {
		return false
	}

	found, _ := l.load().ContainsStopWord(secret)

	return found
}

func (l *listed) allows(s *scan, match window, secret string) bool {
	list := l.load()
	subject := secret

	switch l.target {
	case "match":
		subject = s.text[match.start:match.end]
	case "line":
		subject = s.line(match)
	}

	if !l.and {
		return list.RegexAllowed(subject)
	}

	byWord, _ := list.ContainsStopWord(secret)

	return (byWord || len(list.StopWords) == 0) && (len(list.Regexes) == 0 || list.RegexAllowed(subject))
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

func lowered(list []string) []string {
	out := make([]string, len(list))
	for i, word := range list {
		out[i] = strings.ToLower(word)
	}

	return out
}
