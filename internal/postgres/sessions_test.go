package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

func listed(t *testing.T, db *postgres.DB, filter tarsy.SessionFilter) []string {
	t.Helper()

	if filter.Limit == 0 {
		filter.Limit = 100
	}

	items, err := db.Sessions(t.Context(), filter)
	require.NoError(t, err)

	ids := make([]string, 0, len(items))
	for _, item := range items {
		ids = append(ids, item.ID)
	}

	return ids
}

func TestSessionsAreFiltered(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	put := func(change func(*tarsy.Session)) string {
		f.Clock.Advance(time.Minute)

		session := storetest.NewSession(f.Clock.Now())
		change(&session)
		require.NoError(t, db.CreateSession(t.Context(), session, postgres.Terms{}))

		return session.ID
	}

	done := f.Clock.Now()
	plain := put(func(*tarsy.Session) {})
	alert := put(func(s *tarsy.Session) { s.AlertType = "cpu" })
	chain := put(func(s *tarsy.Session) { s.ChainID = "long" })
	author := put(func(s *tarsy.Session) { s.Author = "ann@example.org" })
	failed := put(func(s *tarsy.Session) {
		s.Status, s.CompletedAt, s.ErrorMessage = tarsy.SessionFailed, &done, "LLM gone"
	})
	percent := put(func(s *tarsy.Session) { s.AlertData = `disk 100% full, see C:\temp and a_b` })
	deleted := put(func(s *tarsy.Session) { s.DeletedAt = &done })

	after, before := storetest.Epoch().Add(2*time.Minute), storetest.Epoch().Add(4*time.Minute)

	for name, test := range map[string]struct {
		filter tarsy.SessionFilter
		want   []string
	}{
		"all, newest first":         {tarsy.SessionFilter{}, []string{percent, failed, author, chain, alert, plain}},
		"limit":                     {tarsy.SessionFilter{Limit: 2}, []string{percent, failed}},
		"alert type":                {tarsy.SessionFilter{AlertType: "cpu"}, []string{alert}},
		"chain":                     {tarsy.SessionFilter{ChainID: "long"}, []string{chain}},
		"author":                    {tarsy.SessionFilter{Author: "ann@example.org"}, []string{author}},
		"status":                    {tarsy.SessionFilter{Statuses: []tarsy.SessionStatus{tarsy.SessionFailed, tarsy.SessionTimedOut}}, []string{failed}},
		"from, including, to":       {tarsy.SessionFilter{CreatedAfter: &after, CreatedBefore: &before}, []string{chain, alert}},
		"both":                      {tarsy.SessionFilter{ChainID: "long", AlertType: "cpu"}, nil},
		"search ignores case":       {tarsy.SessionFilter{Search: "llm GONE"}, []string{failed}},
		"search finds alert types":  {tarsy.SessionFilter{Search: "cp"}, []string{alert}},
		"percent is a percent":      {tarsy.SessionFilter{Search: "100%"}, []string{percent}},
		"percent is no wildcard":    {tarsy.SessionFilter{Search: "d%k"}, nil},
		"underscore is no wildcard": {tarsy.SessionFilter{Search: "d_sk"}, nil},
		"underscore is itself":      {tarsy.SessionFilter{Search: "a_b"}, []string{percent}},
		"backslash separates":       {tarsy.SessionFilter{Search: `C:\te`}, []string{percent}},
		"quotes are text":           {tarsy.SessionFilter{Search: `' OR '1'='1`}, nil},
	} {
		if test.want == nil {
			test.want = []string{}
		}

		require.Equal(t, test.want, listed(t, db, test.filter), name)
	}

	_, err := db.SessionDetail(t.Context(), deleted)
	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))
}

