package flow

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// stream adds chunks one by one and returns everything that was passed on, and the rest.
func stream(window Window, chunks ...string) (passed []string, rest string) {
	windower := NewWindower(window)
	for _, chunk := range chunks {
		passed = append(passed, windower.Add(chunk)...)
	}

	return passed, windower.Flush()
}

func TestWindowsPassTextOnAtTheirBoundaries(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		window Window
		chunks []string
		passed []string
		rest   string
	}{
		"immediate": {WindowImmediate, []string{"Hel", "lo"}, []string{"Hel", "lo"}, ""},
		"final":     {WindowFinal, []string{"One.\n\n", "Two.\n\n"}, nil, "One.\n\nTwo.\n\n"},
		"paragraph": {
			WindowParagraph,
			[]string{"First", " one.\n", "\nSec", "ond.\n\nThird."},
			[]string{"First one.\n\n", "Second.\n\n"}, "Third.",
		},
		"paragraph with a code block": {
			WindowParagraph,
			[]string{"```\na\n\n", "b\n```\n", "\nafter"},
			[]string{"```\na\n\nb\n```\n\n"}, "after",
		},
		"sentence":   {WindowSentence, []string{"One", ". Two", "! ", "Three."}, []string{"One. ", "Two! "}, "Three."},
		"max length": {WindowMaxLength(6), []string{"Hello", " ", "World", "!"}, []string{"Hello ", "World!"}, ""},
		"max length counts UTF-16 units": {
			WindowMaxLength(4), []string{"😀😀😀"}, []string{"😀😀"}, "😀",
		},
		"any of": {
			WindowAny(WindowParagraph, WindowMaxLength(10)),
			[]string{"ab\n\ncd", "0123456789"}, []string{"ab\n\n", "cd01234567"}, "89",
		},
		"any of none": {WindowAny(), []string{"text"}, nil, "text"},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			passed, rest := stream(test.window, test.chunks...)
			require.Equal(t, test.passed, passed)
			require.Equal(t, test.rest, rest)
		})
	}
}

func TestNoWindowLosesOrChangesText(t *testing.T) {
	t.Parallel()

	windows := []Window{
		WindowImmediate, WindowFinal, WindowParagraph, WindowSentence, WindowMaxLength(5), WindowMaxLength(40),
		WindowAny(WindowParagraph, WindowSentence, WindowMaxLength(30)),
	}

	rapid.Check(t, func(t *rapid.T) {
		window := rapid.SampledFrom(windows).Draw(t, "window")
		chunks := rapid.SliceOf(rapid.StringOfN(rapid.SampledFrom([]rune("aé😀 \n.!`")), 0, 12, -1)).Draw(t, "chunks")

		passed, rest := stream(window, chunks...)
		require.Equal(t, strings.Join(chunks, ""), strings.Join(passed, "")+rest)
		require.NotContains(t, passed, "")
	})
}
