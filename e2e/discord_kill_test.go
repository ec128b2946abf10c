package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/tarsytest"
)

// newDiscordWorld returns a world whose servers use a virtual Discord.
func newDiscordWorld(t *testing.T, i *investigation) (*world, *discordWorld) {
	t.Helper()

	virtual := newDiscord(t)
	w := newWorld(t, worldOptions{}, i)
	w.settings.Config += virtual.Config(oncallAsks)
	w.settings.Env = virtual.Env()

	return w, virtual
}

// announcements counts the bot's messages in the announcement channel.
func announcements(w *discordWorld) (n int) {
	for _, m := range w.Sent().Messages {
		if m.ChannelID == alertsID {
			n++
		}
	}

	return n
}

// A server is killed after it has committed a session's end: before its announcement reaches Discord, or after that but
// before the server knows. The next server announces it, and it appears once.
func TestDiscordAnnouncementSurvivesKill(t *testing.T) {
	t.Parallel()

	for name, afterSending := range map[string]bool{"before sending": false, "after sending": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			i := newInvestigation(t, "announced", pair())
			w, virtual := newDiscordWorld(t, i)
			hold := virtual.Hold(afterSending)
			first := w.Start()

			w.SubmitAndWatch(i)
			await(t, hold.reached, "the announcement")
			require.Equal(t, "completed", string(w.Session(i.SessionID).Status), "the end is committed")
			first.Kill()
			virtual.Release()

			w.Start()
			virtual.AwaitThread()
			virtual.Await("alerts", i.SessionID)
			require.Equal(t, 1, announcements(virtual))

			type row struct{ State, MessageID, ThreadID string }

			wait.Until(t, "the announcement to be sent", func() bool {
				return tarsytest.Rows[row](w.App, `SELECT state, message_ids[1] AS message_id, thread_id FROM announcements`)[0].State == "sent"
			})
		})
	}
}

// One of two servers holds the connection. When it is killed, the other one takes over, and the answer that
// people wait for in Discord arrives once.
func TestDiscordConnectionIsTakenOver(t *testing.T) {
	t.Parallel()

	const midText = 5

	i := newInvestigation(t, "taken", pair())
	answer := i.HoldCall("ChatAgent 2", midText)
	again := i.HoldCall("ChatAgent 2", midText)
	w, virtual := newDiscordWorld(t, i)
	first := w.Start()

	virtual.AwaitReady()

	second := w.Start()

	w.SubmitAndWatch(i)

	thread := virtual.AwaitThread()
	require.Equal(t, 1, virtual.Connected())
	require.Equal(t, 1, announcements(virtual))

	virtual.Write(thread.ID, "ann", "is it still slow?")
	await(t, answer.Reached(), "the middle of the answer")
	first.Kill()
	answer.Open()
	again.Open()

	_, err := virtual.WaitConnection(virtual.ctx(), "the second server", func(c discord.Connection) bool { return c.Number == 2 && c.How == "identify" })
	require.NoError(t, err)
	virtual.Await(thread.ID, "This is ChatAgent 2")

	type row struct{ State string }

	wait.Until(t, "every announcement to be sent", func() bool {
		return len(tarsytest.Rows[row](w.App, `SELECT state FROM announcements WHERE state <> 'sent'`)) == 0
	})

	replies := 0

	for _, m := range virtual.Sent().Messages {
		if m.ChannelID == thread.ID {
			replies++
		}
	}

	require.Equal(t, 1, replies)
	require.LessOrEqual(t, len(virtual.Connections()), 4, "no loop of connections; a busy machine may need another one")
	require.False(t, virtual.Connections()[0].Open)
	require.NotEmpty(t, second.ServerID)
}
