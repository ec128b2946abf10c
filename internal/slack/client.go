package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/slack-go/slack"
)

const (
	// requestLimit is how long one request may take.
	requestLimit = 30 * time.Second
	// metadataType and the keys below it are how messages name the announcement that they are part of.
	metadataType = "tarsy"
	metadataID   = "announcement_id"
	metadataPart = "part"
	// nameAge is how long the name of a user is kept.
	nameAge = time.Hour
	// The search for a message reads at most maxPages pages of pageSize.
	pageSize = 200
	maxPages = 20
)

// ClientConfig is what a client needs.
type ClientConfig struct {
	// Token is the bot token. AppToken is the app-level token; without it nothing is received.
	Token    string
	AppToken string
	// API is the base URL of the Web API; empty means Slack's.
	API string
	// Clock tells how long a method is paused and how old a name is; nil is the real one.
	Clock clockwork.Clock
}

// Client is a client of the Web API that respects rate limits: after a 429 it makes no request to the same method before it may. It is safe for
// concurrent use.
type Client struct {
	api      *slack.Client
	http     *http.Client
	appToken string
	clock    clockwork.Clock

	mu     sync.Mutex
	paused map[string]time.Time
	names  map[string]knownName
}

type knownName struct {
	name string
	at   time.Time
}

