package mask

import (
	"encoding/base64"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// plausible reports whether a value of a class may be a secret. Not every value with such a name is one: references, placeholders, file
// names and words of prose follow these names as well.
func plausible(class, text string, v value) bool {
	if len(text) > longestDoubt {
		return true
	}

	if len(text) < 4 || placeholder(text, v) || strings.HasPrefix(text, markerStart) {
		return false
	}

	switch class {
	case password:
		return plausiblePassword(text, v)
	case barePass:
		return plausibleBarePass(text) && plausiblePassword(text, v)
	case credential:
		return looksRandom(text) || isUserAndPassword(text)
	case authorization:
		return isUserPassword(text)
	case authority, privateKey:
		return len(text) >= 32 && !isReference(text, v)
	default:
		return looksRandom(text) && (v.sign != word || len(text) >= 32) || v.query && plausibleParameter(text)
	}
}

// plausibleBarePass checks values of the name pass more strictly: tests pass, too.
func plausibleBarePass(text string) bool {
	return len(text) >= 6 && !isLetters(text) && hasLetter(text) && !isKebab(text) && !strings.HasPrefix(text, "Test")
}

func plausibleParameter(text string) bool { return hasDigit(text) && len(text) >= 12 && !isPath(text) }

// plausiblePassword accepts nearly everything, because people choose all sorts of passwords.
func plausiblePassword(text string, v value) bool {
	lowered := strings.ToLower(text)

	switch {
	case slices.Contains(harmlessWords, lowered), isPath(text), isReference(text, v):
		return false
	case v.sign == is, v.sign == word:
		return len(text) >= 8 && hasDigit(text) && hasLetter(text)
	case v.sign == tuple:
		return !strings.Contains(text, " ") && !isLetters(text)
	case v.quoted:
		return !strings.Contains(text, " ") || hasDigit(text)
	case v.sign == gap && !v.quoted, v.sign == colon && !v.first:
		// In prose a word follows a colon: "invalid password: unexpected end".
		return !isLetters(text)
	default:
		return true
	}
}

var harmlessWords = []string{
	"true", "false", "null", "none", "nil", "undefined", "required", "optional", "string", "empty", "unset", "disabled", "enabled", "hidden",
	"redacted", "masked", "omitted", "removed", "prompt", "expired", "invalid", "missing", "incorrect", "wrong", "password", "passwd", "secret",
	"not-set", "n/a", "never", "always", "auto", "default", "secretkeyref", "strict", "plain", "text", "bytes",
}

// placeholders match text where a secret will be inserted later, or was removed.
var placeholders = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\$[A-Za-z_]\w*$|\$\{|\$\(|\{[{A-Za-z_]|<|%[A-Za-z_]+%$|%\(|\$\d+$|#\{|\[[A-Za-z_ -]+\]|\(|(?i:your[-_ ]|redacted|example[-_]|placeholder|changeme$|insert[-_ ]|todo$|vault:|secretref:|env:|file:|ref\+|aws-sm:|op://))`)
})

func placeholder(text string, v value) bool {
	if strings.Contains(text, "***") || strings.Contains(text, "...") && len(text) < 12 {
		return true
	}

	if v.sign == colon && !v.quoted && strings.IndexByte("!&*{[", text[0]) >= 0 {
		return true
	}

	same := true
	for i := range len(text) {
		same = same && text[i] == text[0]
	}

	return same || placeholders().MatchString(text)
}

// isPath recognizes file names. Base64 may begin with a slash too, but contains capitals.
func isPath(text string) bool {
	rest := strings.TrimPrefix(strings.TrimPrefix(text, "~"), ".")
	if !strings.HasPrefix(rest, "/") {
		return strings.Contains(text, "://")
	}

	return strings.Count(rest, "/") > 1 && !strings.ContainsAny(rest, "+=") || !slices.ContainsFunc([]byte(rest), isUpper)
}

// isReference recognizes program code: a variable, a field or a call.
func isReference(text string, v value) bool {
	if v.quoted {
		return false
	}

	if strings.ContainsAny(text, "([") {
		return true
	}

	head, _, dotted := strings.Cut(text, ".")

	return dotted && isLetters(head) && !hasDigit(text) && strings.IndexFunc(text, func(r rune) bool {
		return r > 127 || !isWord(byte(r)) && r != '.'
	}) < 0
}

// looksRandom distinguishes machine-generated text from names and words.
func looksRandom(text string) bool {
	if len(text) < 8 || isPath(text) || strings.ContainsAny(text, " (){}<>\\") {
		return false
	}

	if len(text) >= 16 && hasDigit(text) && !isKebab(text) {
		return true
	}

	if len(text) >= 16 && jumps(text)*10 >= len(text)*3 && !isKebab(text) {
		return true
	}

	return hasDigit(text) && hasLetter(text) && entropy(text) > 2.7 && !isKebab(text)
}

// isScrambled recognizes words that do not occur in prose, for values that are separated by only a space.
func isScrambled(text string) bool {
	return len(text) >= 8 && hasDigit(text) && mixedCase(text) && jumps(text)*10 > len(text)*4 && !strings.ContainsAny(text, `:/\@=(`)
}

// isKebab recognizes names: words joined by signs, some with a number or version at the end.
func isKebab(text string) bool {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("-_./:", r) })
	if len(parts) < 2 {
		return false
	}

	for _, part := range parts {
		digits := 0

		for _, c := range []byte(part) {
			if isDigit(c) {
				digits++
			}
		}

		if digits > 0 && digits < len(part) && len(part) > 5 || len(part) > 16 || mixedCase(part) && digits > 0 {
			return false
		}
	}

	return true
}

func isUserPassword(text string) bool {
	raw, err := base64.StdEncoding.DecodeString(text)

	return err == nil && len(raw) >= 5 && slices.Contains(raw, ':') && printable(raw)
}

// isUserAndPassword recognizes ada:hunter2, but not host:port.
func isUserAndPassword(text string) bool {
	user, secret, ok := strings.Cut(text, ":")

	return ok && user != "" && len(secret) >= 6 && hasLetter(secret) && !isLetters(secret) && !strings.ContainsAny(text, " /")
}

func printable(raw []byte) bool {
	return !slices.ContainsFunc(raw, func(c byte) bool { return (c < ' ' && !isSpace(c)) || c > '~' })
}

func hasDigit(text string) bool  { return slices.ContainsFunc([]byte(text), isDigit) }
func hasLetter(text string) bool { return strings.IndexFunc(text, isLetter) >= 0 }
func isLetters(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return !isLetter(r) }) < 0
}

func mixedCase(text string) bool {
	return slices.ContainsFunc([]byte(text), isUpper) && slices.ContainsFunc([]byte(text), isLower)
}

func isLetter(r rune) bool { return r < 128 && (isUpper(byte(r)) || isLower(byte(r))) }

// jumps counts the boundaries between capitals, lower-case letters and digits. Machine-generated text has many; a camel-case name has
// two per word.
func jumps(text string) int {
	sort := func(c byte) int {
		switch {
		case isUpper(c):
			return 1
		case isLower(c):
			return 2
		}

		return 3
	}

	count := 0

	for i := 1; i < len(text); i++ {
		if sort(text[i]) != sort(text[i-1]) {
			count++
		}
	}

	return count
}

// entropy returns the Shannon entropy in bits per character.
func entropy(text string) float64 {
	var counts [256]int
	for _, c := range []byte(text) {
		counts[c]++
	}

	sum := 0.0

	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(text))
			sum -= p * math.Log2(p)
		}
	}

	return sum
}
