package slack

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/channel"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/writeback/message"
)

func refusal(code string) error { return slack.SlackErrorResponse{Err: code} }

// After an error that leaves the result open, the message is looked for before it is posted again; after a refusal it is not there.
func TestErrorsThatLeaveTheResultOpen(t *testing.T) {
	t.Parallel()

	for _, err := range []error{
		io.ErrUnexpectedEOF, &net.OpError{Err: errors.New("reset")},
		refusal("internal_error"), refusal("fatal_error"), refusal("service_unavailable"), refusal("request_timeout"),
	} {
		require.True(t, unknown(err), err)
		require.False(t, IsRefused(err), err)
	}

	for _, err := range []error{refusal("channel_not_found"), refusal("invalid_blocks"), refusal("thread_not_found")} {
		require.False(t, unknown(err), err)
		require.True(t, IsRefused(err), err)
	}

	require.False(t, unknown(&slack.RateLimitedError{RetryAfter: time.Second}), "it was not accepted")
}

func TestErrorsAfterWhichAnAnnouncementIsGivenUp(t *testing.T) {
	t.Parallel()

	session, answer := &tarsy.Announcement{Subject: tarsy.SubjectEnd}, &tarsy.Announcement{Subject: tarsy.SubjectAnswer}

	for _, code := range []string{
		"msg_too_long", "msg_blocks_too_long", "no_text", "invalid_blocks", "invalid_blocks_format", "invalid_arguments", "invalid_metadata_format",
		"invalid_metadata_schema", "metadata_too_large",
	} {
		require.True(t, permanent(session, refusal(code)), code)
		require.True(t, permanent(answer, refusal(code)), code)
	}

	// An operator can invite the bot or fix the token. The thread of an answer does not come back.
	for _, code := range []string{"channel_not_found", "is_archived", "thread_not_found", "message_not_found"} {
		require.False(t, permanent(session, refusal(code)), code)
		require.True(t, permanent(answer, refusal(code)), code)
	}

	for _, code := range []string{"not_in_channel", "invalid_auth", "missing_scope", "internal_error", ""} {
		require.False(t, permanent(session, refusal(code)), code)
		require.False(t, permanent(answer, refusal(code)), code)
	}

	for _, err := range []error{errTooOld, errDeleted, errTooMany} {
		require.True(t, permanent(session, err), err)
	}
}

func TestResultOfAnAttemptDecidesWhenTheNextOneIs(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	s := newSender(Config{Clock: clock, Logger: slog.New(slog.DiscardHandler)})
	now := tarsy.Time(clock.Now())
	pending := tarsy.Announcement{Subject: tarsy.SubjectEnd, State: tarsy.AnnouncementPending, DueAt: now.Add(-time.Hour)}

	settled := func(change func(*tarsy.Announcement), done bool, err error) tarsy.Announcement {
		a := pending
		if change != nil {
			change(&a)
		}

		s.settle(&a, done, err)

		return a
	}
	attempted := func(n int) func(*tarsy.Announcement) { return func(a *tarsy.Announcement) { a.Attempts = n } }

	sent := settled(nil, true, nil)
	require.Equal(t, tarsy.AnnouncementSent, sent.State)
	require.Equal(t, now, *sent.SentAt)

	require.Equal(t, pending, settled(nil, false, nil), "another one is posted first")

	approval := settled(func(a *tarsy.Announcement) { a.Subject = tarsy.SubjectApproval }, false, nil)
	require.Equal(t, now.Add(decisionEvery), approval.DueAt, "a call that waits is looked at again")

	limited := settled(nil, false, &slack.RateLimitedError{RetryAfter: 17 * time.Second})
	require.Equal(t, now.Add(17*time.Second), limited.DueAt)
	require.Zero(t, limited.Attempts, "waiting as told is no failed attempt")

	for attempts, pause := range map[int]time.Duration{0: 4 * time.Second, 1: 8 * time.Second, 5: 128 * time.Second, 6: 256 * time.Second, 7: lastPause, 200: lastPause} {
		failed := settled(attempted(attempts), false, refusal("not_in_channel"))
		require.Equal(t, attempts+1, failed.Attempts)
		require.Equal(t, now.Add(pause), failed.DueAt, attempts)
		require.Equal(t, tarsy.AnnouncementPending, failed.State)
	}

	require.Equal(t, tarsy.AnnouncementFailed, settled(nil, false, refusal("invalid_blocks")).State)
}

