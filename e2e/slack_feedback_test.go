package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestSlackThreadTakesFeedback(t *testing.T) {
	t.Parallel()

	const secret = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

	app, w := newSlackApp(t, slackAnnAsks)
	app.Script.Route("Investigator", says("The disk is full."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))

	sessionID := app.Run("test", "disk full").ID
	thread := w.Await("alerts", "A leak.").TS
	w.AwaitReady()

	// With the bot's name it is a mention too, and is delivered twice.
	w.Write("ann", "<@tarsy> !feedback wrong, the disk has space, my token is "+secret+". Cause: the network @everyone", thread)
	require.Equal(t, slackAnn, w.Await("alerts", "Feedback recorded: wrong.").Ephemeral)

	given := app.Session(sessionID).Feedback
	require.Len(t, given, 1)
	require.Equal(t, "slack:ann", given[0].Author)
	require.Equal(t, "slack:"+slackAnn, given[0].AuthorID)
	require.Equal(t, tarsy.RatingWrong, given[0].Rating)
	require.True(t, strings.HasPrefix(given[0].Why, "the disk has space"), given[0].Why)
	require.NotContains(t, given[0].Why, secret)
	require.Equal(t, "the network @everyone", given[0].RealCause)

	// Invalid feedback is explained and changes nothing.
	w.Write("ann", "!feedback perfect", thread)
	require.Contains(t, w.Await("alerts", "There is no rating").Shown(), "right")
	w.Write("ann", "!feedback", thread)
	w.Await("alerts", "Write right, partly or wrong")
	require.Equal(t, given, app.Session(sessionID).Feedback)

	// A user who is not allowed to ask is not allowed to rate either, and gets no answer.
	w.Write("bob", "!feedback right", thread)

	w.Write("ann", "!feedback withdraw", thread)
	w.Await("alerts", "Your feedback is withdrawn.")
	require.Empty(t, app.Session(sessionID).Feedback)
	require.Nil(t, app.Session(sessionID).Chat, "none of it was a question")

	for i, action := range []string{"feedback.give", "feedback.withdraw"} {
		row := auditLog(t, app)[i]
		require.Equal(t, action, row.Action)
		require.Equal(t, "slack:ann", row.Actor)
		require.Equal(t, tarsy.ActorSlack, row.ActorKind)
	}

	replies := w.Journal("chat.postEphemeral")
	require.Len(t, replies, 4, "one for each message of ann")
}
