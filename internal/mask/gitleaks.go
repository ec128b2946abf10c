package mask

import (
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/mask/gitleaks"
)

// gitleaksRules converts the embedded rules of gitleaks. Compiling all of them takes longer than a server's start, so each is compiled
// when one of its keywords first occurs.
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

			if r.ID == genericRule && isNoKey(nameBeforeSecret(s.text[match.start:match.end], secret), secret) {
				return false
			}

			return !slices.ContainsFunc(allowed, func(l *allowlist) bool { return l.allowsWord(secret) }) &&
				!slices.ContainsFunc(allowed, func(l *allowlist) bool { return l.allows(s, match, secret) })
		}

		rules[i] = made
	}

	return rules
}

// genericRule matches by names such as key, which identifiers have too.
const genericRule = "generic-api-key"

// isNoKey recognizes identifiers, hashes, pages and settings, as in password_policy: min_length=12, with names that do not indicate a
// secret.
func isNoKey(name, secret string) bool {
	if classify(name) != "" {
		return false
	}

	if isAlertKey(name) {
		return true
	}

	key, setting, _ := strings.Cut(secret, "=")
	lowered := strings.ToLower(name)

	// A token that classify does not consider a secret is for pagination.
	return isUUID(secret) || strings.HasSuffix(lowered, "token") || slices.Contains(hashes, lowered) || setting != "" && isLetters(strings.NewReplacer("_", "", "-", "", ".", "").Replace(key))
}

// isAlertKey recognizes the names of keys by which monitoring systems deduplicate alerts, such as PagerDuty's incident_key. They are
// part of the alert's content, and grant no access.
func isAlertKey(name string) bool {
	parts := split(name)
	if len(parts) < 2 || parts[len(parts)-1] != "key" {
		return false
	}

	return slices.Contains(alertKeys, parts[len(parts)-2])
}

// alertKeys are the words before key in such names: incident_key, dedupKey, alert_cycle_key.
var alertKeys = []string{"incident", "dedup", "deduplication", "dedupe", "alert", "cycle", "aggreg", "aggregation"}

// hashes are names of public checksums. The first one is Go's.
var hashes = []string{"h1", "md5", "sha1", "sha256", "sha384", "sha512", "digest", "checksum", "fingerprint"}

// isUUID recognizes UUIDs, which are secrets only if their name indicates it.
func isUUID(text string) bool {
	if len(text) != 36 {
		return false
	}

	for i := range len(text) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (text[i] == '-') || !dash && !isDigit(text[i]) && (text[i]|' ' < 'a' || text[i]|' ' > 'f') {
			return false
		}
	}

	return true
}

// nameBeforeSecret returns the name before the sign and the secret of a match.
func nameBeforeSecret(match, secret string) string {
	before, _, _ := strings.Cut(match, secret)
	before = strings.TrimRight(before, "=:>|?,`'\" \t\r\n")

	return before[strings.LastIndexFunc(before, func(r rune) bool { return r > 127 || !isName(byte(r)) })+1:]
}
