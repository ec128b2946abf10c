package discord_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bwmarrin/discordgo"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/discord"
)

// get downloads a URL without a token.
func get(t *testing.T, address string) (int, string) {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)

	request.Close = true

	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)

	defer response.Body.Close()

	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return response.StatusCode, string(text)
}

// read decodes the body of a response, whose status must match.
func read[T any](t *testing.T, a answer, status int) T {
	t.Helper()

	var value T

	require.Equal(t, status, a.status, a.body)

	if a.body != "" {
		require.NoError(t, json.Unmarshal([]byte(a.body), &value), a.body)
	}

	return value
}

// events collects the events that a handler of discordgo receives.
func events[E any](b *goBot) <-chan E {
	got := make(chan E, 100)

	b.AddHandler(func(_ *discordgo.Session, e E) { got <- e })

	return got
}

func TestAttachmentsAreFetchedKeptAndRemoved(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := newGoBot(t, s, allIntents)
	alerts := id(t, s, "alerts")
	file := func(name, text string) *discordgo.File {
		return &discordgo.File{Name: name, ContentType: "text/plain", Reader: strings.NewReader(text)}
	}

	sent, err := b.ChannelMessageSendComplex(alerts, &discordgo.MessageSend{Files: []*discordgo.File{file("a b.txt", "first"), file("c.txt", "second")}})
	require.NoError(t, err)
	require.Len(t, sent.Attachments, 2)
	require.Equal(t, 5, sent.Attachments[0].Size)

	for _, address := range []string{sent.Attachments[0].URL, sent.Attachments[0].ProxyURL} {
		status, text := get(t, address)
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "first", text)
	}

	edited, err := b.ChannelMessageEditComplex(&discordgo.MessageEdit{
		Channel: alerts, ID: sent.ID, Attachments: &[]*discordgo.MessageAttachment{{ID: sent.Attachments[1].ID}}, Files: []*discordgo.File{file("d.txt", "third")},
	})
	require.NoError(t, err)
	require.Equal(t, []string{"c.txt", "d.txt"}, []string{edited.Attachments[0].Filename, edited.Attachments[1].Filename})

	status, _ := get(t, sent.Attachments[0].URL)
	require.Equal(t, http.StatusNotFound, status, "the edit did not keep it")
	require.NoError(t, b.ChannelMessageDelete(alerts, sent.ID))
	status, _ = get(t, sent.Attachments[1].URL)
	require.Equal(t, http.StatusNotFound, status)
}

func TestAttachmentsHaveWhatThePayloadTells(t *testing.T) {
	t.Parallel()

	s := start(t)

	var body strings.Builder

	for _, part := range []string{
		"name=\"payload_json\"\r\n\r\n" + `{"attachments":[{"id":1,"description":"the second","filename":"two.txt"}]}`,
		"name=\"files[0]\"; filename=\"x.txt\"\r\nContent-Type: text/plain\r\n\r\none", "name=\"files[1]\"; filename=\"y.txt\"\r\n\r\ntwo",
	} {
		body.WriteString("--B\r\nContent-Disposition: form-data; " + part + "\r\n")
	}

	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.API()+"/channels/"+id(t, s, "alerts")+"/messages", strings.NewReader(body.String()+"--B--\r\n"))
	require.NoError(t, err)
	request.Header.Set("Authorization", "Bot "+token)
	request.Header.Set("Content-Type", "multipart/form-data; boundary=B")

	request.Close = true

	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)

	defer response.Body.Close()

	var sent discordgo.Message
	require.NoError(t, json.NewDecoder(response.Body).Decode(&sent))
	require.Equal(t, "x.txt", sent.Attachments[0].Filename)
	require.Equal(t, "two.txt", sent.Attachments[1].Filename)
	require.Equal(t, "the second", s.Sent().Messages[0].Attachments[1].Description)
}

func TestReactionsAreListedInPagesAndRemoved(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := openGoBot(t, s, allIntents)
	cleared := events[*discordgo.MessageReactionRemoveAll](b)
	alerts := id(t, s, "alerts")

	said, err := s.Say("alerts", "alice", "hello", discord.Options{})
	require.NoError(t, err)

	for _, name := range []string{"bob", "alice"} {
		require.NoError(t, s.React(said.ID, name, "👍"))
		require.NoError(t, s.React(said.ID, name, "wave:123456789012345678"))
	}

	require.NoError(t, b.MessageReactionAdd(alerts, said.ID, "👍"))

	names := func(limit int, after string) (list []string) {
		users, err := b.MessageReactions(alerts, said.ID, "👍", limit, "", after)
		require.NoError(t, err)

		for _, u := range users {
			list = append(list, u.Username)
		}

		return list
	}

	all := names(100, "")
	require.ElementsMatch(t, []string{"alice", "bob", "tarsy"}, all)
	require.Equal(t, all[:2], names(2, ""))
	require.Equal(t, all[2:], names(2, id(t, s, "@"+all[1])))

	require.NoError(t, b.MessageReactionRemove(alerts, said.ID, "👍", id(t, s, "@bob")))
	require.NotContains(t, names(100, ""), "bob")
	require.NoError(t, b.MessageReactionRemove(alerts, said.ID, "👍", "@me"))
	require.Equal(t, []string{"alice"}, names(100, ""))
	require.NoError(t, b.MessageReactionsRemoveEmoji(alerts, said.ID, "wave:123456789012345678"))

	got, err := b.ChannelMessage(alerts, said.ID)
	require.NoError(t, err)
	require.Len(t, got.Reactions, 1)
	require.NoError(t, b.MessageReactionsRemoveAll(alerts, said.ID))
	require.Equal(t, said.ID, next(t, cleared).MessageID)
	require.Empty(t, names(100, ""))

	path := "/channels/" + alerts + "/messages/" + said.ID + "/reactions/"
	require.Contains(t, post(t, s, "PUT", path+"thumbs/@me", "").body, "10014")
	require.Equal(t, 400, post(t, s, "GET", path+url.PathEscape("👍")+"?limit=101", "").status)
}

