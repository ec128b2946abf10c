//go:build bench

package bench

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/journal/pgjournal"
)

type (
	flowLine   struct{ Text string }
	flowPrompt struct{ Text string }
	flowAnswer struct{ Text string }
	flowOutput struct{ Text string }
)

// TestFlow measures how many entries per second pass through three branches, for each kind of journal. Each entry is
// appended four times and decoded by each reader.
func TestFlow(t *testing.T) {
	pool, err := pgxpool.New(t.Context(), durableServer(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	require.NoError(t, pgjournal.Migrate(t.Context(), pool))

	kinds := []struct {
		name    string
		entries int
		open    func(name string) journal.Journal[flow.Entry]
	}{
		{"memory", 100_000, func(string) journal.Journal[flow.Entry] {
			return journal.NewMemory[flow.Entry](clockwork.NewRealClock())
		}},
		{"file, fsync every 100 ms", 20_000, func(name string) journal.Journal[flow.Entry] {
			opened, err := journal.OpenFile[flow.Entry](journal.FileConfig{Dir: t.TempDir() + name})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, opened.Close()) })

			return opened
		}},
		{"PostgreSQL", 2_000, func(name string) journal.Journal[flow.Entry] {
			opened, err := pgjournal.Open[flow.Entry](t.Context(), pgjournal.Config{Pool: pool, Name: "bench " + name})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, opened.Close()) })

			return opened
		}},
	}

	fmt.Printf("\n%-40s %14s %10s\n", "entries through three branches", "entries/s", "ratio")

	base := 0.0

	for _, kind := range kinds {
		rate := float64(kind.entries) / passThrough(t, kind.entries, kind.open).Seconds()
		if base == 0 {
			base = rate
		}

		fmt.Printf("%-40s %14.0f %10.3f\n", kind.name, rate, rate/base)
	}
}

// passThrough returns how long n entries take to pass through the branches.
func passThrough(t *testing.T, n int, open func(name string) journal.Journal[flow.Entry]) time.Duration {
	t.Helper()

	source, worker, sink := flow.NewBranch("source"), flow.NewBranch("worker"), flow.NewBranch("sink")
	for _, branch := range []*flow.Branch{source, worker, sink} {
		branch.KeepIn(open(branch.Name()))
	}

	lines := flow.Produces[flowLine](source)
	answers := flow.Produces[flowAnswer](worker)
	prompts := flow.Consumes(worker, func(ctx context.Context, p flowPrompt) error { return answers.Send(ctx, flowAnswer(p)) })

	arrived := 0
	done := make(chan struct{})
	outputs := flow.Consumes(sink, func(context.Context, flowOutput) error {
		if arrived++; arrived == n {
			close(done)
		}

		return nil
	})

	built, err := flow.Build([]*flow.Branch{source, worker, sink},
		flow.Route(lines, prompts, func(_ context.Context, l flowLine) (flowPrompt, error) { return flowPrompt(l), nil }),
		flow.Route(answers, outputs, func(_ context.Context, a flowAnswer) (flowOutput, error) { return flowOutput(a), nil }))
	require.NoError(t, err)
	require.NoError(t, built.Start(t.Context()))

	began := time.Now()

	for i := range n {
		require.NoError(t, lines.Send(t.Context(), flowLine{fmt.Sprintf("line %d of the conversation", i)}))
	}

	<-done

	took := time.Since(began)

	require.NoError(t, built.Stop(t.Context()))

	return took
}
