package notify

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/outbox"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/quiet"
)

var (
	errRefused = errors.New("refused")
	errBroken  = errors.New("broken")
)

// limited is an error of a channel that asks to wait.
type limited struct{ pause time.Duration }

func (limited) Error() string { return "too many requests" }

// target is a channel that does what a test defines.
type target struct {
	send func(a *tarsy.Announcement) (bool, error)
}

func (t target) Send(_ context.Context, a *tarsy.Announcement, _ *Draft[int]) (bool, error) {
	return t.send(a)
}

func (target) Permanent(_ *tarsy.Announcement, err error) bool { return errors.Is(err, errRefused) }

func (target) RetryAfter(err error) (time.Duration, bool) {
	asked, ok := errors.AsType[limited](err)

	return asked.pause, ok
}

func newSender(clock clockwork.Clock) *Sender[int] {
	return NewSender(SenderConfig[int]{Channel: tarsy.ChannelSlack, Target: target{}, Clock: clock, Logger: slog.New(slog.DiscardHandler)})
}

func TestResultOfAnAttemptDecidesWhenTheNextOneIs(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	s := newSender(clock)
	now := calendar.Time(clock.Now())
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

	paused := settled(nil, false, limited{17 * time.Second})
	require.Equal(t, now.Add(17*time.Second), paused.DueAt)
	require.Zero(t, paused.Attempts, "waiting as told is no failed attempt")
	require.Equal(t, tarsy.AnnouncementPending, paused.State)

	for attempts, pause := range map[int]time.Duration{0: 4 * time.Second, 1: 8 * time.Second, 5: 128 * time.Second, 6: 256 * time.Second, 7: lastPause, 200: lastPause} {
		failed := settled(attempted(attempts), true, errBroken)
		require.Equal(t, attempts+1, failed.Attempts)
		require.Equal(t, now.Add(pause), failed.DueAt, attempts)
		require.Equal(t, tarsy.AnnouncementPending, failed.State, "what should be the last message failed")
		require.Equal(t, "broken", failed.Error)
	}

	for err, want := range map[error]tarsy.AnnouncementState{
		errRefused: tarsy.AnnouncementFailed, ErrDeleted: tarsy.AnnouncementFailed, errTooOld: tarsy.AnnouncementFailed, SkippedForStatus(tarsy.ApprovalRejected): tarsy.AnnouncementSkipped,
	} {
		over := settled(nil, false, err)
		require.Equal(t, want, over.State, err)
		require.Equal(t, err.Error(), over.Error)
	}
}

// Announcements that are a day old are given up without a request.
func TestOldAnnouncementsAreGivenUp(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	s := newSender(clock)

	for _, test := range []struct {
		late     time.Duration
		attempts int
		want     error
	}{{maxAge + time.Second, 0, errTooOld}, {0, maxAttempts, errTooOld}, {maxAge - time.Second, maxAttempts - 1, nil}} {
		a := tarsy.Announcement{Subject: tarsy.SubjectEnd, State: tarsy.AnnouncementPending, DueAt: clock.Now().Add(-test.late), Attempts: test.attempts}
		require.Equal(t, test.want, s.tooOld(a))
	}
}

// Only one goroutine at a time works on an announcement, which is dropped when it is complete.
func TestWorkOnAnAnnouncementDoesNotOverlap(t *testing.T) {
	t.Parallel()

	s := newSender(clockwork.NewFakeClock())
	began, first, other := make(chan int), make(chan bool), make(chan bool)
	work := func(n int, over <-chan bool) func(*Draft[int]) bool {
		return func(d *Draft[int]) bool {
			d.Own = n
			began <- n

			return <-over
		}
	}

	s.Go("a", nil, work(1, first))
	require.Equal(t, 1, wait.For(t, began, "the first work"))
	s.Go("a", nil, work(2, first)) // the first has not ended
	s.Forget(func(*int) bool { return true })
	s.Go("b", nil, work(3, other))
	require.Equal(t, 3, wait.For(t, began, "the work on another one"))

	first <- false
	other <- true

	s.Wait()
	require.Len(t, s.drafts, 1)
	require.Equal(t, 1, s.drafts["a"].Own, "what is not over is remembered")

	tooEarly := func(*int) bool { return false }
	s.Go("a", tooEarly, work(4, first))
	s.Wait()

	s.Forget(func(own *int) bool { return *own < 1 })
	require.Len(t, s.drafts, 1)
	s.Forget(func(own *int) bool { return *own < 2 })
	require.Empty(t, s.drafts)
}