func TestCursorVisitsEverySessionOnce(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	for i := range 23 {
		if i%4 == 0 { // several sessions share a time
			f.Clock.Advance(time.Microsecond)
		}

		f.Create(t, db)
	}

	want := listed(t, db, tarsy.SessionFilter{})
	require.Len(t, want, 23)

	var (
		got   []string
		after *tarsy.SessionCursor
	)

	for {
		items, err := db.Sessions(t.Context(), tarsy.SessionFilter{Limit: 5, After: after})
		require.NoError(t, err)

		if len(items) == 0 {
			break
		}

		for _, item := range items {
			got = append(got, item.ID)
		}

		last := items[len(items)-1]
		after = &tarsy.SessionCursor{CreatedAt: last.CreatedAt, ID: last.ID}

		f.Clock.Advance(time.Second)
		f.Create(t, db) // new sessions appear on no later page
	}

	require.Equal(t, want, got)
}

func TestSessionDetailHasStagesAndExecutionsInOrder(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db, storetest.NewEvents("intake", 1)...)
	second, first := storetest.NewStage(claim.SessionID, 2, storetest.Epoch()), storetest.NewStage(claim.SessionID, 1, storetest.Epoch())
	b, a := storetest.NewExecution(first, 2, storetest.Epoch()), storetest.NewExecution(first, 1, storetest.Epoch())

	_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{
		Stages: []tarsy.Stage{second, first}, Executions: []tarsy.Execution{b, a}, Events: storetest.NewEvents("event", 2),
	})
	require.NoError(t, err)

	detail, err := db.SessionDetail(t.Context(), claim.SessionID)
	require.NoError(t, err)
	require.Equal(t, int64(3), detail.Version)
	require.Equal(t, storetest.ServerA, detail.PodID)
	require.Equal(t, claim.State.Session.MCPSelection, detail.MCPSelection)
	require.Len(t, detail.Stages, 2)
	storetest.RequireSame(t, first, detail.Stages[0].Stage)
	require.Equal(t, []string{a.ID, b.ID}, []string{detail.Stages[0].Executions[0].ID, detail.Stages[0].Executions[1].ID})
	require.NotNil(t, detail.Stages[1].Executions, "JSON shows an empty list")

	for _, id := range []string{ident.New(), "no-id", ""} {
		_, err = db.SessionDetail(t.Context(), id)
		require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))

		_, err = db.Timeline(t.Context(), id, tarsy.TimelineQuery{Limit: 1})
		require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))
	}
}

// TestDetailAndTimelineAreOneSnapshot reads while a holder commits one stage, one execution, one timeline event and one journal
// event at a time: the numbers agree in every read.
func TestDetailAndTimelineAreOneSnapshot(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	writer, reader := f.Server(t), f.Server(t)
	claim := f.Hold(t, writer)

	const steps = 80

	written := make(chan struct{})

	var group errgroup.Group

	group.Go(func() error {
		defer close(written)

		holder := writer.Hold(claim.Lease)

		for n := 1; n <= steps; n++ {
			stage := storetest.NewStage(claim.SessionID, n, storetest.Epoch())
			if _, err := holder.Commit(context.Background(), progress.Step{
				Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{storetest.NewExecution(stage, 1, storetest.Epoch())},
				Timeline: []tarsy.TimelineEvent{storetest.NewTimelineEvent(claim.SessionID, int64(n), storetest.Epoch())},
				Events:   storetest.NewEvents("event", 1),
			}); err != nil {
				return err
			}
		}

		return nil
	})

	for range 2 {
		group.Go(func() error {
			for {
				select {
				case <-written:
					return nil
				default:
				}

				detail, err := reader.SessionDetail(context.Background(), claim.SessionID)
				if err != nil {
					return err
				}

				executions := 0
				for _, s := range detail.Stages {
					executions += len(s.Executions)
				}

				if len(detail.Stages) != int(detail.Version) || executions != int(detail.Version) {
					return fmt.Errorf("version %d has %d stages and %d executions", detail.Version, len(detail.Stages), executions)
				}

				timeline, err := reader.Timeline(context.Background(), claim.SessionID, tarsy.TimelineQuery{Limit: 1000})
				if err != nil {
					return err
				}

				if len(timeline.Events) != int(timeline.Version) {
					return fmt.Errorf("version %d has %d timeline events", timeline.Version, len(timeline.Events))
				}

				export, err := reader.Export(context.Background(), claim.SessionID)
				if err != nil {
					return err
				}

				all := int(export.Session.Version)
				if len(export.Timeline) != all || len(export.Session.Stages) != all || len(export.Trace.Stages) != all || export.Trace.Version != export.Session.Version {
					return fmt.Errorf("the export of version %d has %d timeline events, and %d stages in its trace of version %d",
						all, len(export.Timeline), len(export.Trace.Stages), export.Trace.Version)
				}
			}
		})
	}

	require.NoError(t, group.Wait())
}

