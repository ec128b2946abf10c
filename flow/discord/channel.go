package discord

import "sync"

// Channel is a guild channel, a thread, or the direct messages with a user.
type Channel struct {
	ID string
	// GuildID is empty for direct messages.
	GuildID string
	// ParentID is the parent channel of a thread, or the category of a channel.
	ParentID string
	Name     string
	Thread   bool
}

// channelObject is a channel as Discord sends it.
type channelObject struct {
	ID       string `json:"id"`
	GuildID  string `json:"guild_id"`
	ParentID string `json:"parent_id"`
	Name     string `json:"name"`
	Type     int    `json:"type"`
}

func (o channelObject) channel() Channel {
	// 10, 11 and 12 are announcement, public and private threads.
	return Channel{ID: o.ID, GuildID: o.GuildID, ParentID: o.ParentID, Name: o.Name, Thread: o.Type >= 10 && o.Type <= 12}
}

// channelCache holds the channels that were reported by the gateway or read from the API. It is safe for concurrent use.
type channelCache struct {
	mu  sync.Mutex
	all map[string]Channel
}

func newChannelCache() *channelCache { return &channelCache{all: map[string]Channel{}} }

func (c *channelCache) get(id string) (Channel, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()

	found, ok := c.all[id]

	return found, ok
}

func (c *channelCache) put(channels ...Channel) {
	c.mu.Lock()
	defer c.mu.Unlock()

	for _, channel := range channels {
		c.all[channel.ID] = channel
	}
}

func (c *channelCache) remove(id string) {
	c.mu.Lock()
	defer c.mu.Unlock()

	delete(c.all, id)
}
