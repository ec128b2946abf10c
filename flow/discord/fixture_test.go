package discord_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/flow/discord"
	mock "tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/kit/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token = "the-token-of-the-bot"

// serve runs a virtual Discord with people, a second bot and channels in which the bot has different permissions.
func serve(t *testing.T, change ...func(*mock.Setup)) *mock.Server {
	t.Helper()

	setup := mock.Setup{
		Token: token,
		Users: []mock.User{{Name: "alice", DisplayName: "Alice"}, {Name: "bob"}, {Name: "pager", Bot: true}},
		Guilds: []mock.Guild{{
			Name: "ops", Roles: []mock.Role{{Name: "on-call"}},
			Channels: []mock.Channel{{Name: "general"}, {Name: "other"}, {Name: "read-only", Deny: []string{"send"}}},
			Members:  []mock.Member{{User: "alice", Roles: []string{"on-call"}}, {User: "bob", Nick: "Bobby"}, {User: "pager"}},
		}},
	}
	for _, by := range change {
		by(&setup)
	}

	server, err := mock.New(mock.Config{Setup: setup})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(server.Stop)

	return server
}

func newClient(t *testing.T, server *mock.Server) *discord.Client {
	t.Helper()

	client, err := discord.NewClient(discord.ClientConfig{Token: token, API: server.API(), Gateway: server.Gateway()})
	require.NoError(t, err)
	t.Cleanup(client.Close)

	return client
}

// onRecord is a log handler that calls a function for each record.
type onRecord struct{ call func(slog.Record) }

func (onRecord) Enabled(context.Context, slog.Level) bool { return true }

func (h onRecord) Handle(_ context.Context, record slog.Record) error {
	h.call(record)

	return nil
}

func (h onRecord) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h onRecord) WithGroup(string) slog.Handler { return h }

// proxy returns the address of an API that passes every answer to a function first.
func proxy(t *testing.T, server *mock.Server, answered func(*http.Response)) string {
	t.Helper()

	to, err := url.Parse(server.URL())
	require.NoError(t, err)

	front := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host },
		ModifyResponse: func(r *http.Response) error {
			answered(r)

			return nil
		},
		Transport: &http.Transport{DisableKeepAlives: true},
	})
	t.Cleanup(front.Close)

	return front.URL + to.Path + "/api/v10"
}

// within returns a context that bounds a wait.
func within(t *testing.T) context.Context {
	t.Helper()

	return wait.Context(t)
}

// bot is a running client.
type bot struct {
	*discord.Client

	messages chan discord.Message
	stop     func() error
}

var errEnd = errors.New("the test has ended")

// run runs a client until the test ends, and waits until it is ready.
func run(t *testing.T, server *mock.Server) *bot {
	t.Helper()

	return runClient(t, newClient(t, server))
}

func runClient(t *testing.T, client *discord.Client) *bot {
	t.Helper()

	b := &bot{Client: client, messages: make(chan discord.Message, 1000)}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context())) // cancelled in Cleanup
	ready, ended := make(chan struct{}), make(chan error, 1)

	go func() {
		ended <- b.Run(ctx, func() { close(ready) }, func(_ context.Context, m discord.Message) error {
			b.messages <- m

			return nil
		})
	}()

	b.stop = sync.OnceValue(func() error {
		cancel(errEnd)

		return <-ended
	})

	t.Cleanup(func() { require.ErrorIs(t, b.stop(), errEnd) })

	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		require.FailNow(t, "the client ended", "%v", err)
	case <-within(t).Done():
		require.FailNow(t, "the client was not ready in time")
	}

	return b
}

func (b *bot) next(t *testing.T) discord.Message {
	t.Helper()

	select {
	case m := <-b.messages:
		return m
	case <-within(t).Done():
		require.FailNow(t, "no message came")

		return discord.Message{}
	}
}

func id(t *testing.T, server *mock.Server, ref string) string {
	t.Helper()

	found, err := server.ID(ref)
	require.NoError(t, err)

	return found
}

func say(t *testing.T, server *mock.Server, channel, author, content string) mock.Message {
	t.Helper()

	said, err := server.Say(channel, author, content, mock.Options{})
	require.NoError(t, err)

	return said
}
