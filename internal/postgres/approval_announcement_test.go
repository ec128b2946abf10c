package postgres_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

func TestApprovalIsListedUntilAnnouncedInAllChannels(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	channels := []tarsy.AnnouncementChannel{tarsy.WebhookChannel("a"), tarsy.WebhookChannel("b")}

	var calls []postgres.OpenApproval

	for range 3 {
		call := f.wait(t, db, expiry)
		calls = append(calls, postgres.OpenApproval{ID: call.ID, SessionID: call.SessionID})
	}

	slices.SortFunc(calls, func(a, b postgres.OpenApproval) int { return slices.Compare([]byte(a.ID), []byte(b.ID)) })

	find := func(after string, limit int) []postgres.OpenApproval {
		found, err := db.OpenApprovalsToAnnounce(t.Context(), channels, after, limit)
		require.NoError(t, err)

		return found
	}
	tell := func(call postgres.OpenApproval, channel tarsy.AnnouncementChannel) bool {
		a := newAnnouncement(call.SessionID, f.clock.Now())
		a.Channel, a.Subject, a.ApprovalID = channel, tarsy.SubjectApproval, &call.ID
		added, err := db.AddAnnouncement(t.Context(), a)
		require.NoError(t, err)

		return added
	}

	require.Equal(t, calls, find("", 10))
	require.Equal(t, calls[:2], find("", 2))
	require.Equal(t, calls[2:], find(calls[1].ID, 2))

	require.True(t, tell(calls[0], channels[0]))
	require.Equal(t, calls, find("", 10), "one channel is left")
	require.True(t, tell(calls[0], channels[1]))
	require.False(t, tell(calls[0], channels[1]), "each channel is told once")
	require.Equal(t, calls[1:], find("", 10))

	f.clock.Advance(expiry)
	require.Empty(t, find("", 10), "nobody can decide any more")
}

func TestAnnouncementCanBeSkipped(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	a := newAnnouncement(f.hold(t, db).SessionID, f.clock.Now())

	_, err := db.AddAnnouncement(t.Context(), a)
	require.NoError(t, err)

	a.State, a.Error, a.MessageIDs = tarsy.AnnouncementSkipped, "decided", []string{}
	require.NoError(t, db.UpdateAnnouncement(t.Context(), a))

	stored, err := db.Announcement(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, tarsy.AnnouncementSkipped, stored.State)

	a.State = tarsy.AnnouncementSent
	require.NoError(t, db.UpdateAnnouncement(t.Context(), a))

	stored, err = db.Announcement(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, tarsy.AnnouncementSkipped, stored.State, "it stays skipped")
}
