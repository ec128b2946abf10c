package discord

import (
	"context"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

const (
	// typingInterval is slightly shorter than the time for which Discord shows typing.
	typingInterval = 8 * time.Second
	// maxTyping is how many times typing is shown for one message.
	maxTyping = 8
)

// typing shows the bot as typing in channels. It is safe for concurrent use.
type typing struct {
	client *Client
	clock  clockwork.Clock

	mu     sync.Mutex
	active map[string]func() // by channel: stops typing and waits until it has ended
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
				return // sending the message reports the problem
			}

			select {
			case <-t.clock.After(typingInterval):
			case <-ctx.Done():
				return
			}
		}
	}()
}

// stop stops typing in a channel. It waits for a request in flight, so that the request cannot follow the message.
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
