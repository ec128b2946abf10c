package postgres_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

const day = 24 * time.Hour

// slackEnd stores a Slack announcement of a new session.
func (f *fixture) slackEnd(t *testing.T) tarsy.Announcement {
	t.Helper()

	db := f.server(t)
	a := newAnnouncement(f.hold(t, db).SessionID, f.clock.Now())
	a.Channel, a.Target = tarsy.ChannelSlack, "C1"

	added, err := db.AddAnnouncement(t.Context(), a)
	require.NoError(t, err)
	require.True(t, added)

	return a
}

func TestRacingAnnouncementsJoinOneSlackThread(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)

	var (
		racing sync.WaitGroup
		mu     sync.Mutex
		owners = map[string]int{}
	)

	for range 8 {
		a := f.slackEnd(t)

		racing.Go(func() {
			thread, err := db.JoinSlackThread(t.Context(), a, "b2a1", day)

			mu.Lock()
			defer mu.Unlock()

			if err == nil {
				owners[thread.AnnouncementID]++
			}
		})
	}

	racing.Wait()
	require.Len(t, owners, 1)
	require.Equal(t, 1, value[int](t, f, `SELECT count(*) FROM slack_threads`))

	for owner, joined := range owners {
		require.Equal(t, 8, joined)
		require.NoError(t, db.SetSlackThread(t.Context(), owner, "1.1"))
		require.NoError(t, db.SetSlackThread(t.Context(), owner, "2.2"), "the first message stays")
	}

	require.Equal(t, "1.1", value[string](t, f, `SELECT ts FROM slack_threads`))
}

func TestSlackThreadEndsAfterItsAgeAndIsStillFound(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	first, second := f.slackEnd(t), f.slackEnd(t)

	join := func(a tarsy.Announcement, fingerprint string) (owner, ts string) {
		thread, err := db.JoinSlackThread(t.Context(), a, fingerprint, day)
		require.NoError(t, err)

		return thread.AnnouncementID, thread.TS
	}

	owner, ts := join(first, "b2a1")
	require.Equal(t, first.ID, owner)
	require.Empty(t, ts)
	require.NoError(t, db.SetSlackThread(t.Context(), first.ID, "1.1"))

	f.clock.Advance(day - time.Second)

	owner, ts = join(second, "b2a1")
	require.Equal(t, first.ID, owner)
	require.Equal(t, "1.1", ts)

	session, _, err := db.SlackThreadSession(t.Context(), "C1", "1.1", f.clock.Now())
	require.NoError(t, err)
	require.Equal(t, second.SessionID, session, "the newest")
	f.clock.Advance(time.Second)

	owner, _ = join(second, "b2a1")
	require.Equal(t, second.ID, owner, "another thread")

	owner, _ = join(first, "")
	require.Equal(t, first.ID, owner, "without a fingerprint each session has its own")
	owner, _ = join(second, "")
	require.Equal(t, second.ID, owner)

	session, beginning, err := db.SlackThreadSession(t.Context(), "C1", "1.1", f.clock.Now())
	require.NoError(t, err)
	require.Equal(t, second.SessionID, session, "people can still ask")
	require.False(t, beginning)

	_, beginning, err = db.SlackThreadSession(t.Context(), "C1", "9.9", f.clock.Now())
	require.NoError(t, err)
	require.True(t, beginning, "it may be one that is not recorded yet")

	_, beginning, err = db.SlackThreadSession(t.Context(), "C1", "9.9", f.clock.Now().Add(-time.Minute))
	require.NoError(t, err)
	require.False(t, beginning, "it is older than those")
}

// The announcement that should have begun a thread was given up, so another one begins it.
func TestSlackThreadIsBegunByNextAnnouncement(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	first, second := f.slackEnd(t), f.slackEnd(t)

	_, err := db.JoinSlackThread(t.Context(), first, "b2a1", day)
	require.NoError(t, err)

	thread, err := db.JoinSlackThread(t.Context(), second, "b2a1", day)
	require.NoError(t, err)
	require.Equal(t, first.ID, thread.AnnouncementID)

	first.State, first.MessageIDs = tarsy.AnnouncementFailed, []string{}
	require.NoError(t, db.UpdateAnnouncement(t.Context(), first))

	thread, err = db.JoinSlackThread(t.Context(), second, "b2a1", day)
	require.NoError(t, err)
	require.Equal(t, second.ID, thread.AnnouncementID)

	f.exec(t, `DELETE FROM sessions WHERE id = $1`, second.SessionID)
	require.Zero(t, value[int](t, f, `SELECT count(*) FROM slack_threads`), "it goes with its session")
}

func TestChangedSlackThreadIsListedUntilItIsShown(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.server(t)
	a := f.slackEnd(t)

	_, err := db.JoinSlackThread(t.Context(), a, "b2a1", day)
	require.NoError(t, err)

	changed, err := db.ChangedSlackThreads(t.Context(), day, 10)
	require.NoError(t, err)
	require.Empty(t, changed, "nothing is posted yet")

	a.MessageIDs, a.ThreadID, a.State = []string{"1.1"}, "1.1", tarsy.AnnouncementSent
	require.NoError(t, db.UpdateAnnouncement(t.Context(), a))
	require.NoError(t, db.SetSlackThread(t.Context(), a.ID, "1.1"))

	changed, err = db.ChangedSlackThreads(t.Context(), day, 10)
	require.NoError(t, err)
	require.Len(t, changed, 1)
	require.Equal(t, 1, changed[0].Sessions)

	own, err := db.SlackThreadOf(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, changed[0], *own)
	require.NoError(t, db.ShowSlackThread(t.Context(), own.ID, own.State))

	changed, err = db.ChangedSlackThreads(t.Context(), day, 10)
	require.NoError(t, err)
	require.Empty(t, changed)

	f.exec(t, `INSERT INTO session_alerts (session_id, fingerprint, group_key, occurrences, last_at) VALUES ($1, 'b2a1', '', 2, $2)
ON CONFLICT (session_id) DO UPDATE SET occurrences = 2`, a.SessionID, f.clock.Now())

	changed, err = db.ChangedSlackThreads(t.Context(), day, 10)
	require.NoError(t, err)
	require.Len(t, changed, 1)
	require.EqualValues(t, 2, changed[0].Occurrences)

	require.NoError(t, db.EndSlackThread(t.Context(), own.ID))

	changed, err = db.ChangedSlackThreads(t.Context(), day, 10)
	require.NoError(t, err)
	require.Empty(t, changed)
}
