package outbox_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/outbox"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

const day = 24 * time.Hour

// slackEnd stores a Slack announcement of a new session.
func slackEnd(t *testing.T, f *storetest.Fixture) tarsy.Announcement {
	t.Helper()

	db := f.Server(t)
	announcements := outbox.New(db)
	a := storetest.NewAnnouncement(f.Hold(t, db).SessionID, f.Clock.Now())
	a.Channel, a.Target = tarsy.ChannelSlack, "C1"

	added, err := announcements.AddAnnouncement(t.Context(), a)
	require.NoError(t, err)
	require.True(t, added)

	return a
}

func TestRacingAnnouncementsJoinOneSlackThread(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	announcements := outbox.New(f.Server(t))

	var (
		racing sync.WaitGroup
		mu     sync.Mutex
		owners = map[string]int{}
	)

	for range 8 {
		a := slackEnd(t, f)

		racing.Go(func() {
			thread, err := announcements.JoinSlackThread(t.Context(), a, "b2a1", day)

			mu.Lock()
			defer mu.Unlock()

			if err == nil {
				owners[thread.AnnouncementID]++
			}
		})
	}

	racing.Wait()
	require.Len(t, owners, 1)
	require.Equal(t, 1, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM slack_threads`))

	for owner, joined := range owners {
		require.Equal(t, 8, joined)
		require.NoError(t, announcements.SetSlackThread(t.Context(), owner, "1.1"))
		require.NoError(t, announcements.SetSlackThread(t.Context(), owner, "2.2"), "the first message stays")
	}

	require.Equal(t, "1.1", storetest.Value[string](t, f.Admin, `SELECT ts FROM slack_threads`))
}

func TestSlackThreadEndsAfterItsAgeAndIsStillFound(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	announcements := outbox.New(f.Server(t))
	first, second := slackEnd(t, f), slackEnd(t, f)

	join := func(a tarsy.Announcement, fingerprint string) (owner, ts string) {
		thread, err := announcements.JoinSlackThread(t.Context(), a, fingerprint, day)
		require.NoError(t, err)

		return thread.AnnouncementID, thread.TS
	}

	owner, ts := join(first, "b2a1")
	require.Equal(t, first.ID, owner)
	require.Empty(t, ts)
	require.NoError(t, announcements.SetSlackThread(t.Context(), first.ID, "1.1"))

	f.Clock.Advance(day - time.Second)

	owner, ts = join(second, "b2a1")
	require.Equal(t, first.ID, owner)
	require.Equal(t, "1.1", ts)

	session, _, err := announcements.SlackThreadSession(t.Context(), "C1", "1.1", f.Clock.Now())
	require.NoError(t, err)
	require.Equal(t, second.SessionID, session, "the newest")
	f.Clock.Advance(time.Second)

	owner, _ = join(second, "b2a1")
	require.Equal(t, second.ID, owner, "another thread")

	owner, _ = join(first, "")
	require.Equal(t, first.ID, owner, "without a fingerprint each session has its own")
	owner, _ = join(second, "")
	require.Equal(t, second.ID, owner)

	session, beginning, err := announcements.SlackThreadSession(t.Context(), "C1", "1.1", f.Clock.Now())
	require.NoError(t, err)
	require.Equal(t, second.SessionID, session, "people can still ask")
	require.False(t, beginning)

	_, beginning, err = announcements.SlackThreadSession(t.Context(), "C1", "9.9", f.Clock.Now())
	require.NoError(t, err)
	require.True(t, beginning, "it may be one that is not recorded yet")

	_, beginning, err = announcements.SlackThreadSession(t.Context(), "C1", "9.9", f.Clock.Now().Add(-time.Minute))
	require.NoError(t, err)
	require.False(t, beginning, "it is older than those")
}

// The announcement that should have begun a thread was given up, so another one begins it.
func TestSlackThreadIsBegunByNextAnnouncement(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	announcements := outbox.New(f.Server(t))
	first, second := slackEnd(t, f), slackEnd(t, f)

	_, err := announcements.JoinSlackThread(t.Context(), first, "b2a1", day)
	require.NoError(t, err)

	thread, err := announcements.JoinSlackThread(t.Context(), second, "b2a1", day)
	require.NoError(t, err)
	require.Equal(t, first.ID, thread.AnnouncementID)

	first.State, first.MessageIDs = tarsy.AnnouncementFailed, []string{}
	require.NoError(t, announcements.UpdateAnnouncement(t.Context(), first))

	thread, err = announcements.JoinSlackThread(t.Context(), second, "b2a1", day)
	require.NoError(t, err)
	require.Equal(t, second.ID, thread.AnnouncementID)

	f.Exec(t, `DELETE FROM sessions WHERE id = $1`, second.SessionID)
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM slack_threads`), "it goes with its session")
}

func TestChangedSlackThreadIsListedUntilItIsShown(t *testing.T) {
	t.Parallel()

	f := storetest.New(t)
	announcements := outbox.New(f.Server(t))
	a := slackEnd(t, f)

	_, err := announcements.JoinSlackThread(t.Context(), a, "b2a1", day)
	require.NoError(t, err)

	changed, err := announcements.ChangedSlackThreads(t.Context(), day, 10)
	require.NoError(t, err)
	require.Empty(t, changed, "nothing is posted yet")

	a.MessageIDs, a.ThreadID, a.State = []string{"1.1"}, "1.1", tarsy.AnnouncementSent
	require.NoError(t, announcements.UpdateAnnouncement(t.Context(), a))
	require.NoError(t, announcements.SetSlackThread(t.Context(), a.ID, "1.1"))

	changed, err = announcements.ChangedSlackThreads(t.Context(), day, 10)
	require.NoError(t, err)
	require.Len(t, changed, 1)
	require.Equal(t, 1, changed[0].Sessions)

	own, err := announcements.SlackThreadOf(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, changed[0], *own)
	require.NoError(t, announcements.ShowSlackThread(t.Context(), own.ID, own.State))

	changed, err = announcements.ChangedSlackThreads(t.Context(), day, 10)
	require.NoError(t, err)
	require.Empty(t, changed)

	f.Exec(t, `INSERT INTO session_alerts (session_id, fingerprint, group_key, occurrences, last_at) VALUES ($1, 'b2a1', '', 2, $2)
ON CONFLICT (session_id) DO UPDATE SET occurrences = 2`, a.SessionID, f.Clock.Now())

	changed, err = announcements.ChangedSlackThreads(t.Context(), day, 10)
	require.NoError(t, err)
	require.Len(t, changed, 1)
	require.EqualValues(t, 2, changed[0].Occurrences)

	require.NoError(t, announcements.EndSlackThread(t.Context(), own.ID))

	changed, err = announcements.ChangedSlackThreads(t.Context(), day, 10)
	require.NoError(t, err)
	require.Empty(t, changed)
}
