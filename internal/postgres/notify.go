package postgres

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

// notifyChannel is the only PostgreSQL channel: listeners on further channels slow down every NOTIFY.
const notifyChannel = "tarsy"

// maxNotifyBytes stays below PostgreSQL's limit of 8,000 bytes per payload.
const maxNotifyBytes = 7900

// finalSendTimeout bounds the sending of pending signals when the server stops.
const finalSendTimeout = time.Second

// send collects signals for a short while and sends them to the other servers.
func (s *Signals) send(ctx context.Context) {
	timer := time.NewTimer(notifyWindow)
	defer timer.Stop()

	for {
		select {
		case <-ctx.Done():
			// Send the last signals, such as those of handed-over sessions, instead of leaving the others to find out by polling.
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), finalSendTimeout)
			defer cancel()

			s.flush(last)

			return
		case <-s.kick:
		}

		timer.Reset(notifyWindow)

		select {
		case <-ctx.Done():
			continue
		case <-timer.C:
		}

		s.flush(ctx)
	}
}

func (s *Signals) flush(ctx context.Context) {
	payloads, signals := s.takeOutgoing()
	if len(payloads) == 0 {
		return
	}

	_, err := s.pool.Exec(ctx, "SELECT pg_notify($1, p) FROM unnest($2::text[]) p", notifyChannel, payloads)
	if err != nil {
		// Also if the server is stopping: it sends them once more.
		s.putBack(signals)
	}

	if ctx.Err() == nil {
		s.sending.Note(ctx, err)
	}
}

// outgoing are the signals to be sent: the highest number of each journal, and the keys of other topics.
type outgoing struct {
	journals map[string]int64
	topics   map[string]map[string]struct{}
}

func newOutgoing() outgoing {
	return outgoing{journals: map[string]int64{}, topics: map[string]map[string]struct{}{}}
}

// putBack keeps signals that could not be sent for the next attempt. It does not wake the sender, which would busy-loop while the
// database is down.
func (s *Signals) putBack(o outgoing) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for id, number := range o.journals {
		s.outgoing.journals[id] = max(s.outgoing.journals[id], number)
	}

	for topic, keys := range o.topics {
		if s.outgoing.topics[topic] == nil {
			s.outgoing.topics[topic] = map[string]struct{}{}
		}

		maps.Copy(s.outgoing.topics[topic], keys)
	}
}

// takeOutgoing packs the outgoing signals into payloads. The first line is the sender, the others are "topic key number"; a
// relayed message has its own payload.
func (s *Signals) takeOutgoing() ([]string, outgoing) {
	s.mu.Lock()
	defer s.mu.Unlock()

	var lines []string
	for id, number := range s.outgoing.journals {
		lines = append(lines, topicJournals+" "+id+" "+strconv.FormatInt(number, 10))
	}

	for topic, keys := range s.outgoing.topics {
		for key := range keys {
			lines = append(lines, topic+" "+key+" 0")
		}
	}

	var payloads []string

	var b strings.Builder

	for _, line := range lines {
		if b.Len() > 0 && b.Len()+len(line) >= maxNotifyBytes {
			payloads = append(payloads, b.String())
			b.Reset()
		}

		if b.Len() == 0 {
			b.WriteString("s " + s.origin)
		}

		b.WriteString("\n" + line)
	}

	if b.Len() > 0 {
		payloads = append(payloads, b.String())
	}

	for _, m := range s.messages {
		payloads = append(payloads, relayHead(s.origin, m.topic)+m.payload)
	}

	taken := s.outgoing
	s.outgoing = newOutgoing()
	s.messages = nil

	return payloads, taken
}

func relayHead(origin, topic string) string { return "m " + origin + "\n" + topic + "\n" }

