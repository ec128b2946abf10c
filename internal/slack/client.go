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
	// requestLimit is the time limit of one request.
	requestLimit = 30 * time.Second
	// metadataType and the keys below it identify the announcement of a message in its metadata.
	metadataType = "tarsy"
	metadataID   = "announcement_id"
	metadataPart = "part"
	// nameAge is how long a user's name is cached.
	nameAge = time.Hour
	// The search for a message reads at most maxPages pages of pageSize.
	pageSize = 200
	maxPages = 20
)

// ClientConfig configures a Client.
type ClientConfig struct {
	// Token is the bot token. AppToken is the app-level token; without it, nothing is received.
	Token    string
	AppToken string
	// API is the base URL of the Web API; defaults to Slack's.
	API string
	// Clock times the pauses of methods and the age of names; defaults to the real clock.
	Clock clockwork.Clock
}

// Client is a client of the Web API that respects rate limits: after a 429, it makes no request to the same method until
// allowed. It is safe for concurrent use.
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

// NewClient returns a client; it makes no requests.
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

// content is the content of a message: blocks, and a text for notifications.
type content struct {
	text   string
	blocks []slack.Block
}

// place is the destination of a message: a channel, or a thread in it. A reply can also be shown in the channel.
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

// Socket requests the URL of a Socket Mode connection, which verifies the app-level token.
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

// ephemeral shows a text to a single person.
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

// options returns the parts of a message. Slack does not parse its text for names or URLs.
func (m content) options() []slack.MsgOption {
	return []slack.MsgOption{
		slack.MsgOptionText(m.text, false), slack.MsgOptionBlocks(m.blocks...), slack.MsgOptionParse(false), slack.MsgOptionLinkNames(false),
		slack.MsgOptionDisableLinkUnfurl(), slack.MsgOptionDisableMediaUnfurl(),
	}
}

// find returns the message of an announcement that an earlier attempt posted, or "" if there is none.
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

// userName returns a user's name in the workspace, or the ID if the name cannot be determined. It is not the display name,
// which users can choose freely.
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

// call makes a request unless its method is paused, and records a new pause after a 429.
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
