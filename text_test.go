package tarsy_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
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
			require.Equal(t, c.want, tarsy.CutText(c.text, c.limit))
		})
	}
}
