package outbox_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres/outbox"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

func TestAnnouncementIsStoredWithStepOnce(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	db := f.Server(t)
	announcements := outbox.New(db)
	claim := f.Hold(t, db)
	other := f.Hold(t, db)
	first, second := storetest.NewAnnouncement(claim.SessionID, f.Clock.Now()), storetest.NewAnnouncement(claim.SessionID, f.Clock.Now())

	for _, a := range []tarsy.Announcement{first, second} {
		_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Announcements: []tarsy.Announcement{a}})
		require.NoError(t, err, "a second announcement does not hold the session up")
	}

	first.MessageIDs = []string{}

	due, err := announcements.DueAnnouncements(t.Context(), tarsy.ChannelDiscord, 10)
	require.NoError(t, err)
	storetest.RequireSame(t, []tarsy.Announcement{first}, due)

	require.NoError(t, db.HandOver(t.Context(), claim.Lease))

	_, err = db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Announcements: []tarsy.Announcement{storetest.NewAnnouncement(claim.SessionID, f.Clock.Now())}})
	require.Error(t, err, "a stale holder announces nothing")

	_, err = db.Hold(other.Lease).Commit(t.Context(), progress.Step{Announcements: []tarsy.Announcement{storetest.NewAnnouncement(claim.SessionID, f.Clock.Now())}})
	require.ErrorContains(t, err, "belongs to another session")
}

func TestAnnouncementOfStartIsStoredOnce(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	db := f.Server(t)
	claim := f.Hold(t, db)

	for _, a := range []tarsy.Announcement{storetest.NewAnnouncement(claim.SessionID, f.Clock.Now()), storetest.NewAnnouncement(claim.SessionID, f.Clock.Now())} {
		for _, channel := range []tarsy.AnnouncementChannel{tarsy.WebhookChannel("a"), tarsy.WebhookChannel("b")} {
			a.ID, a.Channel, a.Subject = ident.New(), channel, tarsy.SubjectStart

			_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Announcements: []tarsy.Announcement{a}})
			require.NoError(t, err)
		}
	}

	require.Equal(t, 2, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM announcements WHERE subject = 'start'`))
}

func TestSentAnnouncementStaysSent(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	db := f.Server(t)
	announcements := outbox.New(db)
	claim := f.Hold(t, db)
	a := storetest.NewAnnouncement(claim.SessionID, f.Clock.Now())
	a.ReplyTo = "77"

	added, err := announcements.AddAnnouncement(t.Context(), a)
	require.NoError(t, err)
	require.True(t, added)

	again := a
	again.ID = ident.New()
	added, err = announcements.AddAnnouncement(t.Context(), again)
	require.NoError(t, err)
	require.False(t, added, "a message has one reply")

	later := a
	later.Attempts, later.DueAt, later.Error, later.MessageIDs = 1, f.Clock.Now().Add(time.Minute), "down", []string{"1"}
	require.NoError(t, announcements.UpdateAnnouncement(t.Context(), later))

	due, err := announcements.DueAnnouncements(t.Context(), tarsy.ChannelDiscord, 10)
	require.NoError(t, err)
	require.Empty(t, due)
	f.Clock.Advance(time.Minute)

	due, err = announcements.DueAnnouncements(t.Context(), tarsy.ChannelDiscord, 10)
	require.NoError(t, err)
	storetest.RequireSame(t, []tarsy.Announcement{later}, due)

	now, sent := f.Clock.Now(), later
	sent.State, sent.SentAt, sent.ThreadID, sent.MessageIDs = tarsy.AnnouncementSent, &now, "88", []string{"1", "2"}
	require.NoError(t, announcements.UpdateAnnouncement(t.Context(), sent))
	require.NoError(t, announcements.UpdateAnnouncement(t.Context(), later), "one that comes late changes nothing")

	id, err := announcements.AnnouncedSession(t.Context(), tarsy.ChannelDiscord, "1")
	require.NoError(t, err)
	require.Equal(t, claim.SessionID, id)

	for _, unknown := range []string{"", "2", "99"} {
		id, err = announcements.AnnouncedSession(t.Context(), tarsy.ChannelDiscord, unknown)
		require.NoError(t, err)
		require.Empty(t, id)
	}

	f.Exec(t, `DELETE FROM sessions WHERE id = $1`, claim.SessionID)
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM announcements`), "the previous release purges sessions too")
}

func TestOneServerHoldsChannelUntilItsLeaseEnds(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	announcements := outbox.New(f.Server(t))

	take := func(server string) bool {
		taken, err := announcements.TakeChannel(t.Context(), tarsy.ChannelDiscord, server, storetest.Lease)
		require.NoError(t, err)

		return taken
	}

	require.True(t, take(storetest.ServerA))
	require.False(t, take(storetest.ServerB))
	f.Clock.Advance(storetest.Lease / 2)
	require.True(t, take(storetest.ServerA), "renewed")
	f.Clock.Advance(storetest.Lease / 2)
	require.False(t, take(storetest.ServerB))
	f.Clock.Advance(storetest.Lease)
	require.True(t, take(storetest.ServerB))
	require.False(t, take(storetest.ServerA))

	require.NoError(t, announcements.LeaveChannel(t.Context(), tarsy.ChannelDiscord, storetest.ServerA), "not its own")
	require.False(t, take(storetest.ServerA))
	require.NoError(t, announcements.LeaveChannel(t.Context(), tarsy.ChannelDiscord, storetest.ServerB))
	require.True(t, take(storetest.ServerA))
}
