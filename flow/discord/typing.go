package discord

import (
	"context"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

const (
	// typingInterval is a little less than Discord shows typing for.
	typingInterval = 8 * time.Second
	// maxTyping is how often it is shown for one message.
	maxTyping = 8
)

// typing shows in channels that the bot is typing. It is safe for concurrent use.
type typing struct {
	client *Client
	clock  clockwork.Clock

	mu     sync.Mutex
	active map[string]func() // by channel: ends it and waits until it has ended
}

func newTyping(client *Client, clock clockwork.Clock) *typing {
	return &typing{client: client, clock: clock, active: map[string]func(){}}
}

// start shows typing until stop, in a goroutine that stop or stopAll waits for.
func (t *typing) start(ctx context.Context, channelID string) {
	t.stop(channelID)

	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})

	t.mu.Lock()
	defer t.mu.Unlock()

	t.active[channelID] = func() {
		cancel()
		<-ended
	}

	go func() {
		defer close(ended)

		for range maxTyping {
			if t.client.Typing(ctx, channelID) != nil {
				return // the message itself reports what is wrong
			}

			select {
			case <-t.clock.After(typingInterval):
			case <-ctx.Done():
				return
			}
		}
	}()
}

// stop ends typing in a channel. A request that is being made ends first, so that it cannot follow the message.
func (t *typing) stop(channelID string) {
	t.mu.Lock()
	end := t.active[channelID]
	delete(t.active, channelID)
	t.mu.Unlock()

	if end != nil {
		end()
	}
}

func (t *typing) stopAll() {
	t.mu.Lock()
	channels := make([]string, 0, len(t.active))
	for id := range t.active {
		channels = append(channels, id)
	}
	t.mu.Unlock()

	for _, id := range channels {
		t.stop(id)
	}
}
