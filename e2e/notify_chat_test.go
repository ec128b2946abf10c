package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// These chats can only receive messages: Microsoft Teams gets cards, Mattermost Markdown, about the end of a session and
// about a waiting call.
func TestTeamsAndMattermostReceiveVerdictsAndApprovals(t *testing.T) {
	t.Parallel()

	var asked atomic.Bool

	teams := newTarget(t, func(received) int {
		if !asked.Swap(true) {
			return http.StatusTooManyRequests
		}

		return http.StatusAccepted
	})
	mattermost := newTarget(t, nil)

	app := tarsytest.New(t, tarsytest.Options{
		Config: fixer + asksForRestartWithin3h + "system: {dashboard_url: 'https://tarsy.example.org'}\n" + fmt.Sprintf(
			"alerts:\n  write_back:\n    teams: {type: teams, url: '%s/workflow', on: [approval, finished]}\n    mattermost: {type: mattermost, url: '%s/hooks/x', on: [approval, finished]}\n",
			teams.URL, mattermost.URL),
		MCP: []*tarsytest.MCPServer{operator()},
	})
	app.Script.Add(restart(`{"pod": "web"}`), says("It leaks, see [the log](https://evil.example). @all"), says("A **leak**. @all"))

	id := app.Submit("test", "web is slow")
	approval := waitApproval(app, app.Watch(id))

	// Teams asked to wait, which is not a failure.
	refused := teams.next()
	require.Equal(t, refused.Body, teams.next().Body)

	approve := markdownOf(t, mattermost.next())
	require.Contains(t, approve, "**Approval needed\\: web is slow**")
	require.Contains(t, approve, `"pod": "web"`)
	require.Contains(t, approve, "[Decide in TARSy](<https://tarsy.example.org/sessions/"+id+">)")

	decide(t, app, approval.ID, "reject", map[string]any{"reason": "not now"})
	app.WaitFor(id, tarsy.SessionCompleted)

	ended := teams.next()
	require.Equal(t, "/workflow", ended.Path)
	require.Equal(t, "finished", ended.Header.Get("X-Tarsy-Event"))
	require.Empty(t, ended.Header.Get("Idempotency-Key"), "requests with it are repeated by net/http itself")

	var sent struct {
		Attachments []struct {
			Content struct {
				Body    []map[string]any `json:"body"`
				Actions []map[string]any `json:"actions"`
			} `json:"content"`
		} `json:"attachments"`
	}

	require.NoError(t, json.Unmarshal([]byte(ended.Body), &sent))
	require.Len(t, sent.Attachments, 1)
	require.Equal(t, "https://tarsy.example.org/sessions/"+id, sent.Attachments[0].Content.Actions[0]["url"])
	require.Contains(t, ended.Body, "web is slow")
	require.Contains(t, ended.Body, "A **leak**.")

	summary := markdownOf(t, mattermost.next())
	require.Contains(t, summary, "A **leak**. @\u200ball")
	require.Equal(t, 1, strings.Count(summary, "]("), "only the link to the session")
}

// markdownOf returns the text of a Mattermost post.
func markdownOf(t *testing.T, r received) string {
	t.Helper()

	var post struct {
		Text string `json:"text"`
	}

	require.NoError(t, json.Unmarshal([]byte(r.Body), &post))

	return post.Text
}
