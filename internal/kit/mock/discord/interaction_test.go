package discord_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/discord"
)

func TestCommandsAreRegisteredReplacedAndDeleted(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := newGoBot(t, s, allIntents)
	app, guild := id(t, s, "@tarsy"), id(t, s, "ops")

	first, err := b.ApplicationCommandCreate(app, guild, &discordgo.ApplicationCommand{Name: "ask", Description: "Ask"})
	require.NoError(t, err)
	again, err := b.ApplicationCommandCreate(app, guild, &discordgo.ApplicationCommand{Name: "ask", Description: "Ask again"})
	require.NoError(t, err)
	require.Equal(t, first.ID, again.ID, "a command replaces the one with its name")

	edited, err := b.ApplicationCommandEdit(app, guild, first.ID, &discordgo.ApplicationCommand{Name: "ask", Description: "Changed"})
	require.NoError(t, err)
	require.Equal(t, "Changed", edited.Description)

	all, err := b.ApplicationCommandBulkOverwrite(app, guild, []*discordgo.ApplicationCommand{{Name: "ask", Description: "Ask"}, {Name: "status", Description: "Status"}})
	require.NoError(t, err)
	require.Equal(t, first.ID, all[0].ID)

	global, err := b.ApplicationCommands(app, "")
	require.NoError(t, err)
	require.Empty(t, global, "those of a guild are not global")
	require.NoError(t, b.ApplicationCommandDelete(app, guild, first.ID))

	left, err := b.ApplicationCommands(app, guild)
	require.NoError(t, err)
	require.Len(t, left, 1)

	path := "/applications/" + app + "/commands"
	require.Contains(t, post(t, s, "POST", path, `{"name":"Has Space","description":"x"}`).body, "APPLICATION_COMMAND_INVALID_NAME")
	require.Contains(t, post(t, s, "POST", path, `{"name":"ask"}`).body, "BASE_TYPE_REQUIRED")
	require.Contains(t, post(t, s, "GET", path+"/1", "").body, "10063")
	require.Contains(t, post(t, s, "GET", "/applications/1/commands", "").body, "20012")
}

// asked returns a bot with the command ask, and the interactions that it receives.
func asked(t *testing.T, s *discord.Server) (*goBot, <-chan *discordgo.InteractionCreate) {
	t.Helper()

	b := openGoBot(t, s, allIntents)
	used := events[*discordgo.InteractionCreate](b)
	option := func(kind discordgo.ApplicationCommandOptionType, name string, required bool) *discordgo.ApplicationCommandOption {
		return &discordgo.ApplicationCommandOption{Type: kind, Name: name, Description: name, Required: required}
	}

	_, err := b.ApplicationCommandCreate(id(t, s, "@tarsy"), "", &discordgo.ApplicationCommand{
		Name: "ask", Description: "Ask", Options: []*discordgo.ApplicationCommandOption{
			option(discordgo.ApplicationCommandOptionString, "question", true), option(discordgo.ApplicationCommandOptionInteger, "limit", false),
			option(discordgo.ApplicationCommandOptionUser, "whom", false),
		},
	})
	require.NoError(t, err)

	return b, used
}

