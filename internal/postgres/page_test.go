package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// timelinePages reads a timeline page by page.
func timelinePages(t *testing.T, db *postgres.DB, id string, query tarsy.TimelineQuery) (pages []int, events []tarsy.TimelineItem) {
	t.Helper()

	for {
		page, err := db.Timeline(t.Context(), id, query)
		require.NoError(t, err)

		pages = append(pages, len(page.Events))
		events = append(events, page.Events...)

		if !page.More {
			return pages, events
		}

		query.After = events[len(events)-1].SequenceNumber
	}
}

func TestTimelinePagesFormTheTimeline(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)

	var step progress.Step
	for i := range 10 {
		step.Timeline = append(step.Timeline, storetest.NewTimelineEvent(claim.SessionID, int64(i+1), storetest.Epoch()))
	}

	commit(t, db, claim, step)

	whole, _ := storetest.WholeTimeline(t, db, claim.SessionID, 0)
	require.Len(t, whole, 10)

	for limit, want := range map[int][]int{1: {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, 4: {4, 4, 2}, 5: {5, 5}, 10: {10}, 11: {10}} {
		for _, preview := range []int{0, 3} {
			pages, events := timelinePages(t, db, claim.SessionID, tarsy.TimelineQuery{Limit: limit, Preview: preview})
			require.Equal(t, want, pages)
			require.Len(t, events, 10)

			for i, e := range events {
				require.Equal(t, whole[i].ID, e.ID)
			}
		}
	}

	page, err := db.Timeline(t.Context(), claim.SessionID, tarsy.TimelineQuery{After: 10, Limit: 5})
	require.NoError(t, err)
	require.Empty(t, page.Events)
	require.False(t, page.More)
}

// A page must not contain hundreds of tool results of a megabyte each.
func TestTimelinePageWithLargeContentsIsShorter(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	large := strings.Repeat("x", 3<<20)

	var step progress.Step

	for i := range 5 {
		event := storetest.NewTimelineEvent(claim.SessionID, int64(i+1), storetest.Epoch())
		event.Content = large
		step.Timeline = append(step.Timeline, event)
	}

	commit(t, db, claim, step)

	pages, _ := timelinePages(t, db, claim.SessionID, tarsy.TimelineQuery{Limit: 1000})
	require.Equal(t, []int{3, 2}, pages)

	pages, _ = timelinePages(t, db, claim.SessionID, tarsy.TimelineQuery{Limit: 1000, Preview: 100})
	require.Equal(t, []int{5}, pages, "previews are small")
}

func TestTracePagesFormTheTrace(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	stage := storetest.NewStage(claim.SessionID, 1, storetest.Epoch())
	first, second := storetest.NewExecution(stage, 1, storetest.Epoch()), storetest.NewExecution(stage, 2, storetest.Epoch())
	used := tarsy.Usage{InputTokens: 10, OutputTokens: 1, TotalTokens: 11}
	step := progress.Step{Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{first, second}}

	// Several interactions share a time, so that the id decides.
	for minute := range 4 {
		step.LLMInteractions = append(step.LLMInteractions,
			storetest.NewLLMInteraction(claim.SessionID, &first, used, minute), storetest.NewLLMInteraction(claim.SessionID, &second, used, minute))
		step.MCPInteractions = append(step.MCPInteractions, storetest.NewMCPInteraction(first, "call-"+time.Duration(minute).String(), minute))
	}

	step.LLMInteractions = append(step.LLMInteractions, storetest.NewLLMInteraction(claim.SessionID, nil, used, 9))
	commit(t, db, claim, step)

	whole := storetest.WholeTrace(t, db, claim.SessionID)
	require.Equal(t, 9*11, whole.Usage.TotalTokens)

	for _, limit := range []int{1, 2, 5, 12, 13, 14} {
		var (
			query = tarsy.TraceQuery{Limit: limit}
			got   *tarsy.Trace
		)

		for {
			page, err := db.Trace(t.Context(), claim.SessionID, query)
			require.NoError(t, err)
			require.LessOrEqual(t, interactions(page.Trace), limit)
			require.Equal(t, whole.Usage, page.Usage, "usage is whole on every page")
			require.Equal(t, whole.Stages[0].Executions[1].Usage, page.Stages[0].Executions[1].Usage)

			if got == nil {
				got = &page.Trace
			} else {
				got.Append(page.Trace)
			}

			if page.Next == nil {
				break
			}

			require.Equal(t, limit, interactions(page.Trace), "only the last page is short")

			query.After = page.Next
		}

		storetest.RequireSame(t, whole, got)
	}
}

func interactions(trace tarsy.Trace) int {
	n := len(trace.SessionInteractions)

	for _, s := range trace.Stages {
		for _, e := range s.Executions {
			n += len(e.LLMInteractions) + len(e.MCPInteractions)
		}
	}

	return n
}
