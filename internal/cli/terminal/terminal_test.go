package terminal_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/internal/cli/terminal"
)

func TestHostileTextIsReducedToVisibleText(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ in, want string }{
		"colour":                      {"a\x1b[31;1mred\x1b[0m b", "ared b"},
		"cursor and screen":           {"\x1b[2J\x1b[Hgone", "gone"},
		"title":                       {"\x1b]0;owned\x07text", "text"},
		"link":                        {"\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click"},
		"title without end":           {"\x1b]0;shown all the same\nnext", "0;shown all the same\nnext"},
		"device control":              {"\x1bPq#0\x1b\\after", "after"},
		"clipboard":                   {"\x1b]52;c;ZXZpbA==\x07x", "x"},
		"eight-bit control sequence":  {"a\u009b31mb", "ab"},
		"broken sequence":             {"a\x1b[31\nb", "a31\nb"},
		"escape before an escape":     {"\x1b\x1b[31m[31mx", "[31mx"},
		"lone escape at the end":      {"x\x1b", "x"},
		"character set":               {"\x1b(0lqk\x1b(B", "lqk"},
		"overwriting with return":     {"rm -rf /\rls", "rm -rf /\nls"},
		"backspace":                   {"safe\b\b\b\bevil", "safeevil"},
		"direction":                   {"user\u202etxt.exe", "usertxt.exe"},
		"isolates":                    {"a\u2066b\u2069c", "abc"},
		"zero width and tags":         {"a\u200bb\U000e0041c\ufeff", "abc"},
		"blank letters":               {"a\u3164b", "ab"},
		"unicode line breaks":         {"a\u2028b\u0085c", "a\nb\nc"},
		"windows line breaks":         {"a\r\nb", "a\nb"},
		"tabs":                        {"a\tb", "a   b"},
		"invalid bytes":               {"a\xffb", "a\uFFFDb"},
		"emoji and letters are kept":  {"👩‍💻 größe 漢字", "👩‍💻 größe 漢字"},
		"NUL":                         {"a\x00b", "ab"},
		"escape and a printed letter": {"\x1bcreset", "reset"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, terminal.Clean(c.in))
		})
	}
}

func TestCleanTextHasNoControlCharacters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{"\x1b", "\x1b[", "\x1b]", "\x07", "\x1b\\", "\u009b", "\u009c", "31m", ";", "\n", "\r", "\u202e", "x", "\xff"}),
			rapid.String(),
		)).Draw(t, "pieces")

		clean := terminal.Clean(strings.Join(pieces, ""))
		if bad := strings.IndexFunc(clean, func(r rune) bool {
			return r != '\n' && unicode.IsControl(r) || r == '\u202e'
		}); bad >= 0 {
			t.Fatalf("%q holds a control character at %d", clean, bad)
		}

		if again := terminal.Clean(clean); again != clean {
			t.Fatalf("cleaning twice changes %q to %q", clean, again)
		}
	})
}

func TestJSONForTerminalsIsEquivalent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text") + "\u009b31m\u202e"
		raw, err := json.Marshal(text)
		require.NoError(t, err)

		safe := terminal.JSON(raw)
		require.NotContains(t, string(safe), "\u009b")
		require.NotContains(t, string(safe), "\u202e")

		var back string
		require.NoError(t, json.Unmarshal(safe, &back))
		require.Equal(t, strings.ToValidUTF8(text, "\uFFFD"), back)
	})
}

func TestWrappedLinesFitAndLoseNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(6, 40).Draw(t, "width")
		words := rapid.SliceOfN(rapid.StringMatching(`[a-zä漢]{1,50}`), 1, 20).Draw(t, "words")
		text := strings.Join(words, " ")
		lines := terminal.Palette{}.Wrap([]terminal.Span{{Text: text}}, width, "> ", "  ")

		joined := ""

		for i, line := range lines {
			if w := terminal.Width(line); w > width {
				t.Fatalf("line %q is %d wide, not %d", line, w, width)
			}

			prefix := "  "
			if i == 0 {
				prefix = "> "
			}

			rest, ok := strings.CutPrefix(line, prefix)
			require.True(t, ok, line)

			joined += rest
		}

		require.Equal(t, strings.ReplaceAll(text, " ", ""), strings.ReplaceAll(joined, " ", ""))
	})
}

func TestMarkdownIsRenderedWithinWidth(t *testing.T) {
	t.Parallel()

	text := `# Summary of **it**

Two lines
are one paragraph with ` + "`code`" + ` and **bold** and [a link](http://x).
- first point that is long enough to wrap
  and goes on
1. numbered

> quoted
> twice

| What | Seen in |
| --- | --- |
| a long cell that must wrap somewhere | ` + "`log`" + ` |
` + "```sh\nkubectl -n shop get pods\n```" + `
---
end`
	want := `Summary of it

Two lines are one paragraph with
code and bold and a link.
• first point that is long enough
  to wrap and goes on
1. numbered

▏ quoted twice

What                       Seen in
─────────────────────────  ───────
a long cell that must      log
wrap somewhere
  kubectl -n shop get pods
──────────────────────────────────
end`

	require.Equal(t, want, strings.Join(terminal.Palette{}.Markdown(text, 34, terminal.Plain), "\n"))

	for width := 16; width < 60; width++ {
		for _, line := range (terminal.Palette{Colour: true}).Markdown(text, width, terminal.Dim) {
			require.LessOrEqual(t, terminal.Width(line), width, line)
		}
	}
}

func TestColoursAppearOnlyWhenWanted(t *testing.T) {
	t.Parallel()
	require.Equal(t, "x", terminal.Palette{}.Paint(terminal.Red, "x"))
	require.Equal(t, "\x1b[1;31mx\x1b[0m", terminal.Palette{Colour: true}.Paint(terminal.Bold.With(terminal.Red), "x"))
}

func TestTimesAreReadable(t *testing.T) {
	t.Parallel()
	require.Equal(t, "12 ms", terminal.Duration(12*time.Millisecond))
	require.Equal(t, "3.4 s", terminal.Duration(3400*time.Millisecond))
	require.Equal(t, "42 s", terminal.Duration(42*time.Second))
	require.Equal(t, "1 m 05 s", terminal.Duration(65*time.Second))
	require.Equal(t, "2 h 03 m", terminal.Duration(2*time.Hour+3*time.Minute))
	require.Equal(t, "5s", terminal.Age(5*time.Second))
	require.Equal(t, "3d", terminal.Age(80*time.Hour))
	require.Equal(t, "0:07", terminal.Clock(7*time.Second))
	require.Equal(t, "1:02:03", terminal.Clock(time.Hour+2*time.Minute+3*time.Second))
}
