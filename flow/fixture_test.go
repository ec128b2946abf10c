package flow_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/internal/kit/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type (
	line   struct{ Text string }
	answer struct{ Text string }
	aside  struct{ Text string }
	output struct{ Text string }
	prompt struct{ Text string }
)

// source produces the lines that a test sends to its channel and ends when the channel is closed.
type source struct {
	*flow.Branch
	lines flow.Out[line]
	feed  chan string
}

func newSource(name string) *source {
	s := &source{Branch: flow.NewBranch(name), feed: make(chan string, 100)}
	s.lines = flow.Produces[line](s.Branch)
	s.Input(name+" input", func(ctx context.Context, ready func()) error {
		ready()

		for {
			select {
			case text, ok := <-s.feed:
				if !ok {
					return nil
				}

				err := s.lines.Send(ctx, line{text})
				if err != nil {
					return err
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})

	return s
}

// worker answers prompts.
type worker struct {
	*flow.Branch
	prompts flow.In[prompt]
	answers flow.Out[answer]
	asides  flow.Out[aside]
}

func newWorker(name string) *worker {
	w := &worker{Branch: flow.NewBranch(name)}
	w.prompts = flow.Consumes(w.Branch, func(ctx context.Context, p prompt) error {
		err := w.asides.Send(ctx, aside{"about " + p.Text})
		if err != nil {
			return err
		}

		return w.answers.Send(ctx, answer{"re: " + p.Text})
	})
	w.answers = flow.Produces[answer](w.Branch)
	w.asides = flow.Produces[aside](w.Branch)

	return w
}

// sink collects the entries that arrive.
type sink struct {
	*flow.Branch
	outputs flow.In[output]
	got     chan string
}

func newSink(name string) *sink {
	s := &sink{Branch: flow.NewBranch(name), got: make(chan string, 100)}
	s.outputs = flow.Consumes(s.Branch, func(_ context.Context, o output) error {
		s.got <- o.Text

		return nil
	})

	return s
}

func toPrompt(_ context.Context, l line) (prompt, error) { return prompt(l), nil }

func toOutput(_ context.Context, a answer) (output, error) { return output(a), nil }

// chain is a flow of three branches.
type chain struct {
	*flow.Flow
	source *source
	worker *worker
	sink   *sink
}

func newChain(t *testing.T) chain {
	t.Helper()

	c := chain{source: newSource("source"), worker: newWorker("worker"), sink: newSink("sink")}

	built, err := flow.Build([]*flow.Branch{c.source.Branch, c.worker.Branch, c.sink.Branch},
		flow.Route(c.source.lines, c.worker.prompts, toPrompt),
		flow.Route(c.worker.answers, c.sink.outputs, toOutput),
		flow.Terminal(c.worker.asides),
	)
	require.NoError(t, err)

	c.Flow = built

	return c
}

// within returns a context that ends with the test or, if something hangs, with a cause.
func within(t *testing.T) context.Context {
	t.Helper()

	return wait.Context(t)
}
