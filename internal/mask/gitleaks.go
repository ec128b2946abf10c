package mask

import (
	"slices"
	"strings"

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
