package slack

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/slack-go/slack/slackevents"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	mock "tarsy.dev/tarsy/internal/kit/mock/slack"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/outbox"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// newThread stores a session whose start was announced as the first message of a thread.
func newThread(t *testing.T) (*Bot, *mock.Server, *clockwork.FakeClock, tarsy.Announcement) {
	t.Helper()

	const channelID = "C0000000001"

	client, server, clock := newPaced(t)
	ctx := wait.Context(t)

	db, err := postgres.Open(ctx, postgres.Config{URL: pgtest.New(t), MaxConns: 2, Clock: clock})
	require.NoError(t, err)
	db.Start()

	announcements := outbox.New(db)
	t.Cleanup(db.Stop)

	now := calendar.Time(clock.Now())
	session := tarsy.Session{
		ID: ident.New(), AlertType: "test", AlertData: "disk full", ChainID: "chain", AgentType: "agent", Author: "ann",
		Status: tarsy.SessionCompleted, CreatedAt: now, StartedAt: &now, CompletedAt: &now, AlertFacts: tarsy.AlertFacts{Labels: map[string]string{}, Links: []tarsy.AlertLink{}},
	}
	require.NoError(t, db.CreateSession(ctx, session, postgres.Terms{}))

	ts, err := client.post(ctx, place{channel: channelID}, text("Investigating"), "1", 0)
	require.NoError(t, err)

	started := tarsy.Announcement{
		ID: ident.New(), SessionID: session.ID, Channel: tarsy.ChannelSlack, Subject: tarsy.SubjectStart, Target: channelID, State: tarsy.AnnouncementSent,
		MessageIDs: []string{ts}, ThreadID: ts, DueAt: now, CreatedAt: now, SentAt: &now,
	}
	_, err = announcements.AddAnnouncement(ctx, started)
	require.NoError(t, err)
	_, err = announcements.JoinSlackThread(ctx, started, "f", threadAge)
	require.NoError(t, err)
	require.NoError(t, announcements.SetSlackThread(ctx, started.ID, ts))

	b := New(Config{
		DB: db, Outbox: announcements, Client: client, Clock: clock, SessionURL: func(string) string { return "" }, Mask: func(text string) string { return text },
		Ask: Access{Channels: []string{"*"}, Users: []string{"*"}}, Logger: slog.New(slog.DiscardHandler),
	})

	return b, server, clock, started
}

// If Slack rejects the update of a first message, it is not retried on every read of the database.
func TestThreadWhoseUpdateFailedIsTriedAgainAfterPauses(t *testing.T) {
	t.Parallel()

	b, server, clock, _ := newThread(t)
	s := newSender(b.cfg)
	server.Break(mock.Fault{Method: "chat.update", Status: http.StatusBadGateway, Times: 2})

	requireUpdates := func(n int) {
		t.Helper()

		ctx := wait.Context(t)
		require.NoError(t, s.updateThreads(ctx, ctx))
		s.loop.Wait()
		require.Len(t, server.Journal("chat.update"), n)
	}

	requireUpdates(1)

	for failures, pause := range []time.Duration{notify.Pause(0), notify.Pause(1)} {
		clock.Advance(pause - time.Millisecond)
		requireUpdates(failures + 1)
		clock.Advance(time.Millisecond)
		requireUpdates(failures + 2)
	}

	clock.Advance(time.Minute)
	requireUpdates(3) // it is up to date
}

// intake records the questions that it accepts.
type intake struct {
	notify.Intake

	asked []string
}

func (i *intake) AskForStage(_ context.Context, _, _, content, _ string) (tarsy.Question, error) {
	i.asked = append(i.asked, content)

	return tarsy.Question{}, nil
}

// Slack gives replies with a file, and replies that are also shown in the channel, a subtype.
func TestReplyOfPersonIsQuestionWhateverItsForm(t *testing.T) {
	t.Parallel()

	b, _, _, started := newThread(t)
	taken := &intake{}
	b.people.Intake = taken

	for _, subtype := range []string{"", "thread_broadcast", "file_share", "message_changed"} {
		require.True(t, b.handleEvent(wait.Context(t), "UBOT", &slackevents.MessageEvent{
			User: "U1", Channel: started.Target, ThreadTimeStamp: started.ThreadID, TimeStamp: "2." + subtype, SubType: subtype, Text: "why? " + subtype,
		}))
	}

	require.Equal(t, []string{"why?", "why? thread_broadcast", "why? file_share"}, taken.asked)
}
