package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
)

const discordScript = `version: 1
replies: [{text: scripted}]
discord:
  token: a-token
  users: [alice]
  guilds: [{name: ops, channels: [alerts]}]
  conversation:
    - say: {channel: alerts, author: alice, content: "<@tarsy> ping"}
    - expect: {channel: alerts, content: pong, reply_to: alice}
`

// control sends a request to the control endpoints of the virtual Discord.
func (m *mockServer) control(t *testing.T, method, path, body string) (int, string) {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), method, m.url+"/_mock/discord"+path, strings.NewReader(body))
	require.NoError(t, err)

	request.Close = true

	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)

	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return response.StatusCode, string(text)
}

// toMock is a transport that redirects requests for discord.com to the mock server.
type toMock string

func (to toMock) RoundTrip(request *http.Request) (*http.Response, error) {
	changed := request.Clone(request.Context())
	changed.URL.Scheme, changed.URL.Host, changed.Host = "http", strings.TrimPrefix(string(to), "http://"), ""
	changed.URL.Path = "/discord" + changed.URL.Path
	changed.Close = true

	return http.DefaultTransport.RoundTrip(changed)
}

func TestMockServesDiscordFromTheScriptBesideTheModel(t *testing.T) {
	t.Parallel()

	m := startMock(t, "--script", scriptFile(t, discordScript))

	_, text := m.ask(t, "/v1/chat/completions", mockChat)
	require.Contains(t, text, "scripted")

	bot, err := discordgo.New("Bot a-token")
	require.NoError(t, err)

	bot.Client = &http.Client{Transport: toMock(m.url)}
	bot.Identify.Intents = discordgo.IntentsGuilds | discordgo.IntentsGuildMessages
	asked := make(chan *discordgo.MessageCreate, 10)

	bot.AddHandler(func(_ *discordgo.Session, e *discordgo.MessageCreate) { asked <- e })
	require.NoError(t, bot.Open())

	message := <-asked
	require.Contains(t, message.Content, "ping")

	_, err = bot.ChannelMessageSendReply(message.ChannelID, "pong", message.Reference())
	require.NoError(t, err)

	status, text := m.control(t, http.MethodPost, "/steps", "expect: {channel: alerts, content: {equals: pong}}")
	require.Equal(t, http.StatusOK, status, text)

	status, text = m.control(t, http.MethodPost, "/steps", `{"say": {"channel": "alerts", "author": "alice", "content": "thanks"}}`)
	require.Equal(t, http.StatusOK, status, text)

	for (<-asked).Author.Username != "alice" {
	}

	status, text = m.control(t, http.MethodGet, "/sent", "")
	require.Equal(t, http.StatusOK, status)

	var sent struct {
		Messages []struct{ Content, Channel string }
	}

	require.NoError(t, json.Unmarshal([]byte(text), &sent))
	require.Equal(t, []struct{ Content, Channel string }{{"pong", "alerts"}}, sent.Messages)

	status, text = m.control(t, http.MethodGet, "", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, text, `"conversation":{"steps":2,"done":2}`)

	bot.ShouldReconnectOnError = false
	require.NoError(t, bot.Close())
	require.Equal(t, cli.ExitOK, m.end(t), m.stderr)
}

func TestMockReportsDiscordStepsThatWereNotReached(t *testing.T) {
	t.Parallel()

	m := startMock(t, "--script", scriptFile(t, strings.Replace(discordScript, "replies: [{text: scripted}]\n", "", 1)))

	status, text := m.control(t, http.MethodPost, "/steps", "say: {channel: alarts, author: alice, content: hello}")
	require.Equal(t, http.StatusConflict, status)
	require.Contains(t, text, "did you mean alerts?")

	status, text = m.control(t, http.MethodPost, "/steps", "say: {chanel: alerts, author: alice, content: hello}")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, text, "chanel")

	require.Equal(t, cli.ExitFailed, m.end(t))
	require.Contains(t, m.stderr.String(), "unused: Discord: step 1 of the conversation (say in alerts as alice")
	require.Contains(t, m.stderr.String(), "no client is connected")
}

func TestMockServesDiscordWithoutAScript(t *testing.T) {
	t.Parallel()

	m := startMock(t, "--discord")

	status, text := m.control(t, http.MethodPost, "/steps", "say: {channel: general, author: alice, content: hello}")
	require.Equal(t, http.StatusOK, status, text)
	require.Equal(t, cli.ExitOK, m.end(t), m.stderr)
}
