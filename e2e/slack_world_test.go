package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/slack"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/tarsytest"
)

const (
	slackAlerts, slackStorage      = "C0000000001", "C0000000002"
	slackAnn, slackBob             = "U0000000001", "U0000000002"
	slackLeaky, slackLeakyName     = "U0000000003", "ghp_16C7e42F292c6912E7710c838347Ae178B4a" // a user whose name is a token
	slackToken, slackAppToken      = "xoxb-of-the-test", "xapp-of-the-test"
	slackAnnAsks                   = `allow: {channels: [` + slackAlerts + `], users: [` + slackAnn + `]}, approve: [` + slackAnn + `]`
	approveButton, rejectButton    = "tarsy_approve", "tarsy_reject"
	slackPost, slackUpdate         = "chat.postMessage", "chat.update"
	slackHistory, slackThreadReads = "conversations.history", "conversations.replies"
)

// slackWorld is a virtual Slack. Requests to post a message can be held before or after the message is created.
type slackWorld struct {
	*slack.Server

	t   testing.TB
	api string

	mu   sync.Mutex
	hold *discordHold
}

func newSlack(t testing.TB, clock clockwork.Clock) *slackWorld {
	t.Helper()

	server, err := slack.New(slack.Config{Clock: clock, Setup: slack.Setup{
		Token: slackToken, AppToken: slackAppToken, Users: []slack.User{{Name: "ann", ID: slackAnn}, {Name: "bob", ID: slackBob}, {Name: slackLeakyName, ID: slackLeaky}},
		Channels: []slack.Channel{{Name: "alerts", ID: slackAlerts}, {Name: "storage", ID: slackStorage}},
	}})
	require.NoError(t, err)
	t.Cleanup(server.Stop)

	w := &slackWorld{Server: server, t: t}
	front := httptest.NewServer(w)
	t.Cleanup(front.Close)
	t.Cleanup(func() { w.Release() })

	w.api = front.URL + slack.Path + "/api"

	return w
}

// ServeHTTP serves Slack with the hold before or after it.
func (w *slackWorld) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	hold := w.hold
	w.mu.Unlock()

	if hold == nil || !strings.HasSuffix(r.URL.Path, slackPost) {
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

// Hold makes requests to post a message wait until Release.
func (w *slackWorld) Hold(afterSending bool) *discordHold {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.hold = &discordHold{afterSending: afterSending, reached: make(chan struct{}), open: make(chan struct{})}

	return w.hold
}

// Release ends the hold.
func (w *slackWorld) Release() {
	w.mu.Lock()
	defer w.mu.Unlock()

	if w.hold != nil {
		close(w.hold.open)
		w.hold = nil
	}
}

// Config returns the configuration of servers that use this Slack.
func (w *slackWorld) Config(more string) string {
	return fmt.Sprintf("system: {dashboard_url: 'https://tarsy.example.org', slack: {enabled: true, channel: %q, api_url: %q, %s}}\n", slackAlerts, w.api, more)
}

func (w *slackWorld) Env() map[string]string {
	return map[string]string{"SLACK_BOT_TOKEN": slackToken, "SLACK_APP_TOKEN": slackAppToken}
}

// newSlackApp returns a server on a virtual Slack whose chain accepts questions.
func newSlackApp(t *testing.T, more string) (*tarsytest.App, *slackWorld) {
	t.Helper()

	w := newSlack(t, nil)

	return tarsytest.New(t, tarsytest.Options{Config: w.Config(more) + chatty, Env: w.Env(), MCP: []*tarsytest.MCPServer{oomTools()}}), w
}

func (w *slackWorld) ctx() context.Context {
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	w.t.Cleanup(cancel)

	return ctx
}

// Await waits for a message of the bot that shows a text.
func (w *slackWorld) Await(channel, text string) slack.Message {
	w.t.Helper()

	m, err := w.WaitMessage(w.ctx(), channel, text)
	require.NoError(w.t, err)

	return m
}

// AwaitReady waits until the bot receives messages.
func (w *slackWorld) AwaitReady() {
	w.t.Helper()
	require.NoError(w.t, w.WaitReady(w.ctx()))
}

// Write posts a message as a person in a thread.
func (w *slackWorld) Write(user, text, thread string) slack.Message {
	w.t.Helper()

	m, err := w.Say("alerts", user, text, thread)
	require.NoError(w.t, err)

	return m
}

// Press clicks a button and waits until the server has processed it.
func (w *slackWorld) Press(user, ts, action string) slack.Envelope {
	w.t.Helper()

	id, err := w.Click("alerts", user, ts, action)
	require.NoError(w.t, err)

	done, err := w.WaitAck(w.ctx(), id)
	require.NoError(w.t, err)

	return done
}

// Replies returns the bot's messages in a thread.
func (w *slackWorld) Replies(thread string) []slack.Message {
	return slices.DeleteFunc(w.Sent(""), func(m slack.Message) bool { return m.ThreadTS != thread })
}

// AwaitSent waits until no announcement is pending.
func (w *slackWorld) AwaitSent(app *tarsytest.App) {
	w.t.Helper()

	wait.Until(w.t, "every announcement to be sent", func() bool {
		return len(tarsytest.Rows[struct{ State string }](app, `SELECT state FROM announcements WHERE state = 'pending'`)) == 0
	})
}
