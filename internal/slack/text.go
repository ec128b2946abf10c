package slack

import (
	"regexp"
	"strings"
	"unicode"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	// fence starts and ends a code block.
	fence = "```"
	// gap is an invisible character that breaks up Slack markup and mentions.
	gap = "\u200b"
)

// escape escapes <, > and &, which Slack interprets as the start of mentions, links and entities.
func escape(text string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(text)
}

// crowd matches mentions that notify a whole channel, as people write them.
var crowd = regexp.MustCompile(`(?i)@(channel|here|everyone|group)\b`)

// inert makes text of models and alerts safe: it mentions no one, and invisible characters become visible.
func inert(text string) string {
	return crowd.ReplaceAllString(escape(visible(text)), "@"+gap+"$1")
}

// visible escapes invisible characters and removes characters that no text may contain.
func visible(text string) string {
	return string(plaintext.EscapeInvisible([]byte(plaintext.Clean(text))))
}

// literal returns a text on one line with all markup disabled.
func literal(text string) string {
	var out strings.Builder

	runes := []rune(inert(oneLine(text)))
	word := func(i int) bool {
		return i >= 0 && i < len(runes) && (unicode.IsLetter(runes[i]) || unicode.IsDigit(runes[i]))
	}

	for i, r := range runes {
		// Slack does not treat an underscore within a word as markup.
		if strings.ContainsRune("*~`", r) || r == '_' && (!word(i-1) || !word(i+1)) {
			out.WriteString(gap)
		}

		out.WriteRune(r)
	}

	return out.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Markdown syntax that is different in Slack.
var (
	heading  = regexp.MustCompile(`(?m)^#{1,6}[ \t]+(.+?)[ \t]*#*$`)
	bold     = regexp.MustCompile(`\*\*([^*\n]+)\*\*|__([^_\n]+)__`)
	struck   = regexp.MustCompile(`~~([^~\n]+)~~`)
	item     = regexp.MustCompile(`(?m)^([ \t]*)[-*+][ \t]+`)
	link     = regexp.MustCompile(`!?\[([^\]\n]*)\]\(([^)\s]+)[^)\n]*\)`)
	language = regexp.MustCompile(`^[A-Za-z0-9_+.-]*\n`)
)

// mrkdwn converts a model's Markdown text to Slack's markup. Links show their target. An unterminated code block is not treated
// as one.
func mrkdwn(text string) string {
	parts := strings.Split(text, fence)

	for i, part := range parts {
		if code := i%2 == 1 && i < len(parts)-1; code {
			parts[i] = "\n" + escape(visible(language.ReplaceAllString(part, "")))

			continue
		}

		part = inert(part)
		part = link.ReplaceAllString(part, "$1 ($2)")
		part = item.ReplaceAllString(part, "$1• ")
		part = bold.ReplaceAllString(part, "*$1$2*")
		part = struck.ReplaceAllString(part, "~$1~")
		parts[i] = heading.ReplaceAllStringFunc(part, func(line string) string {
			return "*" + strings.ReplaceAll(heading.FindStringSubmatch(line)[1], "*", "") + "*"
		})
	}

	return strings.TrimSpace(strings.Join(parts, fence))
}

// fit truncates an escaped text to a number of UTF-16 units, without splitting an entity.
func fit(text string, limit int) string {
	if tarsy.UTF16Len(text) <= limit {
		return text
	}

	cut := tarsy.CutUTF16(text, limit-1)
	if at := strings.LastIndexByte(cut, '&'); at >= 0 && !strings.Contains(cut[at:], ";") {
		cut = cut[:at]
	}

	return cut + "…"
}

// divide divides a text into sections. Parts of a divided code block remain code blocks.
func divide(text string) []string {
	var parts []string

	for _, part := range flow.ShatterMaxLength(maxSection)(text) {
		if strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}

	return parts
}