// messages is a channel's messages; a test sets whether an earlier attempt may have posted them.
type messages struct {
	shown    []string
	doubtful bool
	parts    []string
}

func (m *messages) Create(_ context.Context, number int) (string, bool, error) {
	m.shown = append(m.shown, "created "+m.parts[number])

	return m.parts[number], m.doubtful, nil
}

func (m *messages) Edit(_ context.Context, number int, id string) error {
	if number >= len(m.parts) {
		m.shown = append(m.shown, "replaced "+id)
	} else {
		m.shown = append(m.shown, "edited "+m.parts[number])
	}

	return nil
}

func TestMessagesFollowTheParts(t *testing.T) {
	t.Parallel()

	db, err := postgres.Open(wait.Context(t), postgres.Config{URL: pgtest.New(t), MaxConns: 2})
	require.NoError(t, err)
	db.Start()
	t.Cleanup(db.Stop)

	s, a, d := newSender(clockwork.NewFakeClock()), &tarsy.Announcement{ID: ident.New()}, &Draft[int]{}
	s.cfg.Outbox = outbox.New(db)

	post := func(doubtful bool, parts ...string) []string {
		m := &messages{doubtful: doubtful, parts: parts}
		require.NoError(t, s.Post(t.Context(), a, d, parts, m))

		return m.shown
	}

	require.Equal(t, []string{"created a", "created b"}, post(false, "a", "b"))
	require.Empty(t, post(false, "a", "b"), "nothing has changed")
	require.Equal(t, []string{"edited c", "created d"}, post(false, "a", "c", "d"))
	require.Equal(t, []string{"replaced b", "replaced d"}, post(false, "a"))
	require.Empty(t, post(false, "a"))
	require.Equal(t, []string{"a", "b", "d"}, a.MessageIDs)

	// The next holder knows the messages, but not their content.
	d = &Draft[int]{}
	require.Equal(t, []string{"edited a", "edited b", "edited d", "created e", "edited e"}, post(true, "a", "b", "d", "e"))
}

func TestAnnouncementsFollowTheRoutes(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 17, 23, 0, 0, 0, time.UTC)
	announce := Announce(tarsy.ChannelDiscord, Routes{
		Channel: "1", Teams: map[string]string{"payments": "2"}, On: []message.Event{message.Started, message.Finished},
		Quiet: &quiet.Hours{From: 22 * time.Hour, To: 7 * time.Hour, Location: time.UTC, Except: []tarsy.Severity{tarsy.SeverityCritical}},
	}, clockwork.NewFakeClockAt(now))

	for _, tt := range []struct {
		team     string
		severity tarsy.Severity
		subject  tarsy.AnnouncementSubject
		status   tarsy.SessionStatus
		channel  string
		due      time.Time
	}{
		{"payments", "warning", tarsy.SubjectStart, tarsy.SessionInProgress, "2", now.Add(8 * time.Hour)},
		{"storage", "warning", tarsy.SubjectEnd, tarsy.SessionCompleted, "1", now.Add(8 * time.Hour)},
		{"", "critical", tarsy.SubjectEnd, tarsy.SessionCompleted, "1", now},
		{"", "critical", tarsy.SubjectEnd, tarsy.SessionFailed, "", now},
		{"", "critical", tarsy.SubjectEnd, tarsy.SessionCancelled, "", now},
	} {
		rows := announce(tarsy.Session{ID: "s", Status: tt.status, AlertFacts: tarsy.AlertFacts{Team: tt.team, Severity: tt.severity}}, tt.subject)
		if tt.channel == "" {
			require.Empty(t, rows)

			continue
		}

		require.Len(t, rows, 1)
		require.Equal(t, tarsy.ChannelDiscord, rows[0].Channel)
		require.Equal(t, tt.channel, rows[0].Target)
		require.Equal(t, tt.due, rows[0].DueAt)
		require.Equal(t, tt.subject, rows[0].Subject)
	}
}

