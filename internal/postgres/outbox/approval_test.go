package outbox_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/outbox"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

func TestApprovalIsListedUntilAnnouncedInAllChannels(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	db := f.Server(t)
	announcements := outbox.New(db)
	channels := []tarsy.AnnouncementChannel{tarsy.WebhookChannel("a"), tarsy.WebhookChannel("b")}

	var calls []outbox.OpenApproval

	for range 3 {
		call := f.Wait(t, db, storetest.Expiry)
		calls = append(calls, outbox.OpenApproval{ID: call.ID, SessionID: call.SessionID})
	}

	slices.SortFunc(calls, func(a, b outbox.OpenApproval) int { return slices.Compare([]byte(a.ID), []byte(b.ID)) })

	find := func(after string, limit int) []outbox.OpenApproval {
		found, err := announcements.OpenApprovalsToAnnounce(t.Context(), channels, after, limit)
		require.NoError(t, err)

		return found
	}
	tell := func(call outbox.OpenApproval, channel tarsy.AnnouncementChannel) bool {
		a := storetest.NewAnnouncement(call.SessionID, f.Clock.Now())
		a.Channel, a.Subject, a.ApprovalID = channel, tarsy.SubjectApproval, &call.ID
		added, err := announcements.AddAnnouncement(t.Context(), a)
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

	f.Clock.Advance(storetest.Expiry)
	require.Empty(t, find("", 10), "nobody can decide any more")
}

func TestAnnouncementCanBeSkipped(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	db := f.Server(t)
	announcements := outbox.New(db)
	a := storetest.NewAnnouncement(f.Hold(t, db).SessionID, f.Clock.Now())

	_, err := announcements.AddAnnouncement(t.Context(), a)
	require.NoError(t, err)

	a.State, a.Error, a.MessageIDs = tarsy.AnnouncementSkipped, "decided", []string{}
	require.NoError(t, announcements.UpdateAnnouncement(t.Context(), a))

	stored, err := announcements.Announcement(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, tarsy.AnnouncementSkipped, stored.State)

	a.State = tarsy.AnnouncementSent
	require.NoError(t, announcements.UpdateAnnouncement(t.Context(), a))

	stored, err = announcements.Announcement(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, tarsy.AnnouncementSkipped, stored.State, "it stays skipped")
}

func TestOpenApprovalIsAnnouncedOnceInChannel(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	db := f.Server(t)
	announcements := outbox.New(db)
	call := f.Wait(t, db, storetest.Expiry)

	waiting, err := announcements.UnannouncedApprovals(t.Context(), tarsy.ChannelDiscord)
	require.NoError(t, err)
	require.Equal(t, []outbox.UnannouncedApproval{{ID: call.ID, SessionID: call.SessionID}}, waiting)

	announce := func() (tarsy.Announcement, bool) {
		a := storetest.NewAnnouncement(call.SessionID, f.Clock.Now())
		a.Subject, a.ApprovalID = tarsy.SubjectApproval, &call.ID
		added, err := announcements.AddAnnouncement(t.Context(), a)
		require.NoError(t, err)

		return a, added
	}

	first, added := announce()
	require.True(t, added)

	_, added = announce()
	require.False(t, added)

	waiting, err = announcements.UnannouncedApprovals(t.Context(), tarsy.ChannelDiscord)
	require.NoError(t, err)
	require.Empty(t, waiting)

	first.MessageIDs, first.ThreadID, first.State = []string{"77"}, "77", tarsy.AnnouncementSent
	require.NoError(t, announcements.UpdateAnnouncement(t.Context(), first))

	session, err := announcements.ThreadSession(t.Context(), tarsy.ChannelDiscord, "77")
	require.NoError(t, err)
	require.Equal(t, call.SessionID, session)

	session, err = announcements.ThreadSession(t.Context(), tarsy.ChannelDiscord, "78")
	require.NoError(t, err)
	require.Empty(t, session)
}
