package tarsy_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestHandlingGoesFromAnyStateToAnyOther(t *testing.T) {
	t.Parallel()

	first, then := time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC), time.Date(2026, 11, 17, 10, 0, 0, 0, time.UTC)

	for _, from := range tarsy.HandlingStates() {
		for _, to := range tarsy.HandlingStates() {
			before, err := tarsy.NewHandling("s").Change(tarsy.HandlingChange{State: &from}, "ana", first)
			require.NoError(t, err)

			after, err := before.Change(tarsy.HandlingChange{State: &to}, "bob", then)
			require.NoError(t, err)
			require.Equal(t, to, after.State)

			if from == to {
				require.Equal(t, before, after, "who was first stays")

				continue
			}

			require.Equal(t, before.Version+1, after.Version)
			require.Equal(t, "bob", after.UpdatedBy)

			acknowledged := map[tarsy.HandlingState]string{tarsy.HandlingAcknowledged: "bob"}[to]
			if from == tarsy.HandlingAcknowledged && to == tarsy.HandlingResolved {
				acknowledged = "ana"
			}

			require.Equal(t, acknowledged, after.AcknowledgedBy, "%s to %s", from, to)
			require.Equal(t, acknowledged != "", after.AcknowledgedAt != nil)
			require.Equal(t, to == tarsy.HandlingResolved, after.ResolvedBy == "bob")
			require.Equal(t, to == tarsy.HandlingResolved, after.ResolvedAt != nil)
		}
	}
}

func TestReopeningRemovesTheResolution(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC)
	resolved, err := tarsy.NewHandling("s").Change(tarsy.HandlingChange{State: new(tarsy.HandlingResolved), Resolution: new("Restarted.")}, "ana", at)
	require.NoError(t, err)
	require.Equal(t, "Restarted.", resolved.Resolution)

	reopened, err := resolved.Change(tarsy.HandlingChange{State: new(tarsy.HandlingOpen)}, "bob", at)
	require.NoError(t, err)
	require.Empty(t, reopened.Resolution)

	_, err = reopened.Change(tarsy.HandlingChange{Resolution: new("Again.")}, "bob", at)
	require.Equal(t, tarsy.CodeConflict, tarsy.CodeOf(err), "only what is resolved has a resolution")
}

func TestTagsAreUniqueWhateverTheirCase(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC)
	change := func(h tarsy.Handling, c tarsy.HandlingChange) tarsy.Handling {
		t.Helper()

		after, err := h.Change(c, "ana", at)
		require.NoError(t, err)

		return after
	}

	h := change(tarsy.NewHandling("s"), tarsy.HandlingChange{AddTags: []string{"Disk", "disk", "Änderung", "capacity"}})
	require.Equal(t, []string{"capacity", "Disk", "Änderung"}, h.Tags)
	require.Equal(t, h, change(h, tarsy.HandlingChange{AddTags: []string{"DISK"}}), "it has that tag")
	require.Equal(t, h, change(h, tarsy.HandlingChange{RemoveTags: []string{"network"}}), "it does not have that tag")

	h = change(h, tarsy.HandlingChange{AddTags: []string{"network"}, RemoveTags: []string{"dISK", "änderung"}})
	require.Equal(t, []string{"capacity", "network"}, h.Tags)

	h = change(h, tarsy.HandlingChange{SetTags: &[]string{"Capacity"}})
	require.Equal(t, []string{"Capacity"}, h.Tags, "setting them sets their case")
	require.Equal(t, []string{}, change(h, tarsy.HandlingChange{SetTags: &[]string{}}).Tags)

	for i := range tarsy.MaxTags - 1 {
		h = change(h, tarsy.HandlingChange{AddTags: []string{fmt.Sprint("tag ", i)}})
	}

	same, err := h.Change(tarsy.HandlingChange{AddTags: []string{"one too many"}}, "ana", at)
	require.Equal(t, tarsy.CodeConflict, tarsy.CodeOf(err))
	require.Equal(t, h, same)
	require.Len(t, change(h, tarsy.HandlingChange{AddTags: []string{"instead"}, RemoveTags: []string{"tag 3"}}).Tags, tarsy.MaxTags)
}
