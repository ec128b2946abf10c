package slack

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	mock "tarsy.dev/tarsy/internal/kit/mock/slack"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/notify"
)

// newPaced returns a client of a mock Slack, both on a fake clock.
func newPaced(t *testing.T) (*Client, *mock.Server, *clockwork.FakeClock) {
	t.Helper()

	clock := clockwork.NewFakeClock()

	server, err := mock.New(mock.Config{Clock: clock, Setup: mock.Setup{Users: []mock.User{{Name: "ann"}}, Channels: []mock.Channel{{Name: "alerts"}}}})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(server.Stop)

	client := NewClient(ClientConfig{Token: server.Token(), AppToken: server.AppToken(), API: server.API(), Clock: clock})
	t.Cleanup(client.Close)

	return client, server, clock
}

// A 429 pauses its method for the time that Slack asked for, and no other method.
func TestClientMakesNoRequestBeforeRateLimitEnds(t *testing.T) {
	t.Parallel()

	client, server, clock := newPaced(t)
	post := func() error {
		_, err := client.post(wait.Context(t), place{channel: "C0000000001"}, text("hello"), "1", 0)

		return err
	}
	left := func() time.Duration {
		limited, ok := retryAfter(post())
		require.True(t, ok)

		return limited
	}

	server.Break(mock.Fault{Method: "chat.postMessage", Status: http.StatusTooManyRequests, RetryAfter: 30 * time.Second})
	require.Equal(t, 30*time.Second, left())

	clock.Advance(30*time.Second - time.Millisecond)
	require.Equal(t, time.Millisecond, left())

	posts := server.Journal("chat.postMessage")
	require.Len(t, posts, 1, "the second attempt made no request")
	require.Equal(t, http.StatusTooManyRequests, posts[0].Status)

	_, _, err := client.Self(wait.Context(t))
	require.NoError(t, err)

	clock.Advance(time.Millisecond)
	require.NoError(t, post())

	posts = server.Journal("chat.postMessage")
	require.Len(t, posts, 2)
	require.Equal(t, http.StatusOK, posts[1].Status)
	require.Equal(t, 30*time.Second, posts[1].At.Sub(posts[0].At))
}

func TestNameOfUserIsReadAgainAfterAnHour(t *testing.T) {
	t.Parallel()

	client, server, clock := newPaced(t)
	requireRequests := func(n int) {
		t.Helper()
		require.Equal(t, "ann", client.userName(wait.Context(t), "U0000000001"))
		require.Len(t, server.Journal("users.info"), n)
	}

	requireRequests(1)
	clock.Advance(nameAge - time.Millisecond)
	requireRequests(1)
	clock.Advance(time.Millisecond)
	requireRequests(2)
}

// A rejected connection is retried after a pause. An established connection that breaks is replaced immediately.
func TestBotPausesAfterRefusedConnectionAndReplacesLostOne(t *testing.T) {
	t.Parallel()

	client, server, clock := newPaced(t)
	server.Break(mock.Fault{Method: "auth.test", Status: http.StatusServiceUnavailable, Times: 2})

	b := New(Config{Client: client, Clock: clock, Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})

	go func() {
		defer close(ended)

		b.listen(ctx)
	}()

	for attempts := 1; attempts <= 2; attempts++ {
		requireWaiting(t, clock)
		clock.Advance(15*time.Second - time.Millisecond)
		requireWaiting(t, clock)

		made := server.Journal("auth.test")
		require.Len(t, made, attempts, "no attempt during the pause")
		require.Equal(t, http.StatusServiceUnavailable, made[attempts-1].Status)
		require.Zero(t, server.Opened())
		clock.Advance(time.Millisecond)
	}

	require.NoError(t, server.WaitReady(wait.Context(t)))
	require.Equal(t, 1, server.Opened())

	server.Disconnect(false)
	require.NoError(t, server.Wait(wait.Context(t), "a second connection", func() bool { return server.Opened() == 2 && server.Connected() == 1 }))
	require.Len(t, server.Journal("apps.connections.open"), 2)

	cancel()
	wait.For(t, ended, "the end of listening")
}

// An answer is updated at most once per second.
func TestAnswerWaitsForItsNextUpdate(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	s := newSender(Config{Clock: clock, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, s.paceAnswer(t.Context(), &draft{}), "the first message waits for nothing")

	d := &draft{Own: memory{answered: clock.Now()}}
	passed := make(chan error, 1)

	go func() { passed <- s.paceAnswer(t.Context(), d) }()

	requireWaiting(t, clock)
	clock.Advance(notify.SendEvery - time.Millisecond)
	requireWaiting(t, clock)
	require.Empty(t, passed)
	clock.Advance(time.Millisecond)
	require.NoError(t, wait.For(t, passed, "the next update"))

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	d.Own.answered = clock.Now()
	require.ErrorIs(t, s.paceAnswer(ctx, d), context.Canceled)
}

// The state of a thread is kept while it delays an update.
func TestThreadIsForgottenAfterItsPause(t *testing.T) {
	t.Parallel()

	now := time.Now()
	updated, refused, answer := &memory{updated: now}, &memory{updated: now, again: now.Add(time.Hour)}, &memory{answered: now}

	require.False(t, updated.forgettable(now.Add(skew)))
	require.True(t, updated.forgettable(now.Add(skew+time.Millisecond)))
	require.False(t, refused.forgettable(now.Add(time.Hour)))
	require.True(t, refused.forgettable(now.Add(time.Hour+time.Millisecond)))
	require.False(t, answer.forgettable(now.Add(24*time.Hour)))
}

// The first request takes effect late. A rejected attempt in between does not reveal whether it did.
func TestMessageThatArrivesLateIsFoundAfterRefusedAttempt(t *testing.T) {
	t.Parallel()

	const channelID = "C0000000001"

	client, server, clock := newPaced(t)
	s := newSender(Config{Client: client, Clock: clock, Logger: slog.New(slog.DiscardHandler)})
	clock.Advance(skew + time.Second)

	shown := text("hello")
	a := &tarsy.Announcement{ID: ident.New(), CreatedAt: clock.Now()}
	w := &writer{s: s, a: a, d: &draft{}, to: place{channel: channelID}, messages: []content{shown}}
	create := func() (string, bool, error) { return w.Create(wait.Context(t), 0) }

	server.Break(mock.Fault{Method: "chat.postMessage", Status: http.StatusBadGateway})
	_, _, err := create()
	require.Error(t, err)

	server.Break(mock.Fault{Method: "chat.postMessage", Status: http.StatusTooManyRequests, RetryAfter: time.Second})
	_, _, err = create()
	require.Error(t, err)
	clock.Advance(time.Second)

	late, err := client.post(wait.Context(t), place{channel: channelID}, shown, a.ID, 0)
	require.NoError(t, err)

	ts, found, err := create()
	require.NoError(t, err)
	require.True(t, found)
	require.Equal(t, late, ts)
	require.Len(t, server.Sent(""), 1)
}

// requireWaiting waits until one goroutine waits for the clock.
func requireWaiting(t *testing.T, clock *clockwork.FakeClock) {
	t.Helper()
	require.NoError(t, clock.BlockUntilContext(wait.Context(t), 1), "nothing waits for the clock")
}