func TestCommandIsAnsweredEditedAndFollowedUp(t *testing.T) {
	t.Parallel()

	s := start(t)
	b, used := asked(t, s)

	_, err := s.Command("alerts", "alice", "ask", nil)
	require.ErrorContains(t, err, `"question" is required`)
	_, err = s.Command("alerts", "alice", "sing", nil)
	require.ErrorContains(t, err, "no command")
	_, err = s.Command("alerts", "alice", "ask", map[string]string{"question": "why?", "limit": "3", "whom": "bob"})
	require.NoError(t, err)

	got := next(t, used)
	data := got.ApplicationCommandData()
	require.Equal(t, "alice", got.Member.User.Username)
	require.Equal(t, id(t, s, "alerts"), got.ChannelID)
	require.Equal(t, "why?", data.GetOption("question").StringValue())
	require.Equal(t, int64(3), data.GetOption("limit").IntValue())
	require.Equal(t, "bob", data.Resolved.Users[id(t, s, "@bob")].Username)

	answer := &discordgo.InteractionResponse{Type: discordgo.InteractionResponseChannelMessageWithSource, Data: &discordgo.InteractionResponseData{Content: "because"}}
	require.NoError(t, b.InteractionRespond(got.Interaction, answer))
	require.ErrorContains(t, b.InteractionRespond(got.Interaction, answer), "40060")

	original, err := b.InteractionResponse(got.Interaction)
	require.NoError(t, err)
	require.Equal(t, "because", original.Content)
	require.Equal(t, got.ID, original.Interaction.ID)

	text := "because of this"
	_, err = b.InteractionResponseEdit(got.Interaction, &discordgo.WebhookEdit{Content: &text})
	require.NoError(t, err)

	more, err := b.FollowupMessageCreate(got.Interaction, true, &discordgo.WebhookParams{Content: "only for you", Flags: discordgo.MessageFlagsEphemeral})
	require.NoError(t, err)

	shown, err := b.ChannelMessages(got.ChannelID, 10, "", "", "")
	require.NoError(t, err)
	require.Len(t, shown, 1, "others do not see what is ephemeral")
	require.Equal(t, text, shown[0].Content)
	require.Equal(t, id(t, s, "@alice"), s.Sent().Messages[1].Ephemeral)

	_, err = b.FollowupMessageEdit(got.Interaction, more.ID, &discordgo.WebhookEdit{Content: &text})
	require.NoError(t, err)
	require.NoError(t, b.FollowupMessageDelete(got.Interaction, more.ID))
	require.NoError(t, b.InteractionResponseDelete(got.Interaction))
	_, err = b.InteractionResponse(got.Interaction)
	require.ErrorContains(t, err, "10008")
}

func TestDeferredAnswerIsLoadingUntilItIsWritten(t *testing.T) {
	t.Parallel()

	s := start(t)
	b, used := asked(t, s)
	_, err := s.Command("@bob", "bob", "ask", map[string]string{"question": "why?"})
	require.NoError(t, err)

	got := next(t, used)
	require.Equal(t, "bob", got.User.Username, "there is no member in direct messages")
	_, err = b.InteractionResponse(got.Interaction)
	require.ErrorContains(t, err, "10015", "nothing was answered")

	require.NoError(t, b.InteractionRespond(got.Interaction, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredChannelMessageWithSource}))

	original, err := b.InteractionResponse(got.Interaction)
	require.NoError(t, err)
	require.NotZero(t, original.Flags&discordgo.MessageFlagsLoading)

	written, err := b.FollowupMessageCreate(got.Interaction, true, &discordgo.WebhookParams{Content: "done"})
	require.NoError(t, err)
	require.Equal(t, original.ID, written.ID, "it replaces what is loading")
	require.Zero(t, written.Flags&discordgo.MessageFlagsLoading)
}

func TestInteractionsExpire(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	s := start(t, func(c *discord.Config) { c.Clock = clock })
	app := id(t, s, "@tarsy")
	require.Equal(t, 201, post(t, s, "POST", "/applications/"+app+"/commands", `{"name":"ask","description":"Ask"}`).status)

	use := func() (string, string) {
		made, err := s.Command("alerts", "alice", "ask", nil)
		require.NoError(t, err)

		return "/interactions/" + made + "/interaction-" + made + "/callback", "/webhooks/" + app + "/interaction-" + made
	}

	late, _ := use()

	clock.Advance(3*time.Second + 1)
	require.Contains(t, post(t, s, "POST", late, `{"type":5}`).body, "10062")

	callback, webhook := use()
	require.Equal(t, 204, post(t, s, "POST", callback, `{"type":5}`).status)
	clock.Advance(15*time.Minute + 1)
	require.Contains(t, post(t, s, "POST", webhook, `{"content":"late"}`).body, "50027")
	require.Contains(t, post(t, s, "POST", "/interactions/1/t/callback", `{"type":4}`).body, "10062")
}

