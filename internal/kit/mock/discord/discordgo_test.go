package discord_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/bwmarrin/discordgo"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/discord"
)

const allIntents = discordgo.IntentsGuilds | discordgo.IntentsGuildMessages | discordgo.IntentsDirectMessages |
	discordgo.IntentMessageContent | discordgo.IntentsGuildMessageReactions

// redirect sends requests for discord.com to the virtual Discord: the addresses in discordgo are package variables, which
// parallel tests cannot share.
type redirect struct {
	to   *url.URL
	next http.RoundTripper
}

func (r redirect) RoundTrip(request *http.Request) (*http.Response, error) {
	changed := request.Clone(request.Context())
	changed.URL.Scheme, changed.URL.Host, changed.Host = r.to.Scheme, r.to.Host, r.to.Host
	changed.URL.Path = r.to.Path + changed.URL.Path
	changed.URL.RawPath = ""

	return r.next.RoundTrip(changed)
}

// goBot is a discordgo client and the events it received.
type goBot struct {
	*discordgo.Session

	ready    chan *discordgo.Ready
	resumed  chan *discordgo.Resumed
	guilds   chan *discordgo.GuildCreate
	messages chan *discordgo.MessageCreate
	updates  chan *discordgo.MessageUpdate
	threads  chan *discordgo.ThreadCreate
	limits   chan *discordgo.RateLimit
}

func newGoBot(t *testing.T, s *discord.Server, intents discordgo.Intent) *goBot {
	t.Helper()

	if raceDetector {
		t.Skip("discordgo 0.29 reads ShouldReconnectOnError without a lock, which the race detector reports")
	}

	const many = 1000

	session, err := discordgo.New("Bot " + token)
	require.NoError(t, err)

	to, err := url.Parse(s.URL())
	require.NoError(t, err)

	transport := &http.Transport{}
	session.Client = &http.Client{Transport: redirect{to, transport}}
	session.Identify.Intents = intents
	session.LogLevel = -1
	session.SyncEvents = true

	b := &goBot{
		session, make(chan *discordgo.Ready, many), make(chan *discordgo.Resumed, many), make(chan *discordgo.GuildCreate, many),
		make(chan *discordgo.MessageCreate, many), make(chan *discordgo.MessageUpdate, many), make(chan *discordgo.ThreadCreate, many),
		make(chan *discordgo.RateLimit, many),
	}
	session.AddHandler(func(_ *discordgo.Session, e *discordgo.Ready) { b.ready <- e })
	session.AddHandler(func(_ *discordgo.Session, e *discordgo.Resumed) { b.resumed <- e })
	session.AddHandler(func(_ *discordgo.Session, e *discordgo.GuildCreate) { b.guilds <- e })
	session.AddHandler(func(_ *discordgo.Session, e *discordgo.MessageCreate) { b.messages <- e })
	session.AddHandler(func(_ *discordgo.Session, e *discordgo.MessageUpdate) { b.updates <- e })
	session.AddHandler(func(_ *discordgo.Session, e *discordgo.ThreadCreate) { b.threads <- e })
	session.AddHandler(func(_ *discordgo.Session, e *discordgo.RateLimit) { b.limits <- e })

	t.Cleanup(func() {
		session.ShouldReconnectOnError = false
		_ = session.Close()
		transport.CloseIdleConnections()
	})

	return b
}

func openGoBot(t *testing.T, s *discord.Server, intents discordgo.Intent) *goBot {
	t.Helper()

	b := newGoBot(t, s, intents)
	require.NoError(t, b.Open())
	next(t, b.guilds)

	// Before its first heartbeat, discordgo 0.29 cannot lose a connection cleanly: the heartbeat that then fails closes the
	// next connection.
	_, err := s.WaitConnection(within(t), "the first heartbeat", func(c discord.Connection) bool { return c.Heartbeats > 0 })
	require.NoError(t, err)

	return b
}

func TestDiscordgoLogsInAndSeesTheGuild(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := newGoBot(t, s, allIntents)
	require.NoError(t, b.Open())

	ready := next(t, b.ready)
	require.Equal(t, "tarsy", ready.User.Username)
	require.True(t, ready.User.Bot)
	require.Len(t, ready.Guilds, 1)

	guild := next(t, b.guilds)
	require.Equal(t, "ops", guild.Name)
	require.Len(t, guild.Members, 4)
	require.Len(t, guild.Channels, 2, "the channel that the bot may not view is not there")
	require.Equal(t, 1, s.Connected())

	me, err := b.User("@me")
	require.NoError(t, err)
	require.Equal(t, ready.User.ID, me.ID)

	channel, err := b.Channel(id(t, s, "alerts"))
	require.NoError(t, err)
	require.Equal(t, "What is on fire", channel.Topic)

	member, err := b.GuildMember(guild.ID, id(t, s, "@alice"))
	require.NoError(t, err)
	require.Equal(t, []string{id(t, s, "@&on-call")}, member.Roles)
	require.Equal(t, "al", member.Nick)

	app, err := b.Application("@me")
	require.NoError(t, err)
	require.Equal(t, me.ID, app.ID)
}

