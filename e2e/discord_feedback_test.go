package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestDiscordThreadTakesFeedback(t *testing.T) {
	t.Parallel()

	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

	app, w := newDiscordApp(t, oncallAllowed)
	app.Script.Route("Investigator", says("The disk is full."), says("Full again."))
	app.Script.Route("ExecSummaryAgent", says("A leak."), says("The second announcement."))

	sessionID := app.Run("test", "disk full").ID
	thread := w.AwaitThread()
	w.AwaitReady()

	message := w.Write(thread.ID, "ann", "!feedback wrong, the disk has space, my token is "+secret+". Cause: the network @everyone")
	reply := w.Await(thread.ID, "Feedback recorded: wrong.")
	require.Equal(t, message.ID, reply.ReplyTo)

	given := app.Session(sessionID).Feedback
	require.Len(t, given, 1)
	require.Equal(t, "discord:ann", given[0].Author)
	require.Regexp(t, `^discord:[0-9]+$`, given[0].AuthorID)
	require.Equal(t, tarsy.RatingWrong, given[0].Rating)
	require.True(t, strings.HasPrefix(given[0].Why, "the disk has space"), given[0].Why)
	require.NotContains(t, given[0].Why, secret)
	require.Equal(t, "the network @everyone", given[0].RealCause)

	// Invalid feedback is explained and changes nothing.
	w.Write(thread.ID, "ann", "!feedback perfect")
	require.Contains(t, w.Await(thread.ID, "There is no rating").Content, "right")
	w.Write(thread.ID, "ann", "!feedback")
	w.Await(thread.ID, "Write right, partly or wrong")
	require.Equal(t, given, app.Session(sessionID).Feedback)

	// A user with the same display name has separate feedback.
	w.Write(thread.ID, "other-ann", "!feedback withdraw")
	w.Await(thread.ID, "has given no feedback")
	w.Write(thread.ID, "other-ann", "!feedback right")
	w.Await(thread.ID, "Feedback recorded: right.")

	both := app.Session(sessionID).Feedback
	require.Len(t, both, 2)
	require.Equal(t, "discord:ann (2)", both[0].Author)
	require.NotEqual(t, given[0].AuthorID, both[0].AuthorID)
	require.Equal(t, given[0], both[1])

	w.Write(thread.ID, "ann", "!feedback withdraw")
	w.Await(thread.ID, "Your feedback is withdrawn.")
	require.Equal(t, both[:1], app.Session(sessionID).Feedback)

	for i, action := range []string{"feedback.give", "feedback.give", "feedback.withdraw"} {
		row := auditLog(t, app)[i]
		require.Equal(t, action, row.Action)
		require.Equal(t, "discord:ann", row.Actor)
		require.Equal(t, tarsy.ActorDiscord, row.ActorKind)
	}
	// A user who is not allowed to ask is not allowed to rate either, and gets no answer.
	before := len(w.Sent().Messages)

	w.Write(thread.ID, "bob", "!feedback right")
	app.Run("test", "disk full")
	w.Await("alerts", "The second announcement.")
	require.Len(t, w.Sent().Messages, before+1)
	require.Equal(t, both[:1], app.Session(sessionID).Feedback)
	require.Nil(t, app.Session(sessionID).Chat, "none of it was a question")
}
