package note_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// tripTracer counts database round trips, that is statements and batches, for calls whose context carries a counter.
type tripTracer struct{}

type tripKey struct{}

func countTrip(ctx context.Context) context.Context {
	if trips, ok := ctx.Value(tripKey{}).(*int); ok {
		*trips++
	}

	return ctx
}

func (tripTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return countTrip(ctx)
}

func (tripTracer) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return countTrip(ctx)
}

func (tripTracer) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData)     {}
func (tripTracer) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (tripTracer) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}

// Apart from the model, most of a note's processing time is spent on round trips. They must not grow with the number of entities.
func TestRoundTripsDoNotGrowWithEntities(t *testing.T) {
	p := newProcessing(t)
	project, _ := p.project("Login", "", "Passwords")

	trips := func(run func(context.Context) error) int {
		var count int

		require.NoError(t, run(context.WithValue(t.Context(), tripKey{}, &count)))

		return count
	}

	for _, entities := range []int{1, 7} {
		var (
			content string
			found   []infer.EntityAnswer
			places  []infer.PlaceAnswer
		)

		for i := range entities {
			evidence := fmt.Sprintf("customer%d-%d", entities, i)
			content += "Fix the login of " + evidence + ". "
			answer := task(evidence, evidence)
			answer.Tags = []string{"login", evidence}
			// Creates a review item in each of the two steps.
			answer.Confidence = 0.5

			found = append(found, answer)
			places = append(places, infer.PlaceAnswer{ProjectID: project.ID, Confidence: 0.5})
		}

		n := p.capture(content)
		p.extractionAnswers(found...)
		p.organizationAnswers(places...)

		// Load the note; begin, lock the note, store everything, append the events, commit.
		require.Equal(t, 6, trips(func(ctx context.Context) error {
			return p.Extract(ctx, n.ID, 1, func(*store.Tx, []notebook.EntityDetail) error { return nil })
		}), "extraction of %d entities", entities)

		// Load the note, entities, tags and sources, words, duplicates, projects, epics; begin, lock the note, its place and its entities,
		// store everything, append the events, commit.
		require.Equal(t, 14, trips(func(ctx context.Context) error {
			return p.Organize(ctx, n.ID, 1, func(*store.Tx) error { return nil })
		}), "organization of %d entities", entities)

		require.Equal(t, notebook.NoteDone, p.note(n.ID).Status)
	}

	require.Len(t, p.reviews(), 2*(1+7))
}