func TestSummaryHasResultAndDuration(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	id := claim.SessionID

	summary, err := db.SessionSummary(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, tarsy.SessionSummary{ID: id, Status: tarsy.SessionPending}, *summary)

	stage := storetest.NewStage(id, 1, storetest.Epoch())
	execution := storetest.NewExecution(stage, 1, storetest.Epoch())
	session := claim.State.Session
	session.Status, session.StartedAt = tarsy.SessionInProgress, new(f.Clock.Now())
	commit(t, db, claim, progress.Step{
		Session: &session, Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution},
		LLMInteractions: []tarsy.LLMInteraction{storetest.NewLLMInteraction(id, &execution, tokens(1), 1), storetest.NewLLMInteraction(id, nil, tokens(2), 2)},
		MCPInteractions: []tarsy.MCPInteraction{storetest.NewMCPInteraction(execution, "call", 1)},
	})

	f.Clock.Advance(1500 * time.Millisecond)

	summary, err = db.SessionSummary(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, tarsy.SessionSummary{
		ID: id, Status: tarsy.SessionInProgress, DurationMs: 1500, Spend: tarsy.Spend{Usage: tokens(3), ToolCalls: 1},
	}, *summary)

	session.Status, session.CompletedAt = tarsy.SessionCompleted, new(f.Clock.Now())
	session.FinalAnalysis, session.ExecutiveSummary = "It was the disk.", "Disk."
	commit(t, db, claim, progress.Step{Session: &session})
	f.Clock.Advance(time.Hour)

	summary, err = db.SessionSummary(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, int64(1500), summary.DurationMs, "it does not grow after the end")
	require.Equal(t, []string{"It was the disk.", "Disk."}, []string{summary.FinalAnalysis, summary.ExecutiveSummary})

	for _, id := range []string{ident.New(), "no-id", ""} {
		_, err = db.SessionSummary(t.Context(), id)
		require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))

		_, err = db.SessionProgress(t.Context(), id)
		require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))

		_, err = db.Export(t.Context(), id)
		require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))
	}
}

func TestSessionsAreFilteredByFactsInEitherOrder(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	long := strings.Repeat("ä", 300)

	var want []string

	for _, status := range tarsy.SessionStatuses() {
		f.put(t, db, status, unchanged)
		f.put(t, db, status, func(s *tarsy.Session) {
			s.Severity, s.Service, s.Namespace, s.Cluster, s.Team = tarsy.SeverityInfo, "cart", "shop-2", "eu-2", "search"
			s.Fingerprint, s.Labels = "b", map[string]string{"env": "test", "job": `it's`, "text": long + "y"}
		})
		want = append([]string{f.put(t, db, status, func(s *tarsy.Session) {
			s.Severity, s.Service, s.Namespace, s.Cluster, s.Team = tarsy.SeverityHigh, "checkout", "shop", "eu-1", "payments"
			s.Fingerprint, s.Labels = "a", map[string]string{"env": "prod", "job": `it's a \ 'quoted' & "odd" =one`, "text": long + "x"}
		})}, want...)
	}

	for name, filter := range map[string]tarsy.SessionFilter{
		"severity":    {Severity: tarsy.SeverityHigh},
		"service":     {Service: "checkout"},
		"namespace":   {Namespace: "shop"},
		"cluster":     {Cluster: "eu-1"},
		"team":        {Team: "payments"},
		"fingerprint": {Fingerprint: "a"},
		"label":       {Labels: map[string]string{"env": "prod"}},
		"odd label":   {Labels: map[string]string{"job": `it's a \ 'quoted' & "odd" =one`}},
		"long label":  {Labels: map[string]string{"text": long + "x"}},
		"all": {
			Severity: tarsy.SeverityHigh, Service: "checkout", Namespace: "shop", Cluster: "eu-1", Team: "payments", Fingerprint: "a",
			Labels: map[string]string{"env": "prod", "job": `it's a \ 'quoted' & "odd" =one`}, Author: "somebody", AlertType: "test", ChainID: "chain",
		},
	} {
		require.Equal(t, want, listed(t, db, filter), name)

		filter.Order = tarsy.OrderAttention
		require.ElementsMatch(t, want, listed(t, db, filter), name)

		filter.Statuses = []tarsy.SessionStatus{tarsy.SessionInProgress, tarsy.SessionPending}
		require.Len(t, listed(t, db, filter), 2, name)

		filter.Search = "disk"
		require.Len(t, listed(t, db, filter), 2, name)
	}

	for name, labels := range map[string]map[string]string{
		"other value": {"env": "pro"}, "one of two": {"env": "prod", "job": "x"}, "empty value": {"env": ""}, "long value": {"text": long},
	} {
		require.Empty(t, listed(t, db, tarsy.SessionFilter{Labels: labels}), name)
	}
}