func TestDiscordgoReceivesWhatPeopleSay(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := openGoBot(t, s, allIntents)

	said, err := s.Say("alerts", "alice", "<@tarsy> why is <#alerts> red, <@&on-call>?", discord.Options{})
	require.NoError(t, err)

	got := next(t, b.messages)
	require.Equal(t, said.ID, got.ID)
	require.Equal(t, "<@"+id(t, s, "@tarsy")+"> why is <#"+id(t, s, "alerts")+"> red, <@&"+id(t, s, "@&on-call")+">?", got.Content)
	require.Equal(t, "alice", got.Author.Username)
	require.Equal(t, []string{id(t, s, "@&on-call")}, got.Member.Roles, "the roles of the author")
	require.Equal(t, id(t, s, "@tarsy"), got.Mentions[0].ID)
	require.Equal(t, []string{id(t, s, "@&on-call")}, got.MentionRoles)
	require.Equal(t, id(t, s, "ops"), got.GuildID)

	_, err = s.Say("alerts", "pager", "disk full", discord.Options{ReplyTo: said.ID})
	require.NoError(t, err)

	got = next(t, b.messages)
	require.True(t, got.Author.Bot)
	require.Equal(t, said.ID, got.MessageReference.MessageID)
	require.Equal(t, said.ID, got.ReferencedMessage.ID)
	require.Equal(t, id(t, s, "@alice"), got.Mentions[0].ID, "a reply notifies whom it replies to")

	_, err = s.Say("alerts", "bob", "in here", discord.Options{Thread: "disk"})
	require.NoError(t, err)
	require.Equal(t, "disk", next(t, b.threads).Name)
	require.Equal(t, discordgo.MessageTypeThreadCreated, next(t, b.messages).Type)
	require.Equal(t, id(t, s, "disk"), next(t, b.messages).ChannelID)

	_, err = s.Say("@bob", "bob", "psst", discord.Options{})
	require.NoError(t, err)

	got = next(t, b.messages)
	require.Empty(t, got.GuildID)
	require.Nil(t, got.Member)
}

func TestDiscordgoSendsEditsTypesAndStartsThreads(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := openGoBot(t, s, allIntents)
	alerts := id(t, s, "alerts")

	asked, err := s.Say("alerts", "alice", "hello", discord.Options{})
	require.NoError(t, err)
	next(t, b.messages)

	require.NoError(t, b.ChannelTyping(alerts))

	sent, err := b.ChannelMessageSendComplex(alerts, &discordgo.MessageSend{
		Content: "hi @everyone <@" + asked.AuthorID + ">", Reference: &discordgo.MessageReference{MessageID: asked.ID},
		AllowedMentions: &discordgo.MessageAllowedMentions{Parse: []discordgo.AllowedMentionType{}},
		Files:           []*discordgo.File{{Name: "a.txt", ContentType: "text/plain", Reader: strings.NewReader("evidence")}},
	})
	require.NoError(t, err)
	require.Equal(t, sent.ID, next(t, b.messages).ID, "the bot is told of its own messages too")

	_, err = b.ChannelMessageEdit(alerts, sent.ID, "hi again")
	require.NoError(t, err)
	require.Equal(t, "hi again", next(t, b.updates).Content)

	started, err := b.MessageThreadStart(alerts, asked.ID, "hello thread", 60)
	require.NoError(t, err)
	require.Equal(t, asked.ID, started.ID, "a thread has the id of its message")
	require.Equal(t, "hello thread", next(t, b.threads).Name)

	alone, err := b.ThreadStart(alerts, "standalone", discordgo.ChannelTypeGuildPublicThread, 60)
	require.NoError(t, err)

	_, err = b.ChannelMessageSend(alone.ID, "in the thread")
	require.NoError(t, err)
	require.NoError(t, b.MessageReactionAdd(alerts, asked.ID, "👍"))

	page, err := b.ChannelMessages(alerts, 2, "", asked.ID, "")
	require.NoError(t, err)
	require.Equal(t, []string{"standalone", "hi again"}, []string{page[0].Content, page[1].Content}, "newest first")

	all := s.Sent()
	require.Len(t, all.Messages, 2)
	require.Equal(t, "hi again", all.Messages[0].Content)
	require.Equal(t, "hi @everyone <@"+asked.AuthorID+">", all.Messages[0].Earlier[0].Content)
	require.Equal(t, "evidence", string(all.Messages[0].Attachments[0].Data))
	require.Equal(t, "standalone", all.Messages[1].Channel)
	require.Equal(t, []string{"alerts"}, all.Typing)
	require.Equal(t, []discord.Thread{
		{ID: asked.ID, Name: "hello thread", Parent: "alerts", Message: asked.ID}, {ID: alone.ID, Name: "standalone", Parent: "alerts"},
	}, all.Threads)

	first, err := s.Wait(within(t), "the first answer", discord.Expect{Kind: discord.KindMessage, ReplyTo: "alice"})
	require.NoError(t, err)
	require.Empty(t, first.Message.Notified, "nobody may be notified")
	require.False(t, first.Message.NotifiedEveryone)
	require.Empty(t, first.Message.AllowedMentions.Parse)

	reaction, err := s.Wait(within(t), "a reaction", discord.Expect{Kind: discord.KindReaction})
	require.NoError(t, err)
	require.Equal(t, "👍", reaction.Emoji)
}

