package chat

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/internal/cli/watch"
)

// produced returns the output of a chat without questions, and a function that lists what it has produced.
func produced(t *testing.T) (*output, func() []string) {
	t.Helper()

	c := New(Config{Window: Paragraphs(40)})
	people := flow.NewBranch("people")
	questions := flow.Produces[string](people)
	_, err := flow.Build([]*flow.Branch{people, c.Branch},
		flow.Route(questions, c.Questions, func(_ context.Context, text string) (Question, error) { return Question{Text: text}, nil }),
		flow.Terminal(c.Texts), flow.Terminal(c.Tools), flow.Terminal(c.Notices), flow.Terminal(c.Ends), flow.Terminal(c.Refusals))
	require.NoError(t, err)

	return &output{chat: c, blocks: map[string]*block{}}, func() []string {
		var texts []string

		head, err := c.Journal().Head(t.Context())
		require.NoError(t, err)

		if head == 0 {
			return nil
		}

		for record, err := range c.Journal().Tail(t.Context(), 0) {
			require.NoError(t, err)

			switch {
			case flow.Is[Text](record.Entry):
				text, err := flow.As[Text](record.Entry)
				require.NoError(t, err)

				texts = append(texts, text.Text)
			case flow.Is[Notice](record.Entry):
				notice, err := flow.As[Notice](record.Entry)
				require.NoError(t, err)

				texts = append(texts, "! "+notice.Text)
			case flow.Is[Tool](record.Entry):
				tool, err := flow.As[Tool](record.Entry)
				require.NoError(t, err)

				texts = append(texts, tool.Name+" "+tool.Result)
			}

			if record.Position == head {
				break
			}
		}

		return texts
	}
}

func TestTextIsProducedOnceInWholeParagraphs(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		texts []string // successive states; the last one is complete
		want  []string
	}{
		"paragraph by paragraph": {
			[]string{"One.", "One.\n\nTw", "One.\n\nTwo.\n\n", "One.\n\nTwo.\n\nThree."}, []string{"One.\n\n", "Two.\n\n", "Three."},
		},
		"a long paragraph": {
			[]string{"One two three four five six seven eight nine ten.", "One two three four five six seven eight nine ten."},
			[]string{"One two three four five six seven eight ", "nine ten."},
		},
		"started over with the same text": {
			[]string{"One.\n\nTw", "", "On", "One.\n\nTwo."}, []string{"One.\n\n", "Two."},
		},
		"started over with another end": {
			[]string{"One.\n\nTw", "On", "One.\n\nThree."}, []string{"One.\n\n", "Three."},
		},
		"started over with another beginning": {
			[]string{"One.\n\nTw", "Three."}, []string{"One.\n\n", "! The answer was started over.", "Three."},
		},
		"started over twice": {
			[]string{"One.\n\nTw", "Three.\n\nFo", "Three.\n\nFive."},
			[]string{"One.\n\n", "! The answer was started over.", "Three.\n\n", "Five."},
		},
		"complete before it has come as far again": {
			[]string{"One.\n\nTwo.", "One."}, []string{"One.\n\n", "! The answer was started over.", "One."},
		},
		"nothing": {[]string{"", ""}, nil},
	} {
		out, got := produced(t)

		for i, text := range c.texts {
			complete := i == len(c.texts)-1
			require.NoError(t, out.piece(t.Context(), watch.Piece{Key: "a", Text: text, Complete: complete}))
		}

		require.Equal(t, c.want, got(), name)
	}
}

func TestToolCallIsProducedWhenItBeginsAndEnds(t *testing.T) {
	t.Parallel()

	out, got := produced(t)
	running := watch.Piece{Key: "a", Kind: watch.PieceTool, Tool: watch.ToolUse{Name: "pods"}}
	ended := watch.Piece{Key: "a", Kind: watch.PieceTool, Complete: true, Tool: watch.ToolUse{Name: "pods", Result: "ok"}}

	for _, piece := range []watch.Piece{running, running, ended, ended} {
		require.NoError(t, out.piece(t.Context(), piece))
	}

	require.Equal(t, []string{"pods ", "pods ok"}, got())
}
