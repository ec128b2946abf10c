package discord

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/gateway"
	"github.com/disgoorg/disgo/rest"
)

const (
	// userAgent has the format that Discord requests from bots.
	userAgent = "DiscordBot (https://tarsy.dev/tarsy, 1)"
	// requestTimeout bounds one HTTP request, not counting the wait for a rate limit.
	requestTimeout = 30 * time.Second
	// maxNonce and maxThreadName are the maximum lengths that Discord accepts, in characters.
	maxNonce      = 25
	maxThreadName = 100
)

// ClientConfig is the configuration of a client.
type ClientConfig struct {
	// Token is the bot's token, without the word "Bot".
	Token string
	// API and Gateway are the addresses of a server that replaces Discord; empty means Discord.
	API, Gateway string
	// End is closed when no more messages will be written: Run then handles the messages that have arrived, and returns.
	// Discord itself never ends, so End is for servers that replace it. Nil never ends.
	End <-chan struct{}
	// Logger reports lost connections and rate limits; nil discards them.
	Logger *slog.Logger
}

// Client is the connection of one bot to Discord. Its methods are safe for concurrent use, except that only one call of Run may
// be active.
type Client struct {
	token    string
	gateway  string
	end      <-chan struct{}
	logger   *slog.Logger
	http     *http.Client
	rest     rest.Client
	channels *channelCache
}

// NewClient returns a client. It does not connect: Run does, and the other methods do not need the gateway connection.
func NewClient(config ClientConfig) (*Client, error) {
	token := strings.TrimSpace(strings.TrimPrefix(config.Token, "Bot "))
	if token == "" {
		return nil, errors.New("the token of the Discord bot is missing: create one in the developer portal, on the page Bot")
	}

	logger := config.Logger
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}

	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute}
	api := cmp.Or(strings.TrimSuffix(config.API, "/"), fmt.Sprintf("%sv%d", rest.API, rest.Version))
	client := &http.Client{Transport: transport, Timeout: requestTimeout}

	return &Client{
		token: token, gateway: cmp.Or(config.Gateway, gateway.URL), end: config.End, logger: logger, http: client,
		channels: newChannelCache(),
		rest: rest.NewClient(token,
			rest.WithURL(api), rest.WithHTTPClient(client), rest.WithUserAgent(userAgent),
			rest.WithRateLimiter(newRateLimiter(logger)),
			// It logs request bodies. The errors it returns are sufficient.
			rest.WithLogger(slog.New(slog.DiscardHandler)),
		),
	}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Post is a message to send.
type Post struct {
	Text string
	// ReplyTo is the id of the message that this one replies to. If that message was deleted, the post is an ordinary message.
	ReplyTo string
	// Nonce identifies the message: sending it again within a few minutes does not create a second one.
	Nonce string
}

// noMentions keeps Discord from notifying anyone, whatever the text of a message contains.
type noMentions struct {
	Parse []string `json:"parse"`
}

func silent() noMentions { return noMentions{Parse: []string{}} }

// suppressEmbeds is the message flag that keeps Discord from fetching links.
const suppressEmbeds = int(discord.MessageFlagSuppressEmbeds)

// messageBody is a message on the wire. disgo's types cannot express fail_if_not_exists: false.
type messageBody struct {
	Content         string     `json:"content"`
	AllowedMentions noMentions `json:"allowed_mentions"`
	// Flags keep Discord from fetching links: the text may come from a model, and a link could leak what the model has read.
	Flags        int        `json:"flags"`
	Nonce        string     `json:"nonce,omitempty"`
	EnforceNonce bool       `json:"enforce_nonce,omitempty"`
	Reference    *reference `json:"message_reference,omitempty"`
}

type reference struct {
	MessageID       string `json:"message_id"`
	FailIfNotExists bool   `json:"fail_if_not_exists"`
}

// created is the common part of all responses to requests that create something.
type created struct {
	ID string `json:"id"`
}