func TestDiscordgoRetriesAfter429(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := openGoBot(t, s, allIntents)
	alerts := id(t, s, "alerts")

	for _, global := range []bool{false, true} {
		s.Force429(discord.Force429{Route: "POST /channels/{channel}/messages", RetryAfter: 50 * time.Millisecond, Global: global, Times: 2})

		_, err := b.ChannelMessageSend(alerts, "at last")
		require.NoError(t, err)
		require.Equal(t, 50*time.Millisecond, next(t, b.limits).RetryAfter)
		next(t, b.limits)
	}

	require.Len(t, s.Sent().Messages, 2, "refused requests send nothing")
	require.Empty(t, s.Unused())
}

func TestDiscordgoResumesAfterALostConnectionAndMissesNothing(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := openGoBot(t, s, allIntents)

	s.DropGateway(discord.Drop{})

	for _, text := range []string{"one", "two", "three"} {
		_, err := s.Say("alerts", "alice", text, discord.Options{})
		require.NoError(t, err)
	}

	for _, text := range []string{"one", "two", "three"} {
		require.Equal(t, text, next(t, b.messages).Content)
	}

	next(t, b.resumed)
	require.Len(t, b.ready, 1, "the client did not identify again")
	require.Equal(t, []string{"identify", "resume"}, how(s.Connections()))
}

func how(connections []discord.Connection) []string {
	var all []string
	for _, c := range connections {
		all = append(all, c.How)
	}

	return all
}

func TestDiscordgoReconnectsWhenItIsAskedTo(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := openGoBot(t, s, allIntents)

	s.Reconnect()
	next(t, b.resumed)

	_, err := s.Say("alerts", "alice", "still there?", discord.Options{})
	require.NoError(t, err)
	require.Equal(t, "still there?", next(t, b.messages).Content)
	require.Equal(t, 1012, s.Connections()[0].Code)
}

func TestDiscordgoIdentifiesAgainAfterAnInvalidSession(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := openGoBot(t, s, allIntents)
	first := next(t, b.ready).SessionID

	s.InvalidSession(false)
	require.NotEqual(t, first, next(t, b.ready).SessionID)
	next(t, b.guilds)

	// A session that the server forgot cannot be resumed.
	s.DropGateway(discord.Drop{Forget: true})
	next(t, b.ready)
	next(t, b.guilds)

	_, err := s.Say("alerts", "alice", "still there?", discord.Options{})
	require.NoError(t, err)
	require.Equal(t, "still there?", next(t, b.messages).Content)
}

func TestDiscordgoNoticesThatHeartbeatsAreNotAcknowledged(t *testing.T) {
	t.Parallel()

	s := start(t, func(c *discord.Config) { c.Heartbeat = 50 * time.Millisecond })
	b := openGoBot(t, s, allIntents)
	next(t, b.ready)

	s.StopAcks(true)

	closed, err := s.WaitConnection(within(t), "the client gives up", func(c discord.Connection) bool { return c.ClosedBy == "client" })
	require.NoError(t, err)
	require.Positive(t, closed.Heartbeats)

	s.StopAcks(false)
	// It closes with 1000, which ends the session, so it has to identify again and may miss events.
	require.Equal(t, 1000, closed.Code)
	next(t, b.ready)
}

func TestDiscordgoIsRefusedWithAWrongToken(t *testing.T) {
	t.Parallel()

	s := start(t, func(c *discord.Config) { c.Token = "another" })
	b := newGoBot(t, s, allIntents)
	require.ErrorContains(t, b.Open(), "4004")

	_, err := b.User("@me")
	require.ErrorContains(t, err, "401: Unauthorized")
}