// NewClient returns a client; it makes no request.
func NewClient(cfg ClientConfig) *Client {
	requests := &http.Client{Timeout: requestLimit, Transport: http.DefaultTransport.(*http.Transport).Clone()} //nolint:forcetypeassert // it is one
	options := []slack.Option{slack.OptionHTTPClient(requests), slack.OptionAppLevelToken(cfg.AppToken)}

	if cfg.API != "" {
		options = append(options, slack.OptionAPIURL(strings.TrimSuffix(cfg.API, "/")+"/"))
	}

	if cfg.Clock == nil {
		cfg.Clock = clockwork.NewRealClock()
	}

	return &Client{
		api: slack.New(cfg.Token, options...), http: requests, appToken: cfg.AppToken, clock: cfg.Clock, paused: map[string]time.Time{}, names: map[string]knownName{},
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Listens reports whether the client has the token for Socket Mode.
func (c *Client) Listens() bool { return c.appToken != "" }

// content is what a message shows: blocks, and a text for notifications.
type content struct {
	text   string
	blocks []slack.Block
}

// place is where a message goes: a channel, or a thread of it. A reply can be shown in the channel too.
type place struct {
	channel   string
	thread    string
	broadcast bool
}

// Self returns the bot's user ID and its name.
func (c *Client) Self(ctx context.Context) (id, name string, err error) {
	err = c.call("auth.test", func() error {
		found, err := c.api.AuthTestContext(ctx)
		if err == nil {
			id, name = found.UserID, found.User
		}

		return err
	})

	return id, name, err
}

// Socket asks for the address of a Socket Mode connection, which tells whether the app-level token is valid.
func (c *Client) Socket(ctx context.Context) error {
	return c.call("apps.connections.open", func() error {
		_, _, err := c.api.StartSocketModeContext(ctx)

		return err
	})
}

// post creates one message of an announcement.
func (c *Client) post(ctx context.Context, to place, m content, announcementID string, part int) (ts string, err error) {
	options := append(m.options(), slack.MsgOptionMetadata(slack.SlackMetadata{
		EventType: metadataType, EventPayload: map[string]any{metadataID: announcementID, metadataPart: strconv.Itoa(part)},
	}))

	if to.thread != "" {
		options = append(options, slack.MsgOptionTS(to.thread))

		if to.broadcast {
			options = append(options, slack.MsgOptionBroadcast())
		}
	}

	err = c.call("chat.postMessage", func() error {
		_, ts, err = c.api.PostMessageContext(ctx, to.channel, options...)

		return err
	})

	return ts, err
}

func (c *Client) update(ctx context.Context, channelID, ts string, m content) error {
	return c.call("chat.update", func() error {
		_, _, _, err := c.api.UpdateMessageContext(ctx, channelID, ts, m.options()...)

		return err
	})
}

// ephemeral shows a text to one person.
func (c *Client) ephemeral(ctx context.Context, to place, userID, text string) error {
	options := []slack.MsgOption{slack.MsgOptionText(text, false), slack.MsgOptionParse(false)}
	if to.thread != "" {
		options = append(options, slack.MsgOptionTS(to.thread))
	}

	return c.call("chat.postEphemeral", func() error {
		_, err := c.api.PostEphemeralContext(ctx, to.channel, userID, options...)

		return err
	})
}

func (c *Client) openModal(ctx context.Context, triggerID string, view slack.ModalViewRequest) error {
	return c.call("views.open", func() error {
		_, err := c.api.OpenViewContext(ctx, triggerID, view)

		return err
	})
}

// options are the parts of a message. Nothing in its text is looked for names or addresses.
func (m content) options() []slack.MsgOption {
	return []slack.MsgOption{
		slack.MsgOptionText(m.text, false), slack.MsgOptionBlocks(m.blocks...), slack.MsgOptionParse(false), slack.MsgOptionLinkNames(false),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
}

// find returns the message of an announcement that an earlier attempt posted; an empty string if there is none.
func (c *Client) find(ctx context.Context, in place, announcementID string, part int, since time.Time) (string, error) {
	oldest, cursor := fmt.Sprintf("%d.000000", since.Unix()), ""

	for range maxPages {
		messages, next, err := c.page(ctx, in, oldest, cursor)
		if err != nil {
			return "", err
		}

		for _, m := range messages {
			if p := m.Metadata.EventPayload; m.Metadata.EventType == metadataType && p[metadataID] == announcementID && p[metadataPart] == strconv.Itoa(part) {
				return m.Timestamp, nil
			}
		}

		if next == "" {
			return "", nil
		}

		cursor = next
	}

	return "", errTooMany
}

// page reads one page of a channel or thread.
func (c *Client) page(ctx context.Context, in place, oldest, cursor string) (messages []slack.Message, next string, err error) {
	if in.thread != "" {
		err = c.call("conversations.replies", func() error {
			messages, _, next, err = c.api.GetConversationRepliesContext(ctx, &slack.GetConversationRepliesParameters{
				ChannelID: in.channel, Timestamp: in.thread, Oldest: oldest, Cursor: cursor, Limit: pageSize, Inclusive: true, IncludeAllMetadata: true,
			})

			return err
		})

		return messages, next, err
	}

	err = c.call("conversations.history", func() error {
		found, err := c.api.GetConversationHistoryContext(ctx, &slack.GetConversationHistoryParameters{
			ChannelID: in.channel, Oldest: oldest, Cursor: cursor, Limit: pageSize, Inclusive: true, IncludeAllMetadata: true,
		})
		if err == nil {
			messages, next = found.Messages, found.ResponseMetaData.NextCursor
		}

		return err
	})

	return messages, next, err
}

// userName is the name under which a workspace knows a user; the ID if that cannot be told. It is not the display name, which
// people choose as they like.
func (c *Client) userName(ctx context.Context, id string) string {
	c.mu.Lock()
	known, ok := c.names[id]
	c.mu.Unlock()

	if ok && c.clock.Since(known.at) < nameAge {
		return known.name
	}

	name := id

	if err := c.call("users.info", func() error {
		found, err := c.api.GetUserInfoContext(ctx, id)
		if err == nil && found.Name != "" {
			name = found.Name
		}

		return err
	}); err != nil {
		return id
	}

	c.mu.Lock()
	defer c.mu.Unlock()

	const most = 10_000
	if len(c.names) >= most {
		clear(c.names)
	}

	c.names[id] = knownName{name: name, at: c.clock.Now()}

	return name
}

// call makes a request unless its method is paused, and notes how long it is.
func (c *Client) call(method string, request func() error) error {
	c.mu.Lock()
	left := c.clock.Until(c.paused[method])
	c.mu.Unlock()

	if left > 0 {
		return fmt.Errorf("%s: %w", method, &slack.RateLimitedError{RetryAfter: left})
	}

	err := request()
	if err == nil {
		return nil
	}

	if limited, ok := errors.AsType[*slack.RateLimitedError](err); ok {
		c.mu.Lock()
		c.paused[method] = c.clock.Now().Add(limited.RetryAfter)
		c.mu.Unlock()
	}

	return fmt.Errorf("%s: %w", method, err)
}
