package cli_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
)

// slackControl runs a step of the virtual Slack, or reads below its control address.
func (m *mockServer) slackControl(t *testing.T, method, path, body string) (int, string) {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), method, m.url+"/_mock/slack"+path, strings.NewReader(body))
	require.NoError(t, err)

	request.Close = true

	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)

	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return response.StatusCode, string(text)
}

func TestMockServesSlackAndStepsOverHTTP(t *testing.T) {
	t.Parallel()

	m := startMock(t, "--slack")
	client := slack.New("any", slack.OptionAPIURL(m.url+"/slack/api/"), slack.OptionHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}))

	_, ts, err := client.PostMessageContext(t.Context(), "general", slack.MsgOptionText("hello", false))
	require.NoError(t, err)

	for _, step := range []string{
		"expect: {channel: general, text: hello}", `{"say": {"channel": "general", "user": "alice", "text": "hi", "thread": "` + ts + `"}}`,
		"fault: {method: users.info, status: 503}", "lose_acks: 1", "disconnect: {graceful: true}",
	} {
		status, text := m.slackControl(t, http.MethodPost, "/steps", step)
		require.Equal(t, http.StatusOK, status, text)
	}

	for step, want := range map[string]string{
		"say: {chanel: general}": "chanel", "say: {channel: nowhere, user: alice, text: x}": "there is no channel", "{}": "exactly one thing",
		"submit: {user: bob}": "sees no modal", "click: {channel: general, user: bob, ts: '" + ts + "', action: go}": "no button",
		"expect: {text: never, within: 10ms}": "did not come within",
	} {
		status, text := m.slackControl(t, http.MethodPost, "/steps", step)
		require.GreaterOrEqual(t, status, http.StatusBadRequest, step)
		require.Contains(t, text, want)
	}

	_, text := m.slackControl(t, http.MethodGet, "/messages", "")
	require.Contains(t, text, `"text":"hi"`)
	_, text = m.slackControl(t, http.MethodGet, "/journal?method=chat.postMessage", "")
	require.Contains(t, text, `"method":"chat.postMessage"`)
	_, text = m.slackControl(t, http.MethodGet, "", "")
	require.Contains(t, text, `"general":"C0000000001"`)

	require.Equal(t, cli.ExitFailed, m.end(t), "a fault was not met")
	require.Contains(t, m.stderr.String(), "unused: Slack: a fault for 1 requests to users.info")
}
