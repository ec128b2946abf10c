package discord

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

const (
	// maxPayload is the maximum size of a client's payload, in bytes.
	maxPayload = 4096
	// maxCommands is how many payloads a client may send in commandWindow.
	maxCommands   = 120
	commandWindow = time.Minute
)

// pace counts the payloads of a connection.
type pace struct {
	count int
	since time.Time
}

func (p *pace) exceeded(now time.Time) bool {
	if now.Sub(p.since) >= commandWindow {
		p.since, p.count = now, 0
	}

	p.count++

	return p.count > maxCommands
}

// receive handles one payload of a client that connected to this server under the name host.
func (g *gateway) receive(c *conn, data []byte, host string) {
	var p payload

	if len(data) > maxPayload || json.Unmarshal(data, &p) != nil {
		g.refuse(c, closeDecodeError)

		return
	}

	if c.pace.exceeded(g.clock.Now()) {
		g.refuse(c, closeRateLimited)

		return
	}

	switch p.Op {
	case opHeartbeat:
		g.heartbeat(c, p.Data)
	case opIdentify:
		g.identify(c, p.Data, host)
	case opResume:
		g.resume(c, p.Data)
	case opPresence, opVoiceState, opRequestGuildMembers:
		g.command(c, p)
	default:
		g.refuse(c, closeUnknownOpcode)
	}
}

func (g *gateway) refuse(c *conn, why closeCode) {
	g.mu.Lock()
	defer g.mu.Unlock()

	g.end(c, why, false)
}

// heartbeat handles a heartbeat. Its data is the number of the last event that the client received.
func (g *gateway) heartbeat(c *conn, data json.RawMessage) {
	var last int64

	_ = json.Unmarshal(data, &last) // null before the first event

	g.mu.Lock()
	defer g.mu.Unlock()

	if s := g.conns[c]; s != nil {
		s.received = max(s.received, last)
	}

	c.alive.Reset(g.interval * 3 / 2)
	g.log[c.number-1].Heartbeats++
	g.changes.Notify()

	if !g.stopAcks {
		c.sendOp(opHeartbeatAck, nil)
	}
}

// accepts reports whether a token is the bot's.
func (g *gateway) accepts(token string) bool {
	token = strings.TrimPrefix(token, "Bot ")

	return token != "" && (g.setup.Token == "" || token == g.setup.Token)
}

// identification is the data of an identify.
type identification struct {
	Token    string `json:"token"`
	Intents  *int   `json:"intents"`
	Compress bool   `json:"compress"`
	Shard    []int  `json:"shard"`
}

// check returns the reason for rejecting a client, and whether it is accepted.
func (g *gateway) check(i identification) (closeCode, bool) {
	switch {
	case !g.accepts(i.Token):
		return closeAuthFailed, false
	case i.Intents == nil || intent(*i.Intents)&^knownIntents != 0:
		return closeIntents, false
	case intent(*i.Intents)&privileged(g.setup.Disallow) != 0:
		return closeDisallowed, false
	case i.Shard != nil && (len(i.Shard) != 2 || i.Shard[1] < 1 || i.Shard[0] < 0 || i.Shard[0] >= i.Shard[1]):
		return closeInvalidShard, false
	default:
		return closeCode{}, true
	}
}

func (g *gateway) identify(c *conn, data json.RawMessage, host string) {
	var i identification
	if json.Unmarshal(data, &i) != nil {
		g.refuse(c, closeDecodeError)

		return
	}

	bot, guilds := g.snapshot()

	g.mu.Lock()
	defer g.mu.Unlock()

	if g.conns[c] != nil {
		g.end(c, closeAlreadyAuthed, true)

		return
	}

	if why, ok := g.check(i); !ok {
		g.end(c, why, false)

		return
	}

	g.made++

	s := &session{id: sessionID(g.made), intents: intent(*i.Intents), shards: 1, compress: i.Compress, conn: c}
	if i.Shard != nil {
		s.shard, s.shards = i.Shard[0], i.Shard[1]
	}

	guilds = slices.DeleteFunc(guilds, func(e event) bool { return shardOf(e.guild, s.shards) != s.shard })

	g.attach(c, s, "identify")
	g.sessions[s.id] = s

	s.dispatch("READY", object{
		"v": 10, "user": bot, "session_id": s.id, "session_type": "normal", "resume_gateway_url": "ws://" + host + gatewayPath + resumePath,
		"guilds":      mapped(guilds, func(e event) object { return object{"id": e.guild, "unavailable": true} }),
		"shard":       []int{s.shard, s.shards},
		"application": object{"id": bot["id"], "flags": 1 << 19}, "private_channels": []any{}, "relationships": []any{}, "user_settings": object{},
		"presences": []any{}, "guild_join_requests": []any{}, "geo_ordered_rtc_regions": []any{}, "_trace": []string{"tarsy-mock"},
	})

	for _, e := range guilds {
		if s.wants(e) {
			s.dispatch(e.name, e.data)
		}
	}

	g.changes.Notify()
}

// attach connects a connection and a session. The lock is held.
func (g *gateway) attach(c *conn, s *session, how string) {
	g.conns[c], s.conn = s, c

	l := &g.log[c.number-1]
	l.How, l.Session = how, s.id
}

// resumption is the data of a resume.
type resumption struct {
	Token    string `json:"token"`
	Session  string `json:"session_id"`
	Sequence int64  `json:"seq"`
}

func (g *gateway) resume(c *conn, data json.RawMessage) {
	var r resumption
	if json.Unmarshal(data, &r) != nil {
		g.refuse(c, closeDecodeError)

		return
	}

	g.mu.Lock()
	defer g.mu.Unlock()

	s := g.sessions[r.Session]

	switch {
	case g.conns[c] != nil:
		g.end(c, closeAlreadyAuthed, true)

		return
	case !g.accepts(r.Token):
		g.end(c, closeAuthFailed, false)

		return
	case s == nil:
		c.sendOp(opInvalidSession, false)

		return
	case r.Sequence > s.sequence:
		g.end(c, closeInvalidSeq, false)
		delete(g.sessions, s.id)

		return
	}

	if old := s.conn; old != nil {
		// A client may resume before the loss of its connection is noticed here.
		g.end(old, closeSessionTimeout, false)
	}

	g.attach(c, s, "resume")

	if !s.replay(r.Sequence) {
		g.detach(c)
		delete(g.sessions, s.id)
		c.sendOp(opInvalidSession, false)

		return
	}

	s.dispatch("RESUMED", object{"_trace": []string{"tarsy-mock"}})
	g.changes.Notify()
}

// memberRequest is the data of a request for members.
type memberRequest struct {
	Guild   json.RawMessage `json:"guild_id"` // an ID, or a list with one
	Query   *string         `json:"query"`
	Limit   int             `json:"limit"`
	UserIDs json.RawMessage `json:"user_ids"` // an ID, or a list
	Nonce   string          `json:"nonce"`
}

// command handles payloads that only identified clients may send.
func (g *gateway) command(c *conn, p payload) {
	var (
		r     memberRequest
		chunk event
		known bool
	)

	if p.Op == opRequestGuildMembers && json.Unmarshal(p.Data, &r) == nil {
		chunk, known = g.members(r)
	}

	g.mu.Lock()
	defer g.mu.Unlock()

	s := g.conns[c]
	if s == nil {
		g.end(c, closeNotAuthed, false)

		return
	}

	if known {
		s.dispatch(chunk.name, chunk.data)
	}
}
