package storetest

import (
	"context"
	"encoding/json"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// SameRows compares rows as the database stores them: JSON by meaning, in any order, and nil equal to empty.
func SameRows() cmp.Options {
	return cmp.Options{
		cmpopts.EquateEmpty(),
		cmpopts.SortSlices(func(a, b tarsy.Stage) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.Execution) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.TimelineEvent) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.Message) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.LLMInteraction) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.MCPInteraction) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.Chat) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.ChatUserMessage) bool { return a.ID < b.ID }),
		cmpopts.SortSlices(func(a, b tarsy.Request) bool { return a.ID < b.ID }),
		cmp.FilterValues(func(a, b json.RawMessage) bool { return len(a) > 0 && len(b) > 0 },
			cmp.Transformer("json", func(raw json.RawMessage) any {
				var v any

				_ = json.Unmarshal(raw, &v)

				return v
			})),
	}
}

// RequireSame compares rows with sameRows.
func RequireSame[T any](t require.TestingT, want, got T) {
	if diff := cmp.Diff(want, got, SameRows()); diff != "" {
		require.FailNow(t, "rows differ (-want +got)", diff)
	}
}

// WholeTimeline reads a timeline that fits into one page.
func WholeTimeline(t require.TestingT, db *postgres.DB, id string, preview int) ([]tarsy.TimelineItem, int64) {
	page, err := db.Timeline(context.Background(), id, tarsy.TimelineQuery{Limit: 100_000, Preview: preview})
	require.NoError(t, err)
	require.False(t, page.More)

	return page.Events, page.Version
}

// WholeTrace reads a trace that fits into one page.
func WholeTrace(t require.TestingT, db *postgres.DB, id string) *tarsy.Trace {
	page, err := db.Trace(context.Background(), id, tarsy.TraceQuery{Limit: 100_000})
	require.NoError(t, err)
	require.Nil(t, page.Next)

	return &page.Trace
}
