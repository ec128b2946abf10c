package app

import (
	"context"
	"io"
	"iter"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

// closable is a client whose calls yield two chunks. It records when it is closed.
type closable struct {
	closed atomic.Bool
}

var _ io.Closer = (*closable)(nil)

func (c *closable) Generate(context.Context, *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for range 2 {
			if !yield(llm.TextChunk{}, nil) {
				return
			}
		}
	}
}

func (c *closable) Close() error {
	c.closed.Store(true)

	return nil
}

func TestReplacedModelsAreClosedAfterTheirLastCall(t *testing.T) {
	t.Parallel()

	cfg := load(t, "llm_providers: {a: {type: scripted, model: m}}")
	client := &closable{}
	m := &models{options: Options{Scripted: client}}
	m.replace(cfg)

	chunks := 0

	for _, err := range m.Generate(t.Context(), &llm.Request{Provider: "a"}) {
		require.NoError(t, err)
		chunks++

		if chunks == 1 {
			m.replace(cfg)
		}

		require.False(t, client.closed.Load(), "the call still runs")
	}

	require.Equal(t, 2, chunks)
	require.True(t, client.closed.Load())
}
