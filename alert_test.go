package tarsy_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestAlertStateIsDescribedInOneLine(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 11, 15, 12, 3, 0, 0, time.UTC)
	clock := func(moment time.Time) string { return moment.Format("15:04") }

	for want, state := range map[string]tarsy.AlertState{
		"firing":   {Firing: true, Occurrences: 1, LastAt: at},
		"resolved": {Occurrences: 1, LastAt: at},
		"firing, received 12 times, last at 12:03":           {Firing: true, Occurrences: 12, LastAt: at},
		"resolved at 12:03, received 2 times, last at 12:02": {Occurrences: 2, LastAt: at.Add(-time.Minute), ResolvedAt: &at},
		"firing, flapping": {Firing: true, Flapping: true, Occurrences: 1},
		"firing, storm of 34 alerts, 12 firing, received 50 times, last at 12:03": {
			Firing: true, Storm: true, Members: 34, FiringMembers: 12, Occurrences: 50, LastAt: at,
		},
	} {
		require.Equal(t, want, state.Describe(clock))
	}
}

func TestSessionWithoutTitleIsCalledByItsAlertType(t *testing.T) {
	t.Parallel()

	require.Equal(t, "pod-down", tarsy.AlertFacts{}.TitleOr("pod-down"))
	require.Equal(t, "Pod is down", tarsy.AlertFacts{Title: "Pod is down"}.TitleOr("pod-down"))
	require.Equal(t, []string{"", "shop", "checkout", "shop/checkout"}, []string{
		tarsy.AlertFacts{}.Place(), tarsy.AlertFacts{Namespace: "shop"}.Place(), tarsy.AlertFacts{Service: "checkout"}.Place(),
		tarsy.AlertFacts{Namespace: "shop", Service: "checkout"}.Place(),
	})
}