func TestSessionsAreFilteredByOutcome(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	ids := map[tarsy.Outcome][]string{}

	for range 2 {
		for _, outcome := range append(tarsy.Outcomes(), tarsy.OutcomeNone) {
			id := f.put(t, db, tarsy.SessionCompleted, func(s *tarsy.Session) { s.Outcome, s.Cause = outcome, "the pool is exhausted" })
			ids[outcome] = append([]string{id}, ids[outcome]...)
		}

		f.put(t, db, tarsy.SessionFailed, unchanged)
		f.put(t, db, tarsy.SessionPending, unchanged)
	}

	for _, outcome := range tarsy.Outcomes() {
		for _, order := range []tarsy.SessionOrder{tarsy.OrderNewest, tarsy.OrderAttention} {
			require.Equal(t, ids[outcome], listed(t, db, tarsy.SessionFilter{Order: order, Outcomes: []tarsy.Outcome{outcome}}), outcome)
		}
	}

	two := []tarsy.Outcome{tarsy.OutcomeCauseFound, tarsy.OutcomeFalseAlarm}
	both := []string{ids[two[1]][0], ids[two[0]][0], ids[two[1]][1], ids[two[0]][1]}

	for name, test := range map[string]struct {
		filter tarsy.SessionFilter
		want   []string
	}{
		"two":            {tarsy.SessionFilter{Outcomes: two}, both},
		"by attention":   {tarsy.SessionFilter{Outcomes: two, Order: tarsy.OrderAttention}, both},
		"limit":          {tarsy.SessionFilter{Outcomes: two, Limit: 3}, both[:3]},
		"completed":      {tarsy.SessionFilter{Outcomes: two, Statuses: []tarsy.SessionStatus{tarsy.SessionFailed, tarsy.SessionCompleted}}, both},
		"other statuses": {tarsy.SessionFilter{Outcomes: two, Statuses: []tarsy.SessionStatus{tarsy.SessionPending, tarsy.SessionFailed}}, []string{}},
		"other author":   {tarsy.SessionFilter{Outcomes: two, Author: "nobody"}, []string{}},
		"search":         {tarsy.SessionFilter{Outcomes: two, Search: "exhausted"}, both},
		"search others":  {tarsy.SessionFilter{Outcomes: two, Search: "exhausted", Statuses: []tarsy.SessionStatus{tarsy.SessionPending}}, []string{}},
	} {
		require.Equal(t, test.want, listed(t, db, test.filter), name)
	}

	// The next page begins after the last session, whatever its outcome.
	last, err := db.Sessions(t.Context(), tarsy.SessionFilter{Outcomes: two, Limit: 2})
	require.NoError(t, err)
	require.Equal(t, both[2:], listed(t, db, tarsy.SessionFilter{
		Outcomes: two, After: &tarsy.SessionCursor{CreatedAt: last[1].CreatedAt, ID: last[1].ID},
	}))
}
