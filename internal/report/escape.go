package report

import (
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"tarsy.dev/tarsy/internal/plaintext"
)

// shortestFence is the minimum number of backticks that open a code block.
const shortestFence = 3

// readable removes escape sequences and invisible characters with an effect: control characters other than tabs and line
// breaks, and characters that change the direction of text or have no width. Programs that open the file will not escape them.
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

// fence puts a text between fences that are longer than any run of backticks in it, so that it cannot end the block. The fences
// are at the start of a line, where they open a block whatever precedes them.
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

// inline makes a text part of a line: a single line, not longer than limit, without effective Markdown. The start of HTML is
// written as an entity: after a bare URL, a backslash counts as part of the URL and escapes nothing.
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

// Markdown that is changed line by line, also within lists and quotations.
var (
	heading   = regexp.MustCompile(`^((?:[ \t>*+-]|\d+[.)])*)(#{1,6})(?:[ \t]|$)`)
	underline = regexp.MustCompile(`^((?:[ \t>*+]|\d+[.)])*)(?:=+|-+)[ \t]*$`)
	tag       = regexp.MustCompile(`<([A-Za-z/!?])`)
	fenceMark = regexp.MustCompile("`{3,}|~{3,}")
	// What follows the text of a link: a safe target, or any other.
	target = regexp.MustCompile(`\]\((?:[ \t]*(?i:https?://|mailto:|#))?`)
	// A safe link definition on a single line. Its label must not be the number of a call: it would turn a citation into an
	// external link.
	definition = regexp.MustCompile(`^[ \t>]*\[([^\[\]\\]+)\]:[ \t]+(?i:https?://)`)
	callNumber = regexp.MustCompile(`\d\.\d+\.\d`)
)

// The heading levels above models' texts, and the lowest level.
const (
	sectionLevel  = 2
	questionLevel = 3
	deepest       = 6
)

// harmless keeps a model's Markdown as Markdown, without anything that could affect its surroundings: HTML, images, links to
// anything but the web, headings that look like the report's own (they are moved below level), and unterminated code blocks.
//
// Code blocks are rewritten at the start of a line with our own fences; every other run of fence characters is escaped. So
// every Markdown reader agrees on what is code, and nothing outside of code is HTML.
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

// fenceOf returns the run of characters at the start of a line that could open or close a code block, and the rest of the line.
func fenceOf(line string) (mark, rest string) {
	line = strings.TrimSpace(line)

	at := fenceMark.FindStringIndex(line)
	if at == nil || at[0] != 0 {
		return "", ""
	}

	mark, rest = line[:at[1]], strings.TrimSpace(line[at[1]:])

	// Backticks that open a code block are not followed by others: that would be inline code.
	if mark[0] == '`' && strings.Contains(rest, "`") {
		return "", ""
	}

	return mark, rest
}

// harmlessLine processes a line outside of code.
func harmlessLine(line string, level int) string {
	// Below a line of text this would make that line a heading; on its own it is a rule.
	line = underline.ReplaceAllString(line, "$1* * *")

	if at := heading.FindStringSubmatchIndex(line); at != nil {
		line = line[:at[4]] + strings.Repeat("#", min(at[5]-at[4]+level, deepest)) + line[at[5]:]
	}

	line = tag.ReplaceAllString(line, "&lt;$1")
	line = strings.ReplaceAll(line, "![", `!\[`)
	line = harmlessLinks(line)

	return fenceMark.ReplaceAllStringFunc(line, func(mark string) string { return strings.Repeat(`\`+mark[:1], len(mark)) })
}

// harmlessLinks keeps links to the web and mail, and turns all others into text: javascript:, data: and the like, however they
// are encoded, and definitions that shadow a citation. The bracket becomes an entity, which is never part of a link; a
// preceding backslash would undo an escape.
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
