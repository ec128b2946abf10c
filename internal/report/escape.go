package report

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tarsy.dev/tarsy/internal/plaintext"
)

// shortestFence is how many backticks open code.
const shortestFence = 3

// readable is a text without escape sequences and without characters that are not read but do something: control characters
// other than tabs and line breaks, and those that change the direction of text or have no width. A file is opened where
// nobody escapes them.
func readable(text string) string {
	text = ansi.Strip(text)
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)

	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && plaintext.Invisible(r) {
			return -1
		}

		return r
	}, text)
}

// fence puts a text between fences that are longer than any run of backticks in it, so that it cannot end them. They
// stand at the beginning of a line, where a fence begins whatever came before.
func fence(language, text string) string {
	text = readable(text)
	longest, run := 0, 0

	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}

		longest = max(longest, run)
	}

	marks := strings.Repeat("`", max(shortestFence, longest+1))

	return marks + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + marks
}

// inline makes a text part of a line: one line, not longer than limit, and nothing in it is Markdown. What could begin
// HTML is written as an entity: behind a bare address a backslash counts as part of the address, and escapes nothing.
func inline(text string, limit int) string {
	text = strings.Join(strings.Fields(readable(text)), " ")
	shown := plaintext.Cut(text, limit)
	cut := len(shown) < len(text)

	var b strings.Builder

	for i, r := range shown {
		switch {
		case r == '<':
			b.WriteString("&lt;")

			continue
		case strings.ContainsRune("\\`*_[]>|~&", r), i == 0 && strings.ContainsRune("#+-=", r):
			b.WriteByte('\\')
		}

		b.WriteRune(r)
	}

	if cut {
		b.WriteString("…")
	}

	return b.String()
}

// What of Markdown is changed line by line, also within lists and quotations.
var (
	heading   = regexp.MustCompile(`^((?:[ \t>*+-]|\d+[.)])*)(#{1,6})(?:[ \t]|$)`)
	underline = regexp.MustCompile(`^((?:[ \t>*+]|\d+[.)])*)(?:=+|-+)[ \t]*$`)
	tag       = regexp.MustCompile(`<([A-Za-z/!?])`)
	fenceMark = regexp.MustCompile("`{3,}|~{3,}")
	// What follows the text of a link: a target that is safe, or any other.
	target = regexp.MustCompile(`\]\((?:[ \t]*(?i:https?://|mailto:|#))?`)
	// A definition of a link that is safe, whole in one line. No label has a call's number: it would turn a citation into a
	// link that leads away.
	definition = regexp.MustCompile(`^[ \t>]*\[([^\[\]\\]+)\]:[ \t]+(?i:https?://)`)
	callNumber = regexp.MustCompile(`\d\.\d+\.\d`)
)

// The levels of headings under which models' texts stand, and the lowest that there is.
const (
	sectionLevel  = 2
	questionLevel = 3
	deepest       = 6
)

// harmless keeps a model's Markdown readable as Markdown, without what could reach beyond it: HTML, images, links
// that are not to the web, headings that pass for the report's own (they go below a level), and code that does not end.
//
// Code is rewritten, at the beginning of a line and with fences of our own; every other run of marks that could be a
// fence is escaped. So what is code here is code for every reader, and nothing outside of it is HTML.
func harmless(text string, level int) string {
	var (
		b    strings.Builder
		open string
		code []string
	)

	end := func() {
		b.WriteString(fence("", strings.Join(code, "\n")) + "\n")

		open, code = "", nil
	}

	for line := range strings.SplitSeq(readable(text), "\n") {
		mark, rest := fenceOf(line)

		switch {
		case open == "" && mark != "":
			open = mark
		case open == "":
			b.WriteString(harmlessLine(line, level) + "\n")
		case strings.HasPrefix(mark, open) && rest == "":
			end()
		default:
			code = append(code, line)
		}
	}

	if open != "" {
		end()
	}

	return strings.Trim(b.String(), "\n")
}

// fenceOf is the run of marks that a line begins with, if it could open or close code, and what is behind it.
func fenceOf(line string) (mark, rest string) {
	line = strings.TrimSpace(line)

	at := fenceMark.FindStringIndex(line)
	if at == nil || at[0] != 0 {
		return "", ""
	}

	mark, rest = line[:at[1]], strings.TrimSpace(line[at[1]:])

	// Behind backticks that open code there are no others: that would be code within the line.
	if mark[0] == '`' && strings.Contains(rest, "`") {
		return "", ""
	}

	return mark, rest
}

// harmlessLine is a line outside of code.
func harmlessLine(line string, level int) string {
	// Below a line of text this would make a heading of it; alone it is a rule.
	line = underline.ReplaceAllString(line, "$1* * *")

	if at := heading.FindStringSubmatchIndex(line); at != nil {
		line = line[:at[4]] + strings.Repeat("#", min(at[5]-at[4]+level, deepest)) + line[at[5]:]
	}

	line = tag.ReplaceAllString(line, "&lt;$1")
	line = strings.ReplaceAll(line, "![", `!\[`)
	line = harmlessLinks(line)

	return fenceMark.ReplaceAllStringFunc(line, func(mark string) string { return strings.Repeat(`\`+mark[:1], len(mark)) })
}

// harmlessLinks leaves links to the web and mail and makes text of all others: javascript:, data: and the like, however
// they are encoded, and definitions that shadow a citation. The bracket becomes an entity, which is never part of a link;
// a backslash would be undone by another one before it.
func harmlessLinks(line string) string {
	const bracket = "&#93;"

	line = target.ReplaceAllStringFunc(line, func(found string) string {
		if found != "](" {
			return found
		}

		return bracket + "("
	})

	if label := definition.FindStringSubmatch(line); label != nil && !callNumber.MatchString(label[1]) {
		return line
	}

	return strings.ReplaceAll(line, "]:", bracket+":")
}