func TestComponentsUpdateTheirMessage(t *testing.T) {
	t.Parallel()

	s := start(t)
	b, used := asked(t, s)
	yes := []discordgo.MessageComponent{discordgo.ActionsRow{Components: []discordgo.MessageComponent{discordgo.Button{Label: "Yes", CustomID: "yes"}}}}
	sent, err := b.ChannelMessageSendComplex(id(t, s, "alerts"), &discordgo.MessageSend{Content: "Restart?", Components: yes})
	require.NoError(t, err)

	_, err = s.Click(sent.ID, "alice", "no")
	require.ErrorContains(t, err, "no component")

	click := func() *discordgo.Interaction {
		_, err := s.Click(sent.ID, "alice", "yes")
		require.NoError(t, err)

		got := next(t, used)
		require.Equal(t, "yes", got.MessageComponentData().CustomID)
		require.Equal(t, sent.ID, got.Message.ID)

		return got.Interaction
	}

	updated := &discordgo.InteractionResponse{Type: discordgo.InteractionResponseUpdateMessage, Data: &discordgo.InteractionResponseData{Content: "Restarting", Components: yes}}
	require.NoError(t, b.InteractionRespond(click(), updated))
	require.Equal(t, "Restarting", s.Sent().Messages[0].Content)

	deferred := click()
	require.NoError(t, b.InteractionRespond(deferred, &discordgo.InteractionResponse{Type: discordgo.InteractionResponseDeferredMessageUpdate}))

	text := "Restarted"
	_, err = b.InteractionResponseEdit(deferred, &discordgo.WebhookEdit{Content: &text})
	require.NoError(t, err)
	require.Equal(t, "Restarted", s.Sent().Messages[0].Content)
	require.Len(t, s.Sent().Messages, 1)
}

func TestWebhooksWriteWithTheirTokenOnly(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := openGoBot(t, s, allIntents)
	alerts := id(t, s, "alerts")

	hook, err := b.WebhookCreate(alerts, "pager duty", "")
	require.NoError(t, err)

	listed, err := b.GuildWebhooks(id(t, s, "ops"))
	require.NoError(t, err)
	require.Equal(t, hook.ID, listed[0].ID)

	nothing, err := b.WebhookExecute(hook.ID, hook.Token, false, &discordgo.WebhookParams{Content: "first"})
	require.NoError(t, err)
	require.Nil(t, nothing)

	sent, err := b.WebhookExecute(hook.ID, hook.Token, true, &discordgo.WebhookParams{Content: "second", Username: "Grafana"})
	require.NoError(t, err)
	require.Equal(t, "Grafana", sent.Author.Username)
	require.Equal(t, hook.ID, sent.WebhookID)
	require.Equal(t, "pager duty", next(t, b.messages).Author.Username)

	thread, err := b.MessageThreadStart(alerts, sent.ID, "details", 60)
	require.NoError(t, err)

	inside, err := b.WebhookThreadExecute(hook.ID, hook.Token, true, thread.ID, &discordgo.WebhookParams{Content: "inside"})
	require.NoError(t, err)
	require.Equal(t, thread.ID, inside.ChannelID)

	text := "changed"
	edited, err := b.WebhookMessageEdit(hook.ID, hook.Token, sent.ID, &discordgo.WebhookEdit{Content: &text})
	require.NoError(t, err)
	require.Equal(t, text, edited.Content)
	require.NoError(t, b.WebhookMessageDelete(hook.ID, hook.Token, sent.ID))
	_, err = b.WebhookMessage(hook.ID, hook.Token, sent.ID)
	require.ErrorContains(t, err, "10008")

	// Its own token is enough; the bot's token is not needed.
	status, body := get(t, s.API()+"/webhooks/"+hook.ID+"/"+hook.Token)
	require.Equal(t, http.StatusOK, status, body)
	require.NotContains(t, body, `"user"`)
	require.Contains(t, post(t, s, "POST", "/webhooks/"+hook.ID+"/wrong", `{"content":"x"}`).body, "50027")
	require.Contains(t, post(t, s, "POST", "/webhooks/1/wrong", `{"content":"x"}`).body, "10015")
	require.Contains(t, post(t, s, "POST", "/channels/"+alerts+"/webhooks", `{"name":"`+strings.Repeat("x", 81)+`"}`).body, "BASE_TYPE_BAD_LENGTH")

	// A reply to a webhook does not notify anyone.
	reply := post(t, s, "POST", "/channels/"+thread.ID+"/messages", `{"content":"x","message_reference":{"message_id":"`+inside.ID+`"}}`)
	require.Equal(t, 200, reply.status, reply.body)

	require.NoError(t, b.WebhookDelete(hook.ID))
	_, err = b.WebhookExecute(hook.ID, hook.Token, true, &discordgo.WebhookParams{Content: "late"})
	require.ErrorContains(t, err, "10015")
}
