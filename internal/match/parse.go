package match

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxBytes is the maximum length of a matcher. Its regular expression is run on every alert.
const MaxBytes = 4096

// nameEnd contains the characters that end an unquoted name.
const nameEnd = "=!~\"'`{},\\"

// Parse parses a matcher such as namespace="payments", severity!=info or alertname=~"Disk.*". A value that contains a comma or
// a double quote must be in double quotes, in which \" is a quote, \\ a backslash and \n a line break; other backslashes are
// kept, so that \. and \d need not be doubled in regular expressions.
func Parse(text string) (Matcher, error) {
	m, err := parse(text)
	if err != nil {
		return Matcher{}, fmt.Errorf("matcher %s: %w", shorten(text), err)
	}

	return m, nil
}

// ParseAll parses matchers, one per text. Its error names the first invalid one.
func ParseAll(texts []string) (Set, error) {
	set := make(Set, 0, len(texts))

	for _, text := range texts {
		m, err := Parse(text)
		if err != nil {
			return nil, err
		}

		set = append(set, m)
	}

	return set, nil
}

func parse(text string) (Matcher, error) {
	if len(text) > MaxBytes {
		return Matcher{}, fmt.Errorf("longer than %d bytes", MaxBytes)
	}

	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return Matcher{}, errors.New("not valid UTF-8, or contains a NUL character")
	}

	text = strings.TrimSpace(text)

	switch {
	case text == "":
		return Matcher{}, errors.New(`empty; write name="value"`)
	case strings.HasPrefix(text, "{"):
		return Matcher{}, errors.New("braces are not part of a matcher; write each matcher as an entry of its own")
	}

	name, rest, err := readName(text)
	if err != nil {
		return Matcher{}, err
	}

	op, rest, err := readOp(rest)
	if err != nil {
		return Matcher{}, err
	}

	value, err := readValue(name, op, strings.TrimSpace(rest))
	if err != nil {
		return Matcher{}, err
	}

	return build(name, op, value)
}

// build creates a matcher from its parts.
func build(name string, op Op, value string) (Matcher, error) {
	m := Matcher{Name: name, Op: op, Value: value}
	if op != Matches && op != NotMatches {
		return m, nil
	}

	expression, err := compileWhole(value, "(?:")
	m.expression = expression

	return m, err
}

// Whole compiles a regular expression that must match a whole text, including line breaks.
func Whole(pattern string) (*regexp.Regexp, error) { return compileWhole(pattern, "(?s:") }

func compileWhole(pattern, group string) (*regexp.Regexp, error) {
	// First without the group: a|b)(c is only valid inside the parentheses of the anchors.
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, fmt.Errorf("invalid regular expression: %w", err)
	}

	expression, err := regexp.Compile("^" + group + pattern + ")$")
	if err != nil {
		return nil, fmt.Errorf("invalid regular expression: %w", err)
	}

	return expression, nil
}

func readName(text string) (name, rest string, err error) {
	if strings.HasPrefix(text, `"`) {
		name, rest, err = readQuoted(text)
		if err == nil && name == "" {
			err = errors.New("the name is empty")
		}

		return name, strings.TrimSpace(rest), err
	}

	end := strings.IndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(nameEnd, r) })

	switch {
	case end == 0 && strings.ContainsRune("=!~", rune(text[0])):
		return "", "", errors.New("no name before the operator")
	case end < 0:
		return "", "", fmt.Errorf(`no operator after %s; write %s="value", or use !=, =~ or !~`, shorten(text), text)
	}

	name, rest = text[:end], strings.TrimSpace(text[end:])
	if rest != "" && !strings.ContainsRune("=!~", rune(rest[0])) {
		return "", "", fmt.Errorf("no operator after the name %s; use =, !=, =~ or !~, and put a name with other characters in double quotes", shorten(name))
	}

	return name, rest, nil
}

func readOp(text string) (op Op, rest string, err error) {
	for _, op := range []Op{Matches, NotMatches, NotEqual, Equal} {
		rest, ok := strings.CutPrefix(text, string(op))
		if !ok {
			continue
		}

		if rest != "" && strings.ContainsRune("=~!", rune(rest[0])) {
			break // ==, !==, =~~
		}

		return op, rest, nil
	}

	end := 0
	for end < len(text) && strings.IndexByte("=!~", text[end]) >= 0 {
		end++
	}

	return "", "", fmt.Errorf("%s is not an operator; use =, !=, =~ or !~, and put a value that begins with one of these characters in double quotes", shorten(text[:end]))
}

func readValue(name string, op Op, text string) (string, error) {
	switch {
	case text == "":
		return "", fmt.Errorf(`no value after %s; write %s%s"" for an empty value`, op, name, op)
	case text[0] == '\'' || text[0] == '`':
		return "", errors.New("put the value in double quotes, not in single quotes or backquotes")
	case text[0] != '"':
		if strings.ContainsAny(text, `,"`) {
			return "", errors.New("put a value with a comma or a double quote in double quotes, and write each matcher as an entry of its own")
		}

		return text, nil
	}

	value, rest, err := readQuoted(text)

	switch {
	case err != nil:
		return "", err
	case strings.HasPrefix(strings.TrimSpace(rest), ","):
		return "", errors.New("more than one matcher; write each as an entry of its own")
	case strings.TrimSpace(rest) != "":
		return "", fmt.Errorf(`unexpected text after the closing quote: %s; write \" for a quote within the value`, shorten(strings.TrimSpace(rest)))
	}

	return value, nil
}

// readQuoted reads the quoted string at the start of text.
func readQuoted(text string) (value, rest string, err error) {
	var out strings.Builder

	for at := 1; at < len(text); at++ {
		switch c := text[at]; {
		case c == '"':
			return out.String(), text[at+1:], nil
		case c == '\\' && at+1 < len(text) && strings.IndexByte(`"\n`, text[at+1]) >= 0:
			at++
			if text[at] == 'n' {
				out.WriteByte('\n')
			} else {
				out.WriteByte(text[at])
			}
		default:
			out.WriteByte(c)
		}
	}

	return "", "", errors.New(`the closing double quote is missing`)
}

// quote is the inverse of readQuoted.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text) + `"`
}

func isPlainName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(nameEnd, r) })
}

// shorten quotes and truncates a text for an error message.
func shorten(text string) string {
	const limit = 80

	runes := []rune(strings.ToValidUTF8(text[:min(len(text), limit*utf8.UTFMax)], "\uFFFD"))
	if len(runes) > limit {
		return fmt.Sprintf("%q…", string(runes[:limit]))
	}

	return fmt.Sprintf("%q", text)
}
