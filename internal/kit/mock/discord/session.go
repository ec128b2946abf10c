package discord

import (
	"encoding/json"
)

// maxReplay is how many events of a session can be replayed.
const maxReplay = 10_000

// session is created when a client identifies, and outlives its connection. The gateway's lock guards it.
type session struct {
	id       string
	intents  intent
	shard    int
	shards   int
	compress bool
	sequence int64
	received int64 // the last event that the client confirmed with a heartbeat
	// events are the last ones that were sent, or would have been with a connection.
	events []sentEvent
	conn   *conn // nil without a connection
}

type sentEvent struct {
	sequence int64
	payload  []byte
}

// event is an event for clients.
type event struct {
	name string
	// intents are the intents of which a session needs at least one; 0 sends the event to every session.
	intents intent
	guild   string
	data    object
	// hidden is the data for sessions without the message content intent, nil if it is the same.
	hidden object
}

// wants reports whether the session gets an event.
func (s *session) wants(e event) bool {
	return (e.intents == 0 || s.intents&e.intents != 0) && shardOf(e.guild, s.shards) == s.shard
}

// dispatch numbers an event, keeps it for replay, and sends it if there is a connection.
func (s *session) dispatch(name string, data object) {
	s.sequence++

	raw, err := json.Marshal(data)
	if err != nil {
		panic("discord: an event: " + err.Error())
	}

	text, err := json.Marshal(payload{Op: opDispatch, Data: raw, Sequence: &s.sequence, Type: &name})
	if err != nil {
		panic("discord: an event: " + err.Error())
	}

	s.events = append(s.events, sentEvent{s.sequence, text})
	if n := len(s.events) - maxReplay; n > 0 {
		s.events = s.events[n:]
	}

	s.send(text)
}

func (s *session) send(text []byte) {
	if s.conn != nil {
		s.conn.put(outgoing{payload: text, compress: s.compress})
	}
}

// replay resends the events after a number. It returns false if they are no longer known.
func (s *session) replay(after int64) bool {
	if len(s.events) > 0 && s.events[0].sequence > after+1 {
		return false
	}

	for _, e := range s.events {
		if e.sequence > after {
			s.send(e.payload)
		}
	}

	return true
}