// listen receives signals from other servers, on its own connection, which it reopens when it breaks.
func (s *Signals) listen(ctx context.Context) {
	const retryAfter = 500 * time.Millisecond

	for ctx.Err() == nil {
		err := s.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}

		s.listening.Note(ctx, err)
		s.lost()

		select {
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
	}
}

func (s *Signals) listenOnce(ctx context.Context) error {
	conn, err := pgx.ConnectConfig(ctx, s.pool.Config().ConnConfig)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // the connection is given up

	if _, err := conn.Exec(ctx, "LISTEN "+notifyChannel); err != nil {
		return fmt.Errorf("listen: %w", err)
	}

	s.listening.Note(ctx, nil)

	// Polling makes up for signals that were sent while nobody listened. Watches that are not polled can only be marked as behind.
	s.fallBehind(topicJournals, topicRequests)
	s.deliver(topicListen, "")
	s.pollOnce(ctx)

	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return fmt.Errorf("wait for a notification: %w", err)
		}

		s.receive(n.Payload)
	}
}

func (s *Signals) receive(payload string) {
	head, rest, _ := strings.Cut(payload, "\n")

	kind, origin, ok := strings.Cut(head, " ")
	if !ok || origin == s.origin {
		return
	}

	if kind == "m" {
		topic, message, _ := strings.Cut(rest, "\n")
		s.deliver(topic, message)

		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	for line := range strings.SplitSeq(rest, "\n") {
		fields := strings.Split(line, " ")
		if len(fields) != 3 {
			continue
		}

		number, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			continue
		}

		if fields[0] == topicJournals {
			s.deliverLocal(tarsy.SessionChannel(fields[1]), fields[1], number)
		}

		s.deliverLocal(fields[0], fields[1], number)
	}
}

// deliver calls the receivers without the lock, because they may broadcast an answer.
func (s *Signals) deliver(topic, message string) {
	s.mu.Lock()

	receivers := make([]*receiver, 0, len(s.receivers[topic]))
	for r := range s.receivers[topic] {
		receivers = append(receivers, r)
	}
	s.mu.Unlock()

	for _, r := range receivers {
		r.receive(message)
	}
}

func (r *receiver) receive(message string) {
	r.mu.Lock()
	defer r.mu.Unlock()

	if !r.closed {
		r.f(message)
	}
}

// poll makes up for signals that were lost between servers.
func (s *Signals) poll(ctx context.Context) {
	timer := time.NewTimer(s.nextPoll())
	defer timer.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			s.pollOnce(ctx)
			timer.Reset(s.nextPoll())
		}
	}
}

func (s *Signals) nextPoll() time.Duration {
	if s.jitter <= 0 {
		return s.pollEvery
	}

	return s.pollEvery + rand.N(s.jitter) //nolint:gosec // no secret depends on it
}

// fallBehind marks the watches of topics as behind: they may have missed something.
func (s *Signals) fallBehind(topics ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for _, topic := range topics {
		for w := range s.watches[topic] {
			w.behind = true
			w.notify()
		}
	}
}

// pollOnce polls the heads of the watched journals and wakes the queue's watchers.
func (s *Signals) pollOnce(ctx context.Context) {
	s.mu.Lock()

	var ids []string

	for channel := range s.watches {
		if id, ok := strings.CutPrefix(channel, tarsy.ChannelSessionPrefix); ok && ident.Valid(id) {
			ids = append(ids, id)
		}
	}

	s.deliverLocal(topicQueue, "", 0)
	s.mu.Unlock()

	if len(ids) == 0 {
		return
	}

	heads, err := Collect[head](ctx, s.pool, "SELECT id, last_seq FROM sessions WHERE id = ANY($1)", ids)
	if ctx.Err() != nil {
		return
	}

	s.polling.Note(ctx, err)

	if err != nil {
		return
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	for _, h := range heads {
		s.deliverLocal(tarsy.SessionChannel(h.ID), h.ID, h.LastSeq)
	}
}

type head struct {
	ID      string
	LastSeq int64
}
