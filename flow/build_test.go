package flow_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
)

func TestBuildReportsEveryMistakeAtOnce(t *testing.T) {
	t.Parallel()

	source, worker, sink := newSource("source"), newWorker("worker"), newSink("sink")
	other, stranger := newSource("other"), newWorker("worker")

	_, err := flow.Build([]*flow.Branch{source.Branch, worker.Branch, sink.Branch, other.Branch, nil},
		flow.Route(source.lines, worker.prompts, toPrompt),
		flow.Route(source.lines, worker.prompts, toPrompt),
		flow.Terminal(source.lines),
		flow.Terminal(worker.asides),
		flow.Terminal(worker.asides),
		flow.Route(stranger.answers, sink.outputs, nil),
		flow.Terminal(flow.Out[line]{}),
	)

	var problems *flow.BuildError

	require.ErrorAs(t, err, &problems)
	require.Equal(t, []string{
		"branch 5 is nil",
		`flow_test.line is in the journals of both "source" and "other": give one of them its own type`,
		"the route from flow_test.answer to flow_test.output has no function",
		`a rule uses flow_test.answer of branch "worker", which is not part of the flow`,
		"rule 7 uses a port that no branch declared",
		"flow_test.line has both a route and a terminal",
		`"worker" produces flow_test.answer, but it has neither a route nor a terminal`,
		"flow_test.aside is declared terminal 2 times",
		`"other" produces flow_test.line, but it has neither a route nor a terminal`,
	}, problems.Problems)
	require.Contains(t, err.Error(), "the flow has 9 problem(s):\n- branch 5 is nil\n- ")
}

func TestBuildRefusesSingleMistakes(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		build func() ([]*flow.Branch, []flow.Rule)
		want  string
	}{
		"no branches": {
			func() ([]*flow.Branch, []flow.Rule) { return nil, nil },
			"it has no branches",
		},
		"two routes for one type": {
			func() ([]*flow.Branch, []flow.Rule) {
				source, sink := newSource("source"), newSink("sink")
				route := func() flow.Rule { return flow.Route(source.lines, sink.outputs, lineToOutput) }

				return []*flow.Branch{source.Branch, sink.Branch}, []flow.Rule{route(), route()}
			},
			"flow_test.line has 2 routes: a type has one",
		},
		"a consumed type that no route leads to": {
			func() ([]*flow.Branch, []flow.Rule) { return []*flow.Branch{newSink("sink").Branch}, nil },
			`"sink" consumes flow_test.output, but no route leads to it`,
		},
		"two branches of one name": {
			func() ([]*flow.Branch, []flow.Rule) {
				return []*flow.Branch{flow.NewBranch("a"), flow.NewBranch("a")}, nil
			},
			`two branches are named "a"`,
		},
		"a type twice in one branch": {
			func() ([]*flow.Branch, []flow.Rule) {
				branch := flow.NewBranch("a")
				out := flow.Produces[line](branch)
				flow.Logs[line](branch)

				return []*flow.Branch{branch}, []flow.Rule{flow.Terminal(out)}
			},
			`"a" declares flow_test.line twice`,
		},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			branches, rules := test.build()
			_, err := flow.Build(branches, rules...)

			var problems *flow.BuildError

			require.ErrorAs(t, err, &problems)
			require.Equal(t, []string{test.want}, problems.Problems)
		})
	}
}

func TestBranchBelongsToOneFlow(t *testing.T) {
	t.Parallel()

	source := newSource("source")
	require.ErrorContains(t, source.lines.Send(t.Context(), line{"early"}), "call flow.Build first")

	_, err := flow.Build([]*flow.Branch{source.Branch}, flow.Terminal(source.lines))
	require.NoError(t, err)

	_, err = flow.Build([]*flow.Branch{source.Branch}, flow.Terminal(source.lines))
	require.ErrorContains(t, err, `branch "source" is already part of a flow`)
}

func TestMermaidShowsBranchesRoutesAndTerminals(t *testing.T) {
	t.Parallel()

	//nolint:dupword // Mermaid
	require.Equal(t, `flowchart LR
    b1["source"]
    b2["worker"]
    b3["sink"]
    b1 -- "flow_test.line → flow_test.prompt" --> b2
    b2 -- "flow_test.answer → flow_test.output" --> b3
    b2 -- "flow_test.aside" --> t1((end))
`, newChain(t).Mermaid())
}
