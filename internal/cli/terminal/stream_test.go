package terminal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli/terminal"
)

// streamed renders the parts of a text in order.
func streamed(width int, parts ...string) string {
	stream := terminal.Palette{}.Stream(width, terminal.Plain)

	var lines []string
	for _, part := range parts {
		lines = append(lines, stream.Add(part)...)
	}

	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}

	return strings.Join(lines, "\n")
}

func TestStreamedPartsAreShownAsOneText(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		parts []string
		want  string
	}{
		"paragraphs":                      {[]string{"One.\n\n", "Two.  \n\n", "Three."}, "One.\n\nTwo.\n\nThree."},
		"paragraph divided in its middle": {[]string{"One ", "two.\n\n", "Three."}, "One\ntwo.\n\nThree."},
		"divided before line break":       {[]string{"One.", "\nTwo.", "\n\nThree."}, "One.\nTwo.\n\nThree."},
		"divided between line breaks":     {[]string{"One.\n", "\nTwo."}, "One.\n\nTwo."},
		"only line breaks":                {[]string{"\n\n", "One.", "\n", " \n", "Two."}, "One.\n\nTwo."},
		"list and heading":                {[]string{"# Head\n\n", "- a\n- b\n\n", "1. c"}, "Head\n\n• a\n• b\n\n1. c"},
		"code":                            {[]string{"```\na  \n\nb\n```\n\n", "*c*"}, "  a\n\n  b\n\nc"},
		"code divided between lines":      {[]string{"One.\n\n```\n*a*\n", "# b\n", "- c\n```\n\n", "# D"}, "One.\n\n  *a*\n  # b\n  - c\n\nD"},
		"code divided at an empty line":   {[]string{"```\na\n\n", "b\n", "\nc\n```"}, "  a\n\n  b\n\n  c"},
		"code divided before empty lines": {[]string{"```\na\n", "\n\nb\n```"}, "  a\n\n\n  b"},
		"code divided before line break":  {[]string{"```\na", "\nb\n```"}, "  a\n  b"},
		"indented code":                   {[]string{"- x\n   ```\n   a\n", "   b\n", "     c\n", "d\n   ```"}, "• x\n     a\n     b\n       c\n     d"},
		"table":                           {[]string{"| a | b |\n| --- | --- |\n| 1 | 2 |\n\n", "end"}, "a  b\n─  ─\n1  2\n\nend"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, streamed(40, c.parts...))
		})
	}
}
