package mask

import (
	"slices"
	"strings"
)

// assignments finds values by their names: PASSWORD=…, "apiKey": "…", --token …, <secret>…</secret>, and the pairs of name and value in
// a pod's environment. It parses names and quotes by hand: a regular expression cannot determine how deep a quote is escaped, nor
// whether a value ends at a comma.
func assignments() finder {
	return finder{
		words: []string{"pass", "pw", "psk", "secret", "token", "key", "auth", "cred", "-data"},
		at:    (*scan).assignment,
	}
}

const (
	longestName = 80
	// longestQuoted is how far to search for a closing quote.
	longestQuoted = 16 << 10
	// longestDoubt is the length above which a value is hidden without further checks. A value that is not hidden may be read again, a
	// hidden one is not, so this keeps the time linear.
	longestDoubt = 512
)

func (s *scan) assignment(start, end int) {
	if start < s.named {
		return
	}

	name := s.nameAt(start, end)
	s.named = name.end

	at, sign := s.signAfter(name)
	if sign == noSign {
		s.reversed(name)

		return
	}

	text := s.text[name.start:name.end]

	class := classify(text)
	if class == "" {
		s.list(at, sign, name, pluralClass(text))

		return
	}

	if sign == word && !s.followedByValue(name, class) || sign == call && !isSetter(text) || s.list(at, sign, name, class) {
		return
	}

	if pattern := s.patternOf(class); pattern != "" {
		v := s.valueAt(at, sign, name)
		if v.start < v.end && plausible(class, v.content(s.text), v) {
			s.hide(v.start, v.end, pattern)
			s.named = max(s.named, v.end)
		}
	}
}

// followedByValue reports whether the word after a name can be its value: in commands that set a variable, in a line that contains
// nothing else, and for names that do not occur in prose.
func (s *scan) followedByValue(name window, class string) bool {
	text := s.text[name.start:name.end]
	at := skipSpaces(s.text, name.end)
	next := s.text[at:skipRun(s.text, at)]

	switch {
	case class == awsSecretKey, strings.Contains(text, "_") && text == strings.ToUpper(text):
		return true
	case class == token, class == apiKey, class == secretKey:
		// In prose, the word after such a name is as long as a token only if it is one, or an identifier.
		return len(next) >= 32 && !isUUID(next)
	case (class == password || class == barePass) && isScrambled(next):
		return true
	case slices.ContainsFunc(setters, func(setter string) bool { return strings.HasSuffix(s.text[:name.start], setter) }):
		return true
	}

	return class == password && s.first(name.start) && s.endsLine(at+len(next))
}

// setters are commands and settings that are followed by a name and its value.
var setters = []string{"ENV ", "setx ", "setenv ", "SetEnv ", "set -x ", "set -gx ", "fastcgi_param ", "proxy_set_header "}

// endsLine reports whether a line or the text ends at a position.
func (s *scan) endsLine(at int) bool {
	at = skipSpaces(s.text, at)

	return at >= len(s.text) || breakAt(s.text, at) > 0
}

// isSetter distinguishes setPassword("…") from getPassword("…"), whose argument is a name.
func isSetter(name string) bool {
	parts := split(name)

	return len(parts) == 1 || slices.Contains([]string{"set", "with", "add", "use"}, parts[0]) || slices.Contains(parts, "set") || slices.Contains(parts, "with")
}

// patternOf returns the wanted pattern for a class of names. Some classes belong to two patterns.
func (s *scan) patternOf(class string) string {
	if s.wanted[class] {
		return class
	}

	switch {
	case class == awsSecretKey && s.wanted[secretKey]:
		return secretKey
	case class == authorization && s.wanted[token]:
		return token
	case class == barePass && s.wanted[password]:
		return password
	case class == credential && s.wanted[secretKey]:
		return secretKey
	}

	return ""
}

// nameAt extends a word to the whole name.
func (s *scan) nameAt(start, end int) window {
	for n := 0; n < longestName && start > s.named && isName(s.text[start-1]); n++ {
		start--
	}

	for n := 0; n < longestName && end < len(s.text) && isName(s.text[end]); n++ {
		end++
	}

	// In escaped text a line break is a backslash and an n, which is not part of the name.
	if start > 0 && s.text[start-1] == '\\' && strings.IndexByte("nrt", s.text[start]) >= 0 {
		start++
	}

	if start > 0 && s.text[start-1] == '\\' && isUnicode(s.text[start:end]) {
		start += len("u0026")
	}

	return window{start, end}
}

// isUnicode reports whether a name begins with the rest of an escaped character, as & and < are in JSON.
func isUnicode(name string) bool { return len(name) > len("u0026") && strings.HasPrefix(name, "u00") }
