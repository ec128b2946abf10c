package chat

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

func TestLongParagraphIsDividedBetweenWords(t *testing.T) {
	t.Parallel()

	windower := flow.NewWindower(Paragraphs(10))

	var parts []string
	for _, r := range "One two three.\n\nFour five six" {
		parts = append(parts, windower.Add(string(r))...)
	}

	require.Equal(t, []string{"One two ", "three.\n\n", "Four five ", "six"}, append(parts, windower.Flush()))
}

// shown returns lines as people see them.
func shown(lines []string) string {
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}

	return strings.Join(lines, "\n")
}

// A code block longer than the window is split, but must look unsplit however the text arrives.
func TestCodeBlockDividedByLengthLooksWhole(t *testing.T) {
	t.Parallel()

	var code strings.Builder
	for i := range 30 {
		fmt.Fprintf(&code, "func f%d() {\n\n\treturn # %d\n}\n", i, i)
	}

	text := terminal.Clean("Before.\n\n```go\n" + code.String() + "```\n\nBetween.\n\n~~~\n" + code.String() + "~~~\n\n- After.")
	whole := shown(terminal.Palette{}.Markdown(text, 80, terminal.Plain))

	rapid.Check(t, func(t *rapid.T) {
		windower := flow.NewWindower(Paragraphs(rapid.IntRange(60, 400).Draw(t, "longest")))

		var parts []string

		for rest := text; rest != ""; {
			n := min(len(rest), rapid.IntRange(1, 200).Draw(t, "chunk"))
			parts = append(parts, windower.Add(rest[:n])...)
			rest = rest[n:]
		}

		var lines []string

		stream := terminal.Palette{}.Stream(80, terminal.Plain)
		for _, part := range append(parts, windower.Flush()) {
			lines = append(lines, stream.Add(part)...)
		}

		require.Equal(t, whole, shown(lines))
	})
}
