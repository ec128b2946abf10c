package flow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
)

// utterance and reply are the types of the views in these tests.
type (
	utterance struct{ Words []string }
	reply     struct{ Words []string }
)

func split(l line) (utterance, error) {
	if l.Text == "unseen" {
		return utterance{}, flow.ErrSkip
	}

	return utterance{strings.Fields(l.Text)}, nil
}

func join(r reply) (output, error) {
	if len(r.Words) == 0 {
		return output{}, flow.ErrSkip
	}

	return output{strings.Join(r.Words, "+")}, nil
}

func repeatWords(_ context.Context, s utterance) (reply, error) {
	if s.Words[0] == "silence" {
		return reply{}, nil
	}

	return reply(s), nil
}

func TestViewsShowEntriesAsAnotherTypeAndJournalsKeepTheirOwn(t *testing.T) {
	t.Parallel()

	from, to := newSource("source"), newSink("sink")
	words, replies := flow.ViewOut(from.lines, split), flow.ViewIn(to.outputs, join)

	built, err := flow.Build([]*flow.Branch{from.Branch, to.Branch}, flow.Route(words, replies, repeatWords))
	require.NoError(t, err)
	require.ErrorContains(t, words.Send(t.Context(), utterance{}), "flow_test.utterance is a view of flow_test.line, which only its branch produces")

	for _, text := range []string{"one two", "unseen", "silence", "three"} {
		from.feed <- text
	}

	close(from.feed)
	require.NoError(t, built.Run(within(t)))
	require.Len(t, to.got, 2)
	require.Equal(t, "one+two", <-to.got)
	require.Equal(t, "three", <-to.got)

	for branch, want := range map[*flow.Branch]string{from.Branch: "flow_test.line", to.Branch: "flow_test.output"} {
		for record, err := range branch.Journal().Backward(t.Context(), 0) {
			require.NoError(t, err)
			require.Equal(t, want, record.Entry.Type)
		}
	}

	require.Contains(t, built.Mermaid(), "flow_test.line → flow_test.output")
}

func TestBuildReportsViewsWithoutFunction(t *testing.T) {
	t.Parallel()

	from, to := newSource("source"), newSink("sink")

	for name, rule := range map[string]flow.Rule{
		"out": flow.Route(flow.ViewOut[line, utterance](from.lines, nil), flow.ViewIn(to.outputs, join), repeatWords),
		"in":  flow.Route(flow.ViewOut(from.lines, split), flow.ViewIn[reply](to.outputs, nil), repeatWords),
	} {
		_, err := flow.Build([]*flow.Branch{from.Branch, to.Branch}, rule)
		require.ErrorContains(t, err, "the route from flow_test.line to flow_test.output has no function", name)
	}
}
