package mcp

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// argumentKey matches names of arguments; words before a colon in a sentence mostly do not match.
var argumentKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`)

// parsePairs parses `key: value` and `key=value`, separated by commas or line breaks. A comma belongs to the value if no pair follows
// it. A repeated key means that this is not a list of arguments.
func parsePairs(text string, known shape) ([]member, bool) {
	parts, ok := splitPairs(text)
	if !ok {
		return nil, false
	}
	var pairs []pair
	seen := make(map[string]bool)
	for _, p := range parts {
		if strings.TrimSpace(text[p.begin:p.end]) == "" {
			continue
		}
		next, isPair := readPair(text, p, known)
		switch {
		case isPair && seen[next.key]:
			return nil, false
		case isPair:
			seen[next.key] = true
			pairs = append(pairs, next)
		case p.afterComma && len(pairs) > 0:
			pairs[len(pairs)-1].end = p.end
		default:
			return nil, false
		}
	}
	members := make([]member, len(pairs))
	for i, p := range pairs {
		members[i] = member{p.key, p.value(text, known.isText(p.key))}
	}

	return members, len(members) > 0
}

// part is a piece of a text.
type part struct {
	begin, end int
	afterComma bool
}

// splitPairs splits a text at commas and line breaks that are neither quoted nor in brackets. Quotes and brackets count only at the
// beginning of a key or a value: an apostrophe is not a quote. It returns false if one stays open.
func splitPairs(text string) ([]part, bool) {
	var parts []part
	var closers []byte // closing characters of the open quotes and brackets
	begin, afterComma, fresh := 0, false, true
	for i := 0; i < len(text); i++ {
		c, closer := text[i], byte(0)
		if len(closers) > 0 {
			closer = closers[len(closers)-1]
		}
		switch {
		case c == '\\' && isQuote(closer):
			i++
		case c == closer:
			closers = closers[:len(closers)-1]
		case isQuote(closer):
		case closerOf(c) != 0 && (fresh || closer != 0):
			closers = append(closers, closerOf(c))
		case closer == 0 && (c == ',' || c == '\n'):
			parts = append(parts, part{begin, i, afterComma})
			begin, afterComma = i+1, c == ','
		}
		fresh = strings.IndexByte(",\n:=", c) >= 0 || fresh && (c == ' ' || c == '\t')
	}

	return append(parts, part{begin, len(text), afterComma}), len(closers) == 0
}

func closerOf(c byte) byte {
	switch c {
	case '[':
		return ']'
	case '{':
		return '}'
	case '"', '\'':
		return c
	default:
		return 0
	}
}

func isQuote(c byte) bool { return c == '"' || c == '\'' }

// pair is one argument as it was written; the value is a range of the text.
type pair struct {
	key        string
	begin, end int
}

// readPair parses one pair. A colon needs a space after it unless the tool has the key: an address such as host:80 is not a pair.
func readPair(text string, p part, known shape) (pair, bool) {
	at := strings.IndexAny(text[p.begin:p.end], ":=")
	if at < 0 {
		return pair{}, false
	}
	at += p.begin
	key, value := unquoted(strings.TrimSpace(text[p.begin:at])), text[at+1:p.end]
	if !argumentKey.MatchString(key) || strings.HasPrefix(value, "=") {
		return pair{}, false
	}
	if text[at] == ':' && value != "" && strings.IndexByte(" \t\r\n", value[0]) < 0 && !known.has(key) {
		return pair{}, false
	}

	return pair{key, at + 1, p.end}, true
}

// value returns the value for the tool; asText keeps it from becoming a number.
func (p pair) value(text string, asText bool) json.RawMessage {
	word := strings.TrimSpace(text[p.begin:p.end])
	switch bare := unquoted(word); {
	case bare != word:
		return quoted(bare)
	case asText:
		return quoted(word)
	case word != "" && (word[0] == '[' || word[0] == '{') && json.Valid([]byte(word)):
		return json.RawMessage(word)
	default:
		return coerced(word)
	}
}

// unquoted removes the quotes that enclose a text, and returns any other text as it is.
func unquoted(text string) string {
	if len(text) < 2 || !isQuote(text[0]) || text[len(text)-1] != text[0] {
		return text
	}
	var value string
	if text[0] == '"' && json.Unmarshal([]byte(text), &value) == nil {
		return value
	}
	inner := text[1 : len(text)-1]
	if strings.IndexByte(inner, text[0]) >= 0 {
		return text // such as "a" and "b"
	}

	return inner
}

var (
	integer = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,39})$`)
	decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,39})(\.[0-9]{1,40})?([eE][+-]?[0-9]{1,4})?$`)
)

// coerced converts an unquoted word to its type. Numbers are passed on digit by digit, and stay text where JSON or a float cannot
// represent them: 007, 1e999.
func coerced(word string) json.RawMessage {
	switch strings.ToLower(word) {
	case "true":
		return json.RawMessage(`true`)
	case "false":
		return json.RawMessage(`false`)
	case "null", "none":
		return json.RawMessage(`null`)
	}
	if integer.MatchString(word) {
		return json.RawMessage(word)
	}
	if decimal.MatchString(word) {
		if _, err := strconv.ParseFloat(word, 64); err == nil {
			return json.RawMessage(word)
		}
	}

	return quoted(word)
}