func TestPinsAreListedByBothRoutes(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	s := start(t, func(c *discord.Config) { c.Clock = clock })
	alerts := "/channels/" + id(t, s, "alerts")

	var said []string

	for i, text := range []string{"one", "two", "three"} {
		m, err := s.Say("alerts", "alice", text, discord.Options{})
		require.NoError(t, err)

		said = append(said, m.ID)
		path := alerts + "/pins/" + m.ID

		if i == 1 {
			path = alerts + "/messages/pins/" + m.ID
		}

		require.Equal(t, 204, post(t, s, "PUT", path, "").status)
		clock.Advance(1e9)
	}

	type pins struct {
		Items []struct {
			PinnedAt string            `json:"pinned_at"`
			Message  discordgo.Message `json:"message"`
		} `json:"items"`
		More bool `json:"has_more"`
	}

	page := read[pins](t, post(t, s, "GET", alerts+"/messages/pins?limit=2", ""), 200)
	require.Equal(t, []string{said[2], said[1]}, []string{page.Items[0].Message.ID, page.Items[1].Message.ID}, "the last pin first")
	require.True(t, page.Items[0].Message.Pinned)
	require.True(t, page.More)

	page = read[pins](t, post(t, s, "GET", alerts+"/messages/pins?before="+url.QueryEscape(page.Items[1].PinnedAt), ""), 200)
	require.Len(t, page.Items, 1)
	require.False(t, page.More)
	require.Len(t, read[[]discordgo.Message](t, post(t, s, "GET", alerts+"/pins", ""), 200), 3)

	require.Equal(t, 204, post(t, s, "DELETE", alerts+"/messages/pins/"+said[0], "").status)
	require.Equal(t, 204, post(t, s, "DELETE", alerts+"/pins/"+said[1], "").status)
	require.Len(t, read[[]discordgo.Message](t, post(t, s, "GET", alerts+"/pins", ""), 200), 1)
	require.Equal(t, 404, post(t, s, "PUT", alerts+"/pins/1", "").status)
	require.Empty(t, s.Unexpected())
}

func TestPinsAreTold(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := openGoBot(t, s, allIntents)
	pinned := events[*discordgo.ChannelPinsUpdate](b)

	said, err := s.Say("alerts", "alice", "hello", discord.Options{})
	require.NoError(t, err)
	require.NoError(t, b.ChannelMessagePin(said.ChannelID, said.ID))
	require.Equal(t, said.ChannelID, next(t, pinned).ChannelID)

	for m := next(t, b.messages); m.Type != discordgo.MessageTypeChannelPinnedMessage; {
		m = next(t, b.messages)
	}

	_, err = s.Wait(within(t), "a pin", discord.Expect{Kind: discord.KindPin})
	require.NoError(t, err)
}

func TestDeletedThreadsAreGoneButWhatTheBotSentIsKnown(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := openGoBot(t, s, allIntents)
	deleted := events[*discordgo.ThreadDelete](b)
	alerts := id(t, s, "alerts")

	said, err := s.Say("alerts", "alice", "hello", discord.Options{})
	require.NoError(t, err)

	thread, err := b.MessageThreadStart(alerts, said.ID, "details", 60)
	require.NoError(t, err)
	_, err = b.ChannelMessageSend(thread.ID, "in the thread")
	require.NoError(t, err)

	_, err = b.ChannelDelete(thread.ID)
	require.NoError(t, err)

	told := next(t, deleted)
	require.Equal(t, []string{thread.ID, alerts}, []string{told.ID, told.ParentID})

	require.Equal(t, 404, post(t, s, "GET", "/channels/"+thread.ID, "").status)
	require.Equal(t, 403, post(t, s, "DELETE", "/channels/"+alerts, "").status, "only threads are the bot's to delete")
	require.Equal(t, "in the thread", s.Sent().Messages[0].Content)

	got, err := b.ChannelMessage(alerts, said.ID)
	require.NoError(t, err)
	require.Nil(t, got.Thread)

	action, err := s.Wait(within(t), "the deletion", discord.Expect{Kind: discord.KindDelete})
	require.NoError(t, err)
	require.Equal(t, "details", action.Thread.Name)

	_, err = b.MessageThreadStart(alerts, said.ID, "again", 60)
	require.NoError(t, err)
	require.Len(t, s.Sent().Messages, 1, "the thread that is there now has the same id")
}
