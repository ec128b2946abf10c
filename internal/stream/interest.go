package stream

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"tarsy.dev/tarsy"
)

// Text is sent to another server only while that server has a reader. The server announces that when a reader joins and periodically
// afterwards; the server that runs the session remembers it for a while, and sends chunks to a topic that only the other one receives.
const (
	topicWant       = "delta.want"
	topicDelta      = "delta:" // followed by the ID of the reading server
	wantEvery       = 5 * time.Second
	interestTTL     = 15 * time.Second
	wantsPerMessage = 100 // sessions in one message, well below RelayLimit
)

// wantMessage announces that the server has readers of these sessions. Fresh means that one of them has just joined and needs the text from
// its beginning. Ask means that the server has just begun to receive, and requests the other servers' interest.
type wantMessage struct {
	Server   string   `json:"server"`
	Sessions []string `json:"sessions,omitempty"`
	Fresh    bool     `json:"fresh,omitempty"`
	Ask      bool     `json:"ask,omitempty"`
}

// startInterest begins to exchange interest and text with other servers, and returns a function that stops it.
func (d *Deltas) startInterest() func() {
	ctx, cancel := context.WithCancel(context.Background())

	var running sync.WaitGroup

	stopWants := d.relay.Receive(topicWant, d.onWant)
	stopChunks := d.relay.Receive(topicDelta+d.serverID, d.onChunk)
	stopListen := d.relay.OnListen(d.onConnected)

	ticker := d.clock.NewTicker(wantEvery)

	running.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.Chan():
				d.renew()
			}
		}
	})

	return sync.OnceFunc(func() {
		cancel()
		running.Wait()
		ticker.Stop()
		stopListen()
		stopWants()
		stopChunks()
	})
}

// want tells the other servers that sessions have readers here.
func (d *Deltas) want(fresh bool, sessions ...string) {
	if d.relay == nil {
		return
	}

	for len(sessions) > 0 {
		n := min(len(sessions), wantsPerMessage)
		d.relay.Broadcast(topicWant, encode(wantMessage{Server: d.serverID, Sessions: sessions[:n], Fresh: fresh}))
		sessions = sessions[n:]
	}
}

// renew repeats this server's interest and removes that of servers that no longer repeat theirs.
func (d *Deltas) renew() {
	d.mu.Lock()
	for sessionID, r := range d.sessions {
		d.hasRemoteReaders(r)
		d.removeIfEmpty(sessionID)
	}
	d.mu.Unlock()

	d.want(false, d.read()...)
}

// read returns the sessions that have readers here.
func (d *Deltas) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()

	var read []string

	for sessionID, r := range d.sessions {
		if len(r.readers) > 0 {
			read = append(read, sessionID)
		}
	}

	return read
}

// onConnected recovers what was lost while disconnected: text that readers here missed, and which servers read text written here.
func (d *Deltas) onConnected() {
	d.want(true, d.read()...)
	d.relay.Broadcast(topicWant, encode(wantMessage{Server: d.serverID, Ask: true}))
}

// hasRemoteReaders removes expired interest and reports whether any is left.
func (d *Deltas) hasRemoteReaders(r *sessionDeltas) bool {
	now := d.clock.Now()

	for server, until := range r.wants {
		if !now.Before(until) {
			delete(r.wants, server)
		}
	}

	return len(r.wants) > 0
}

func (d *Deltas) onWant(payload string) {
	var message wantMessage

	// Ignore messages that do not decode, such as those of another release: the traffic is lossy anyway.
	err := json.Unmarshal([]byte(payload), &message)
	if err != nil || message.Server == d.serverID || message.Server == "" {
		return
	}

	if message.Ask {
		d.want(false, d.read()...)
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	for _, sessionID := range message.Sessions {
		d.addInterest(sessionID, message.Server, message.Fresh)
	}
}

// addInterest records that a server reads the session, and sends it the text so far if it is new or asks for it.
func (d *Deltas) addInterest(sessionID, server string, fresh bool) {
	r := d.forSession(sessionID)
	d.hasRemoteReaders(r)

	_, known := r.wants[server]
	if !known || fresh {
		for _, s := range r.open {
			s.catchUp()

			if chunk, ok := s.soFar(); ok {
				d.send(server, chunk)
			}
		}
	}

	r.wants[server] = d.clock.Now().Add(interestTTL)
}

// onChunk receives text that another server writes.
func (d *Deltas) onChunk(payload string) {
	var chunk tarsy.StreamChunkPayload

	err := json.Unmarshal([]byte(payload), &chunk)
	if err != nil {
		return
	}

	d.mu.Lock()
	defer d.mu.Unlock()

	if r, ok := d.sessions[chunk.SessionID]; ok {
		encoded := newEncoded(chunk)
		for _, reader := range r.readers {
			reader.offer(encoded)
		}
	}
}

// send relays the chunk to a server, in as many parts as necessary.
func (d *Deltas) send(server string, chunk tarsy.StreamChunkPayload) {
	rest := chunk.Delta
	chunk.Delta = ""
	// The offset grows with each part, so reserve space for its digits.
	room := RelayLimit - len(encode(chunk)) - len("0000000000")

	for rest != "" {
		n := jsonPrefix(rest, room)
		chunk.Delta = rest[:n]
		d.relay.Broadcast(topicDelta+server, encode(chunk))
		chunk.Offset += tarsy.UTF16Len(rest[:n])
		rest = rest[n:]
	}
}

// encode is for structs of strings and numbers, which always marshal.
func encode(message any) string {
	raw, err := json.Marshal(message)
	if err != nil {
		panic("stream: message does not marshal: " + err.Error())
	}

	return string(raw)
}
