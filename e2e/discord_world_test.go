package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/discord"
)

const (
	guildID, oncallID            = "1100000000000000001", "1100000000000000002"
	alertsID, otherID            = "1100000000000000003", "1100000000000000004"
	discordTokenName, discordKey = "DISCORD_TOKEN", "token-of-the-test-bot"
)

// The tests' allow lists: ann, who is on call, can ask and submit in the channel alerts. So can other-ann, whose display name is ann too.
const (
	oncallAsks    = `allow: {guilds: ["` + guildID + `"], channels: ["` + alertsID + `"], roles: ["` + oncallID + `"]}`
	oncallAllowed = oncallAsks + `, submit: {guilds: ["` + guildID + `"], channels: ["` + alertsID + `"], roles: ["` + oncallID + `"], alert_type: test}`
)

// discordWorld is a virtual Discord. Requests to send a message can be held before or after the message is created.
type discordWorld struct {
	*discord.Server

	t   testing.TB
	api string

	mu   sync.Mutex
	hold *discordHold
}

// discordHold is a point at which requests to send a message wait.
type discordHold struct {
	afterSending bool
	reached      chan struct{}
	open         chan struct{}
	once         sync.Once
}

func newDiscord(t testing.TB) *discordWorld {
	t.Helper()

	server, err := discord.New(discord.Config{Setup: discord.Setup{
		Token: discordKey,
		Users: []discord.User{{Name: "ann"}, {Name: "bob"}, {Name: "other-ann", DisplayName: "ann"}},
		Guilds: []discord.Guild{{
			Name: "guild", ID: guildID, Roles: []discord.Role{{Name: "oncall", ID: oncallID}},
			Channels: []discord.Channel{{Name: "alerts", ID: alertsID}, {Name: "other", ID: otherID}},
			Members:  []discord.Member{{User: "ann", Roles: []string{"oncall"}}, {User: "bob"}, {User: "other-ann", Roles: []string{"oncall"}}},
		}},
	}})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(server.Stop)

	w := &discordWorld{Server: server, t: t}
	front := httptest.NewServer(w)
	t.Cleanup(front.Close)
	t.Cleanup(func() { w.Release() })

	w.api = front.URL + discord.Path + "/api/v10"

	return w
}

// ServeHTTP serves the REST API with the hold before or after it.
func (w *discordWorld) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	hold := w.hold
	w.mu.Unlock()

	if hold == nil || r.Method != http.MethodPost || !strings.HasSuffix(r.URL.Path, "/messages") {
		w.Handler().ServeHTTP(rw, r)

		return
	}

	if hold.afterSending {
		w.Handler().ServeHTTP(httptest.NewRecorder(), r)
	}

	hold.once.Do(func() { close(hold.reached) })

	select {
	case <-hold.open:
	case <-r.Context().Done():
	}

	// The caller is gone, or retries.
	rw.WriteHeader(http.StatusBadGateway)
}

// Hold makes requests to send a message wait until Release.
func (w *discordWorld) Hold(afterSending bool) *discordHold {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.hold = &discordHold{afterSending: afterSending, reached: make(chan struct{}), open: make(chan struct{})}

	return w.hold
}

// Release ends the hold.
func (w *discordWorld) Release() {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.hold != nil {
		close(w.hold.open)
		w.hold = nil
	}
}

// Config returns the configuration of servers that use this Discord.
func (w *discordWorld) Config(allowed string) string {
	return fmt.Sprintf("system: {dashboard_url: 'https://tarsy.example.org', discord: {enabled: true, channel: %q, api_url: %q, gateway_url: %q, %s}}\n",
		alertsID, w.api, w.Gateway(), allowed)
}

func (w *discordWorld) Env() map[string]string {
	return map[string]string{discordTokenName: discordKey}
}

func (w *discordWorld) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)

	return ctx
}

// Await waits for a message in a channel or thread that contains a text.
func (w *discordWorld) Await(channel, text string) discord.Message {
	w.t.Helper()

	m, err := w.WaitMessage(w.ctx(), "a message", channel, text)
	require.NoError(w.t, err)

	return m
}

// AwaitThread waits for the thread under a message of the bot.
func (w *discordWorld) AwaitThread() discord.Thread {
	w.t.Helper()

	a, err := w.Wait(w.ctx(), "the thread", discord.Expect{Kind: discord.KindThread})
	require.NoError(w.t, err)

	return *a.Thread
}

// AwaitReady waits until the bot receives messages.
func (w *discordWorld) AwaitReady() {
	w.t.Helper()
	require.NoError(w.t, w.WaitReady(w.ctx()))
}

// Write writes a message as a person.
func (w *discordWorld) Write(channel, author, text string) discord.Message {
	w.t.Helper()

	m, err := w.Say(channel, author, text, discord.Options{})
	require.NoError(w.t, err)

	return m
}
