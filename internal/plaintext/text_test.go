package plaintext_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/internal/plaintext"
)

func TestTextIsCutBetweenCharacters(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		text  string
		limit int
		want  string
	}{
		"short enough":              {"häuser", 7, "häuser"},
		"between characters":        {"häuser", 3, "hä"},
		"within a character":        {"häuser", 2, "h"},
		"within a long character":   {"a😀b", 4, "a"},
		"within the first":          {"😀", 3, ""},
		"nothing":                   {"häuser", 0, ""},
		"less than nothing":         {"häuser", -1, ""},
		"nothing of nothing":        {"", 0, ""},
		"what is no text":           {strings.Repeat("\x80", 100), 50, strings.Repeat("\x80", 50)},
		"what is no text, at start": {"\x80\x80\x80", 2, "\x80\x80"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, plaintext.Cut(c.text, c.limit))
		})
	}
}

func TestCutMiddleKeepsHeadAndTailWithinLimit(t *testing.T) {
	t.Parallel()

	require.Equal(t, "short", plaintext.CutMiddle("short", 5, "…"))
	require.Equal(t, "ab[-]yz", plaintext.CutMiddle("abcdefghijklmnopqrstuvwxyz", 7, "[-]"))
	require.Equal(t, "é[-]é", plaintext.CutMiddle(strings.Repeat("é", 100), 9, "[-]"))
	require.Equal(t, "[-]", plaintext.CutMiddle("abcdefgh", 2, "[-]"), "a limit below the note leaves the note")

	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 200, -1).Draw(t, "text")
		limit := rapid.IntRange(3, 300).Draw(t, "limit")
		cut := plaintext.CutMiddle(text, limit, "[-]")
		require.LessOrEqual(t, len(cut), limit)
		require.True(t, utf8.ValidString(cut))
		require.Equal(t, cut, plaintext.CutMiddle(cut, limit, "[-]"))

		if len(text) > limit {
			require.GreaterOrEqual(t, len(cut), limit-2*(utf8.UTFMax-1), "no more is left out than needed")
		}
	})
}