// A cancelled session was ended deliberately. If its start was announced, its end can be too.
func TestCancelledSessionIsAnnouncedOnlyAfterItsBeginning(t *testing.T) {
	t.Parallel()

	cancelled := tarsy.Session{ID: ident.New(), Status: tarsy.SessionCancelled}

	for _, test := range []struct {
		routes Routes
		want   int
	}{
		{Routes{Cancelled: true, On: []message.Event{message.Finished, message.Failed}}, 0},
		{Routes{Cancelled: true, On: []message.Event{message.Started, message.Finished}}, 1},
		{Routes{On: []message.Event{message.Started, message.Finished}}, 0},
	} {
		announce := Announce(tarsy.ChannelSlack, test.routes, clockwork.NewFakeClock())
		require.Len(t, announce(cancelled, tarsy.SubjectEnd), test.want, "%v", test.routes)
	}
}

func TestRoutesDoNotContainThreads(t *testing.T) {
	t.Parallel()

	routes := Routes{Channel: "1", Teams: map[string]string{"payments": "2"}}
	require.True(t, routes.Has("1"))
	require.True(t, routes.Has("2"))
	require.False(t, routes.Has("3"))
}

func plain(text string) string { return text }

func TestAnswerMessageShowsItsStatus(t *testing.T) {
	t.Parallel()

	const lost, empty = "The question was not answered. Ask again.", "The answer is empty."

	markup := Markup{Call: plain, Text: plain, Failed: plain}

	for name, test := range map[string]struct {
		answer *outbox.Answer
		age    time.Duration
		done   bool
		shown  string
	}{
		"waiting":            {&outbox.Answer{Waiting: true}, time.Hour, false, ""},
		"just asked":         {&outbox.Answer{}, time.Second, false, ""},
		"lost":               {&outbox.Answer{}, lostAfter + time.Second, true, lost},
		"being written":      {&outbox.Answer{Status: tarsy.StatusActive}, time.Hour, false, ""},
		"over and empty":     {&outbox.Answer{Status: tarsy.StatusCompleted}, time.Second, true, empty},
		"over with a text":   {&outbox.Answer{Status: tarsy.StatusCompleted, Events: []tarsy.TimelineEvent{{EventType: tarsy.EventResponse, Content: "yes"}}}, 0, true, "yes"},
		"cancelled, nothing": {&outbox.Answer{Status: tarsy.StatusCancelled}, 0, true, "The answer was cancelled."},
	} {
		shown, done := markup.Answer(test.answer, test.age)
		require.Equal(t, test.done, done, name)
		require.Equal(t, test.shown, shown, name)
	}
}

func TestAnswerShowsToolCallsAndRepeatsNothing(t *testing.T) {
	t.Parallel()

	call := func(name string) tarsy.TimelineEvent {
		return tarsy.TimelineEvent{EventType: tarsy.EventToolCall, Metadata: tarsy.NewMetadata(tarsy.ToolCallMetadata{ServerName: "k8s", ToolName: name})}
	}
	markup := Markup{
		Call: func(tool string) string { return "call of " + tool }, Text: plain, Failed: func(reason string) string { return "failed: " + reason },
	}
	shown := func(answer *outbox.Answer) string {
		text, _ := markup.Answer(answer, 0)

		return text
	}
	answer := &outbox.Answer{Status: tarsy.StatusActive, Events: []tarsy.TimelineEvent{
		{EventType: tarsy.EventUserQuestion, Content: "Why?"}, {EventType: tarsy.EventThinking, Content: "Hm."},
		{EventType: tarsy.EventResponse, Content: "I look."}, call("logs"), call("pods"), {EventType: tarsy.EventResponse, Content: "It leaks."},
	}}

	const want = "I look.\n\ncall of k8s.logs\ncall of k8s.pods\n\nIt leaks."

	require.Equal(t, want, shown(answer))

	answer.Events = append(answer.Events, tarsy.TimelineEvent{EventType: tarsy.EventFinalAnalysis, Content: "It leaks."})
	answer.Status = tarsy.StatusCompleted
	require.Equal(t, want, shown(answer))

	answer.Status, answer.Error = tarsy.StatusFailed, "the model is down"
	require.Equal(t, want+"\n\nfailed: the model is down", shown(answer))
}
