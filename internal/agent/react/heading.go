package react

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// heading is one of the words that structure a reply.
type heading int

const (
	headThought heading = iota
	headAction
	headInput
	headObservation
	headAnswer
)

// section is a heading in a text: where its line starts, and where its body begins.
type section struct {
	heading heading
	start   int
	body    int
	// lower is set if the heading is in lower case throughout.
	lower bool
}

const codeFence = "```"

var (
	// headingLine is a heading at the start of a line: its decoration, the word, an optional number, the colon.
	headingLine = regexp.MustCompile(
		"^([\\s>#*_`-]*)(?i:(final[ _-]?answer|action[ _-]?input|action|observation|thought))(?:[ \t]*#?[0-9]{1,3})?([ \t*_`]*)(:|：)?")
	// inlineHeading is a heading that follows a sentence in the middle of a line.
	inlineHeading = regexp.MustCompile("[.!?。！？…][ \t]*([*_`]*(?:Final Answer|Action)[ \t*_`]*[:：])")
	// inlineInput is the heading of an input on the line of its action.
	inlineInput = regexp.MustCompile("(?i:[*_`]*\\baction[ _-]?input)[ \t*_`]*[:：][*_]*")
	// toolWord is a word that can only be the name of a tool.
	toolWord = regexp.MustCompile(`^[A-Za-z0-9_-]+(?:\.|__)[A-Za-z0-9_./-]+$`)
)

// sections finds the headings of a reply. Headings in marked thoughts are ignored.
func (p *parser) sections() []section {
	var found []section

	at := 0

	if trimmed := strings.TrimSpace(p.text); strings.HasPrefix(trimmed, "<think>") {
		if end := strings.Index(p.text, "</think>"); end >= 0 {
			at = end + len("</think>")
		}
	}

	for at < len(p.text) {
		line := lineAt(p.text, at)
		if s, ok := headingOf(line); ok {
			s.start, s.body = at, at+s.body
			found = append(found, s)
		}

		at += len(line) + 1
	}

	return found
}

// lineAt returns the line that begins at a position, without its line break.
func lineAt(text string, at int) string {
	line, _, _ := strings.Cut(text[at:], "\n")

	return line
}

// headingOf parses a heading. Only the final answer can omit its colon.
func headingOf(line string) (section, bool) {
	m := headingLine.FindStringSubmatchIndex(line)
	if m == nil {
		return section{}, false
	}

	word := line[m[4]:m[5]]
	s := section{heading: headingNamed(word), body: m[1], lower: word == strings.ToLower(word)}

	if m[8] < 0 {
		return s, s.heading == headAnswer && answersWithoutColon(word, line[m[6]:m[7]], line[m[1]:])
	}

	// Decoration opened before the word is closed after the colon.
	opened := line[m[2]:m[3]]
	opened = opened[len(strings.TrimRight(opened, "*_`")):]

	if opened != "" && strings.HasPrefix(line[s.body:], opened) {
		s.body += len(opened)
	}

	return s, true
}

func headingNamed(word string) heading {
	switch word = strings.ToLower(word); {
	case strings.HasPrefix(word, "final"):
		return headAnswer
	case strings.HasSuffix(word, "input"):
		return headInput
	case word == "action":
		return headAction
	case word == "observation":
		return headObservation
	default:
		return headThought
	}
}

// answersWithoutColon distinguishes a heading from a sentence that begins with the same words.
func answersWithoutColon(word, between, rest string) bool {
	rest = strings.TrimSpace(rest)
	first, _ := utf8.DecodeRuneInString(rest)

	switch {
	case rest == "":
		return true
	case strings.ContainsRune("-–—=", first):
		return true
	default:
		return between != "" && word != strings.ToLower(word) && !unicode.IsLower(first) && !unicode.IsPunct(first)
	}
}

// headingInLine finds an action or an answer that begins in the middle of a line, after a sentence.
func headingInLine(text string) int {
	m := inlineHeading.FindStringSubmatchIndex(text)
	if m == nil {
		return -1
	}

	return m[2]
}

// inputInLine finds the heading of an input within an action, and where the input begins; -1 if there is none.
func inputInLine(body string) (at, end int) {
	m := inlineInput.FindStringIndex(body)
	if m == nil {
		return -1, -1
	}

	return m[0], m[1]
}

// actionText is a parsed action: the tool's name, and where its input can be without a heading.
type actionText struct {
	name     string
	from, to int
}

// reads reports whether the text after the name can only be its input.
func (a actionText) reads(body string) bool {
	rest := strings.TrimLeft(body[a.from:], " \t\r\n")

	return strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, codeFence)
}

// splitAction extracts the name of a tool from the text of an action.
func splitAction(body string) actionText {
	at, line := 0, ""

	for at < len(body) {
		line = lineAt(body, at)
		if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.HasPrefix(trimmed, codeFence) {
			break
		}

		at, line = at+len(line)+1, ""
	}

	end := min(at+len(line), len(body))
	named := actionText{from: end, to: end}

	// A call as in a program, or with its input on the same line.
	if i := strings.IndexAny(line, "({"); i > 0 {
		if first := bareName(line[:i]); first != "" && !strings.ContainsAny(first, " \t") {
			named.name = first

			switch {
			case line[i] == '{':
				named.from = at + i
			case line[i-1] != ' ':
				named.from = at + i + 1
				if closed := strings.LastIndex(line[i+1:], ")"); closed >= 0 {
					named.to = named.from + closed
				}
			}

			return named
		}
	}

	named.name = bareName(line)

	for word := range strings.FieldsSeq(line) {
		if bare := bareName(word); toolWord.MatchString(bare) {
			named.name = bare

			break
		}
	}

	return named
}

// bareName strips the decoration that models put around a name.
func bareName(name string) string {
	around := func(set string) func(rune) bool {
		return func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(set, r) }
	}

	return strings.TrimRightFunc(strings.TrimFunc(name, around("`\"'*[]<>“”‘’")), around(".,;:!?()`\"'*"))
}

// isNoAction reports whether the name means that the model does nothing.
func isNoAction(name string) bool {
	return slices.Contains([]string{
		"none", "n/a", "na", "null", "nothing", "no action", "no action needed", "no action required", "-", "none needed",
	}, strings.ToLower(name))
}
