package postgres_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/progress"
)

func newAnnouncement(sessionID string, at time.Time) tarsy.Announcement {
	return tarsy.Announcement{
		ID: ident.New(), SessionID: sessionID, Channel: tarsy.ChannelDiscord, Subject: tarsy.SubjectEnd, Target: "1100",
		State: tarsy.AnnouncementPending, DueAt: at, CreatedAt: at,
	}
}

func TestAnnouncementIsStoredWithStepOnce(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	claim := f.hold(t, db)
	other := f.hold(t, db)
	first, second := newAnnouncement(claim.SessionID, f.clock.Now()), newAnnouncement(claim.SessionID, f.clock.Now())

	for _, a := range []tarsy.Announcement{first, second} {
		_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Announcements: []tarsy.Announcement{a}})
		require.NoError(t, err, "a second announcement does not hold the session up")
	}

	first.MessageIDs = []string{}

	due, err := db.DueAnnouncements(t.Context(), tarsy.ChannelDiscord, 10)
	require.NoError(t, err)
	requireSame(t, []tarsy.Announcement{first}, due)

	require.NoError(t, db.HandOver(t.Context(), claim.Lease))

	_, err = db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Announcements: []tarsy.Announcement{newAnnouncement(claim.SessionID, f.clock.Now())}})
	require.Error(t, err, "a stale holder announces nothing")

	_, err = db.Hold(other.Lease).Commit(t.Context(), progress.Step{Announcements: []tarsy.Announcement{newAnnouncement(claim.SessionID, f.clock.Now())}})
	require.ErrorContains(t, err, "belongs to another session")
}

func TestAnnouncementOfStartIsStoredOnce(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	claim := f.hold(t, db)

	for _, a := range []tarsy.Announcement{newAnnouncement(claim.SessionID, f.clock.Now()), newAnnouncement(claim.SessionID, f.clock.Now())} {
		for _, channel := range []tarsy.AnnouncementChannel{tarsy.WebhookChannel("a"), tarsy.WebhookChannel("b")} {
			a.ID, a.Channel, a.Subject = ident.New(), channel, tarsy.SubjectStart

			_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Announcements: []tarsy.Announcement{a}})
			require.NoError(t, err)
		}
	}

	require.Equal(t, 2, value[int](t, f, `SELECT count(*) FROM announcements WHERE subject = 'start'`))
}

func TestSentAnnouncementStaysSent(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	claim := f.hold(t, db)
	a := newAnnouncement(claim.SessionID, f.clock.Now())
	a.ReplyTo = "77"

	added, err := db.AddAnnouncement(t.Context(), a)
	require.NoError(t, err)
	require.True(t, added)

	again := a
	again.ID = ident.New()
	added, err = db.AddAnnouncement(t.Context(), again)
	require.NoError(t, err)
	require.False(t, added, "a message has one reply")

	later := a
	later.Attempts, later.DueAt, later.Error, later.MessageIDs = 1, f.clock.Now().Add(time.Minute), "down", []string{"1"}
	require.NoError(t, db.UpdateAnnouncement(t.Context(), later))

	due, err := db.DueAnnouncements(t.Context(), tarsy.ChannelDiscord, 10)
	require.NoError(t, err)
	require.Empty(t, due)
	f.clock.Advance(time.Minute)

	due, err = db.DueAnnouncements(t.Context(), tarsy.ChannelDiscord, 10)
	require.NoError(t, err)
	requireSame(t, []tarsy.Announcement{later}, due)

	now, sent := f.clock.Now(), later
	sent.State, sent.SentAt, sent.ThreadID, sent.MessageIDs = tarsy.AnnouncementSent, &now, "88", []string{"1", "2"}
	require.NoError(t, db.UpdateAnnouncement(t.Context(), sent))
	require.NoError(t, db.UpdateAnnouncement(t.Context(), later), "one that comes late changes nothing")

	id, err := db.AnnouncedSession(t.Context(), tarsy.ChannelDiscord, "1")
	require.NoError(t, err)
	require.Equal(t, claim.SessionID, id)

	for _, unknown := range []string{"", "2", "99"} {
		id, err = db.AnnouncedSession(t.Context(), tarsy.ChannelDiscord, unknown)
		require.NoError(t, err)
		require.Empty(t, id)
	}

	f.exec(t, `DELETE FROM sessions WHERE id = $1`, claim.SessionID)
	require.Zero(t, value[int](t, f, `SELECT count(*) FROM announcements`), "the previous release purges sessions too")
}

func TestOneServerHoldsChannelUntilItsLeaseEnds(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)

	take := func(server string) bool {
		taken, err := db.TakeChannel(t.Context(), tarsy.ChannelDiscord, server, lease)
		require.NoError(t, err)

		return taken
	}

	require.True(t, take(serverA))
	require.False(t, take(serverB))
	f.clock.Advance(lease / 2)
	require.True(t, take(serverA), "renewed")
	f.clock.Advance(lease / 2)
	require.False(t, take(serverB))
	f.clock.Advance(lease)
	require.True(t, take(serverB))
	require.False(t, take(serverA))

	require.NoError(t, db.LeaveChannel(t.Context(), tarsy.ChannelDiscord, serverA), "not its own")
	require.False(t, take(serverA))
	require.NoError(t, db.LeaveChannel(t.Context(), tarsy.ChannelDiscord, serverB))
	require.True(t, take(serverA))
}
