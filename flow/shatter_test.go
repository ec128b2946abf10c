package flow

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestShatterPiecesJoinedAreTheText(t *testing.T) {
	t.Parallel()

	shatters := map[string]Shatter{
		"none":           ShatterNone,
		"paragraph":      ShatterParagraph,
		"sentence":       ShatterSentence,
		"max length 7":   ShatterMaxLength(7),
		"max length 100": ShatterMaxLength(100),
		"each":           ShatterEach(ShatterParagraph, ShatterSentence, ShatterMaxLength(80)),
	}

	for name, shatter := range shatters {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			rapid.Check(t, func(t *rapid.T) {
				text := rapid.StringOfN(rapid.SampledFrom([]rune("aé世😀 \n\n.!?,1\t")), 0, 400, -1).Draw(t, "text")
				require.Equal(t, text, strings.Join(shatter(text), ""))
			})
		})
	}
}

func TestMaxLengthPiecesAreWithinTheLimitAndNeverCutACharacter(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(2, 120).Draw(t, "limit")
		text := rapid.StringOfN(rapid.SampledFrom([]rune("aé世😀 \n`~.")), 0, 600, -1).Draw(t, "text")

		for _, message := range ShatterMaxLength(limit)(text) {
			require.LessOrEqual(t, len(utf16.Encode([]rune(message))), limit)
			require.NotContains(t, message, "\uFFFD")
			require.NotEmpty(t, message)
		}
	})
}

func TestDividedCodeBlocksAreClosedAndReopened(t *testing.T) {
	t.Parallel()

	line := rapid.OneOf(
		rapid.StringMatching(`[a-z .é😀]{0,60}`),
		rapid.SampledFrom([]string{"", "```", "```go", "~~~", "````md", "   ```sh", "`inline`", "- item"}),
	)

	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(line, 1, 40).Draw(t, "lines"), "\n")
		limit := rapid.IntRange(minFenced, 200).Draw(t, "limit")

		var (
			joined strings.Builder
			before string
		)

		all := pieces(text, limit)
		for i, piece := range all {
			joined.WriteString(piece.body)

			// The added text is a line that closes the block and, in the next piece, the line that opened it.
			require.Equal(t, before != "", piece.opened != "")

			whole := piece.opened + piece.body + piece.closed
			require.LessOrEqual(t, unitsOf(whole), limit)

			if i < len(all)-1 {
				require.Empty(t, fence{}.after(whole).marker, "a piece leaves a block open:\n%s", whole)
			}

			before = strings.TrimPrefix(piece.closed, "\n")
			if before != "" {
				require.True(t, strings.HasPrefix(strings.TrimLeft(all[i+1].opened, " "), before))
			}
		}

		require.Equal(t, text, joined.String())
	})
}

func TestLongAnswerIsDividedAtReadablePlaces(t *testing.T) {
	t.Parallel()

	code := "```go\n" + strings.Repeat("fmt.Println(\"line\")\n", 150) + "```\n"
	messages := ShatterMaxLength(2000)("Intro.\n\n" + code + "\nThe end.")

	require.Len(t, messages, 2)
	require.True(t, strings.HasPrefix(messages[0], "Intro.\n\n```go\n"))
	require.True(t, strings.HasSuffix(messages[0], "(\"line\")\n```"))
	require.True(t, strings.HasPrefix(messages[1], "```go\nfmt."))
	require.True(t, strings.HasSuffix(messages[1], "```\n\nThe end."))
	require.Equal(t, 150, strings.Count(strings.Join(messages, ""), "fmt.Println"))
}

func TestShattersDivideAtTheirBoundaries(t *testing.T) {
	t.Parallel()

	const text = "One. Two (really!) three.\nFour\n\n1. Five e.g.this\n\n```\na.\n\nb.\n```\n\nSix"

	require.Equal(t, []string{
		"One. Two (really!) three.\nFour\n\n", "1. Five e.g.this\n\n", "```\na.\n\nb.\n```\n\n", "Six",
	}, ShatterParagraph(text))
	require.Equal(t, []string{
		"One. ", "Two (really!) ", "three.\n", "Four\n", "\n", "1. Five e.g.this\n", "\n", "```\na.\n\nb.\n```\n", "\n", "Six",
	}, ShatterSentence(text))
	require.Empty(t, ShatterNone(""))
	require.Empty(t, ShatterMaxLength(2000)(""))
}