// What is a day old alarms nobody any more. It is given up without a request.
func TestOldAnnouncementsAreGivenUp(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		late     time.Duration
		attempts int
	}{{maxAge + time.Second, 0}, {0, maxAttempts}} {
		clock := clockwork.NewFakeClock()
		s := newSender(Config{Clock: clock, Logger: slog.New(slog.DiscardHandler)})
		a := tarsy.Announcement{Subject: tarsy.SubjectEnd, State: tarsy.AnnouncementPending, DueAt: clock.Now().Add(-test.late), Attempts: test.attempts}

		require.ErrorIs(t, s.tooOld(a), errTooOld)
	}

	clock := clockwork.NewFakeClock()
	s := newSender(Config{Clock: clock, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, s.tooOld(tarsy.Announcement{DueAt: clock.Now().Add(-maxAge + time.Second), Attempts: maxAttempts - 1}))
}

// Somebody ended a cancelled session on purpose. Where its beginning was announced, its end is too.
func TestCancelledSessionIsAnnouncedOnlyAfterItsBeginning(t *testing.T) {
	t.Parallel()

	cancelled := tarsy.Session{ID: tarsy.NewID(), Status: tarsy.SessionCancelled}

	for _, test := range []struct {
		on   []message.Event
		want int
	}{{[]message.Event{message.Finished, message.Failed}, 0}, {[]message.Event{message.Started, message.Finished}, 1}} {
		announce := Announce(channel.Routes{Channel: "C1", On: test.on}, clockwork.NewFakeClock())
		require.Len(t, announce(cancelled, tarsy.SubjectEnd), test.want, "%v", test.on)
	}
}

func TestMessageOfAnAnswerNeverIsEmpty(t *testing.T) {
	t.Parallel()

	const lost, empty, working = "The question was not answered. Ask again.", "The answer is empty.", "_Working on it…_"

	for name, test := range map[string]struct {
		answer *postgres.Answer
		age    time.Duration
		done   bool
		shown  string
	}{
		"waiting":            {&postgres.Answer{Waiting: true}, time.Hour, false, working},
		"just asked":         {&postgres.Answer{}, time.Second, false, working},
		"lost":               {&postgres.Answer{}, lostAfter + time.Second, true, lost},
		"being written":      {&postgres.Answer{Status: tarsy.StatusActive}, time.Hour, false, working},
		"over and empty":     {&postgres.Answer{Status: tarsy.StatusCompleted}, time.Second, true, empty},
		"over with a text":   {&postgres.Answer{Status: tarsy.StatusCompleted, Events: []tarsy.TimelineEvent{{EventType: tarsy.EventResponse, Content: "yes"}}}, 0, true, "yes"},
		"cancelled, nothing": {&postgres.Answer{Status: tarsy.StatusCancelled}, 0, true, "The answer was cancelled."},
	} {
		shown, done := answerMessage(test.answer, test.age)
		require.Equal(t, test.done, done, name)
		require.Equal(t, test.shown, shown, name)
	}
}

// Somebody who edits a mention asked before, and messages of bots are none of people.
func TestEventsThatAreNoQuestionsAreDone(t *testing.T) {
	t.Parallel()

	b := &Bot{} // anything that asks would fail

	for name, event := range map[string]any{
		"edited mention":      &slackevents.AppMentionEvent{User: "U1", Channel: "C1", ThreadTimeStamp: "1", TimeStamp: "2", Text: "why?", Edited: &slackevents.Edited{User: "U1"}},
		"mention by a bot":    &slackevents.AppMentionEvent{User: "U1", Channel: "C1", ThreadTimeStamp: "1", TimeStamp: "2", Text: "why?", BotID: "B1"},
		"message of a bot":    &slackevents.MessageEvent{User: "U1", Channel: "C1", ThreadTimeStamp: "1", TimeStamp: "2", Text: "why?", BotID: "B1"},
		"edited message":      &slackevents.MessageEvent{User: "U1", Channel: "C1", ThreadTimeStamp: "1", TimeStamp: "2", SubType: "message_changed"},
		"outside of a thread": &slackevents.MessageEvent{User: "U1", Channel: "C1", TimeStamp: "2", Text: "why?"},
		"first of a thread":   &slackevents.MessageEvent{User: "U1", Channel: "C1", ThreadTimeStamp: "2", TimeStamp: "2", Text: "why?"},
		"our own":             &slackevents.MessageEvent{User: "UBOT", Channel: "C1", ThreadTimeStamp: "1", TimeStamp: "2", Text: "why?"},
		"nobody's":            &slackevents.MessageEvent{Channel: "C1", ThreadTimeStamp: "1", TimeStamp: "2", Text: "why?"},
		"another kind":        &slackevents.ReactionAddedEvent{User: "U1"},
	} {
		require.True(t, b.handleEvent(t.Context(), "UBOT", event), name)
	}
}