// Send sends a message and returns its id. Mentions in its text notify no one, and its links are not fetched.
func (c *Client) Send(ctx context.Context, channelID string, post Post) (messageID string, err error) {
	body := messageBody{Content: post.Text, AllowedMentions: silent(), Flags: suppressEmbeds, Nonce: shortNonce(post.Nonce), EnforceNonce: post.Nonce != ""}
	if post.ReplyTo != "" {
		body.Reference = &reference{MessageID: post.ReplyTo}
	}

	var sent created

	err = c.do(ctx, rest.CreateMessage, body, &sent, channelID)
	if err != nil {
		return "", fmt.Errorf("send a message to channel %s: %w", channelID, err)
	}

	return sent.ID, nil
}

// Edit replaces the text of one of the bot's messages.
func (c *Client) Edit(ctx context.Context, channelID, messageID, text string) error {
	body := messageBody{Content: text, AllowedMentions: silent(), Flags: suppressEmbeds}

	err := c.do(ctx, rest.UpdateMessage, body, nil, channelID, messageID)
	if err != nil {
		return fmt.Errorf("edit message %s: %w", messageID, err)
	}

	return nil
}

// StartThread starts a thread from a message and returns its id, or the id of the thread that the message already has.
func (c *Client) StartThread(ctx context.Context, channelID, messageID, name string) (threadID string, err error) {
	body := struct {
		Name string `json:"name"`
	}{cmp.Or(firstCharacters(strings.Join(strings.Fields(name), " "), maxThreadName), "Thread")}

	var made created

	err = c.do(ctx, rest.CreateThreadWithMessage, body, &made, channelID, messageID)

	var refused *APIError
	if errors.As(err, &refused) && refused.Code == int(rest.JSONErrorCodeThreadAlreadyCreatedForMessage) {
		// A thread has the id of the message it was started from.
		return messageID, nil
	}

	if err != nil {
		return "", fmt.Errorf("start a thread from message %s: %w", messageID, err)
	}

	return made.ID, nil
}

// Typing shows that the bot is typing, for ten seconds or until its next message.
func (c *Client) Typing(ctx context.Context, channelID string) error {
	err := c.do(ctx, rest.SendTyping, nil, nil, channelID)
	if err != nil {
		return fmt.Errorf("show typing in channel %s: %w", channelID, err)
	}

	return nil
}

// Self returns the name of the bot that the token belongs to. It is the cheapest way to check a token.
func (c *Client) Self(ctx context.Context) (name string, err error) {
	var self struct {
		Username string `json:"username"`
	}

	err = c.do(ctx, rest.GetCurrentUser, nil, &self)
	if err != nil {
		return "", fmt.Errorf("read the bot's own user: %w", err)
	}

	return self.Username, nil
}

// Channel returns a channel or thread, from the cache if it is known and otherwise from the API.
func (c *Client) Channel(ctx context.Context, channelID string) (Channel, error) {
	if known, ok := c.channels.get(channelID); ok {
		return known, nil
	}

	var object channelObject

	err := c.do(ctx, rest.GetChannel, nil, &object, channelID)
	if err != nil {
		return Channel{}, fmt.Errorf("read channel %s: %w", channelID, err)
	}

	c.channels.put(object.channel())

	return object.channel(), nil
}

// do sends a request. Its path parameters are ids.
func (c *Client) do(ctx context.Context, endpoint *rest.Endpoint, body, answer any, ids ...string) error {
	params := make([]any, len(ids))

	for i, id := range ids {
		if !isID(id) { // anything else could change the request path
			return &APIError{Status: http.StatusBadRequest, Message: fmt.Sprintf("%q is not an id of Discord", id)}
		}

		params[i] = id
	}

	err := c.rest.Do(endpoint.Compile(nil, params...), body, answer, rest.WithCtx(ctx))

	var refused *rest.Error

	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused):
		return newAPIError(refused)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}

	return err
}

// isID reports whether a text is a Discord id, which is a number.
func isID(text string) bool {
	return text != "" && len(text) <= 20 && strings.Trim(text, "0123456789") == ""
}

// shortNonce returns a nonce of a length that Discord accepts.
func shortNonce(nonce string) string {
	if len(nonce) <= maxNonce {
		return nonce
	}

	sum := sha256.Sum256([]byte(nonce))

	return base32.StdEncoding.EncodeToString(sum[:])[:maxNonce]
}

func firstCharacters(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most])
	}

	return text
}
