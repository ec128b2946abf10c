package triage_test

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

func TestSuppressedAlertIsInvestigatedOnce(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.silence("alertname=disk")
	f.receive(firing("disk", "a", func(a *tarsy.Alert) { a.Data += secret; a.Facts.Severity = tarsy.SeverityHigh }))
	row := f.suppressed()[0]

	var (
		all     sync.WaitGroup
		created atomic.Int32
	)

	for range 4 {
		all.Go(func() {
			_, err := f.Investigate(t.Context(), row.ID, "ann", tarsy.Visibility{})
			if err == nil {
				created.Add(1)
			}
		})
	}

	all.Wait()
	require.Equal(t, int32(1), created.Load())
	require.Equal(t, 1, f.sessions())

	row = f.suppressed()[0]
	require.NotNil(t, row.InvestigationID)
	require.Equal(t, "ann", row.InvestigatedBy)

	_, err := f.Investigate(t.Context(), row.ID, "bob", tarsy.Visibility{})
	require.Equal(t, tarsy.CodeConflict, tarsy.CodeOf(err))
	require.ErrorContains(t, err, *row.InvestigationID)

	session := f.detail(*row.InvestigationID)
	require.Equal(t, "data of a[MASKED]", session.AlertData)
	require.Equal(t, "Title of a", session.Title)
	require.Equal(t, tarsy.SeverityHigh, session.Severity)
	require.Equal(t, "ann", session.Author)

	// From now on, the alert counts as a repetition in this session.
	again := f.receive(firing("disk", "a"))[0]
	require.Equal(t, tarsy.ActionCount, again.Action)
	require.Equal(t, session.ID, *again.SessionID)

	_, err = f.Investigate(t.Context(), ident.New(), "ann", tarsy.Visibility{})
	require.Equal(t, tarsy.CodeNotFound, tarsy.CodeOf(err))
}

func TestMemberOfAStormCanBeInvestigatedByItself(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	results := f.receive(many("disk", 4)...)

	session, err := f.Investigate(t.Context(), *results[0].SuppressedID, "ann", tarsy.Visibility{})
	require.NoError(t, err)
	require.Equal(t, results[0].SessionID, f.alert(session.ID).EarlierSessionID)

	f.receive(resolved("disk", "disk-0"))
	require.False(t, f.alert(session.ID).Firing)
	require.Equal(t, int64(3), f.alert(*results[0].SessionID).FiringMembers)
}

func TestSuppressedAlertsAreListedPageByPage(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	f.silence("alertname=disk")

	var want []string

	for _, a := range many("disk", 7) {
		a.Facts.Severity = tarsy.SeverityInfo
		want = append([]string{*f.receive(a)[0].SuppressedID}, want...)
		f.clock.Advance(time.Second)
	}

	storm := f.receive(many("net", 4)...)

	var (
		got    []string
		filter = tarsy.SuppressedFilter{Reason: tarsy.SuppressedSilence, Limit: 3}
	)

	for {
		page, err := f.Suppressed(t.Context(), filter)
		require.NoError(t, err)

		if len(page) == 0 {
			break
		}

		for _, a := range page {
			got = append(got, a.ID)
		}

		last := page[len(page)-1]
		filter.After = &tarsy.SuppressedCursor{LastAt: last.LastAt, ID: last.ID}
	}

	require.Equal(t, want, got)

	count := func(filter tarsy.SuppressedFilter) int {
		filter.Limit = 100
		rows, err := f.Suppressed(t.Context(), filter)
		require.NoError(t, err)

		return len(rows)
	}

	require.Equal(t, 11, count(tarsy.SuppressedFilter{}))
	require.Equal(t, 4, count(tarsy.SuppressedFilter{SessionID: *storm[0].SessionID}))
	require.Equal(t, 7, count(tarsy.SuppressedFilter{Severity: tarsy.SeverityInfo}))
	require.Equal(t, 1, count(tarsy.SuppressedFilter{Search: "TITLE OF NET-2"}))
	require.Zero(t, count(tarsy.SuppressedFilter{Search: "%"}))
}
