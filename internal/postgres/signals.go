package postgres

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/background"
	"tarsy.dev/tarsy/internal/ident"
)

const (
	// topicQueue wakes claimers; topicRequests carries the session that a request is about; each session's journal also has a
	// topic of its own, by id.
	topicQueue    = "queue"
	topicRequests = "requests"
	topicJournals = "journals"

	notifyWindow = 10 * time.Millisecond
)

// Signals notifies readers of changes. A signal carries a name and a number, never content: its receiver reads rows. It is
// delivered immediately on this server, and to other servers through NOTIFY, sent outside the writing transaction and coalesced.
// A signal may be lost on the way to another server, so watched journals and the queue are also polled.
type Signals struct {
	pool *pgxpool.Pool
	// pollEvery plus a random part of jitter is the interval at which lost signals are made up for.
	pollEvery time.Duration
	jitter    time.Duration
	// origin identifies our own notifications, which come back to us.
	origin string
	// These log when the database becomes unavailable for listening, polling and notifying.
	listening, polling, sending background.Outage

	mu        sync.Mutex
	watches   map[string]map[*Watch]struct{}
	receivers map[string]map[*receiver]struct{}
	// Signals and relayed messages that wait for the window to pass.
	outgoing outgoing
	messages []relayed
	kick     chan struct{}

	cancel  context.CancelFunc
	running sync.WaitGroup

	// lost is called when the LISTEN connection breaks.
	lost func()
}

type relayed struct{ topic, payload string }

type receiver struct {
	mu     sync.Mutex
	closed bool
	f      func(payload string)
}

// maxRelayed bounds messages that wait to be relayed; more are dropped, because they are lossy by contract.
const maxRelayed = 256

func newSignals(pools *pools, cfg Config) *Signals {
	return &Signals{
		pool:      pools.front,
		lost:      pools.reset,
		pollEvery: cfg.PollEvery,
		jitter:    cfg.PollJitter,
		origin:    ident.New(),
		watches:   map[string]map[*Watch]struct{}{},
		receivers: map[string]map[*receiver]struct{}{},
		outgoing:  newOutgoing(),
		kick:      make(chan struct{}, 1),
		listening: background.Outage{
			Failing: "lost the LISTEN connection; reconnecting", Over: "LISTEN connection restored",
			Level: slog.LevelWarn, Logger: cfg.Logger,
		},
		polling: background.Outage{
			Failing: "could not poll journals; trying again", Over: "polling journals again", Level: slog.LevelWarn, Logger: cfg.Logger,
		},
		sending: background.Outage{
			Failing: "could not notify other servers; retrying with the next notification", Over: "notifying other servers again",
			Level: slog.LevelWarn, Logger: cfg.Logger,
		},
	}
}

func (s *Signals) start() {
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel = cancel

	s.running.Go(func() { s.send(ctx) })
	s.running.Go(func() { s.listen(ctx) })
	s.running.Go(func() { s.poll(ctx) })
}

func (s *Signals) stop() {
	if s.cancel != nil {
		s.cancel()
	}

	s.running.Wait()
}

// Watch watches one topic. C receives after something has changed since it was last read; Take returns what. A watch is bounded:
// signals of one key coalesce, and beyond its capacity it only records that it is behind.
type Watch struct {
	C <-chan struct{}

	signals *Signals
	topic   string
	limit   int
	wake    chan struct{}

	// Guarded by signals.mu.
	changed map[string]int64
	behind  bool
}

// Change is a session that changed, with the number of its last event.
type Change struct {
	SessionID string
	Version   int64
}

// watch registers a watcher with room for limit distinct keys.
func (s *Signals) watch(topic string, limit int) *Watch {
	wake := make(chan struct{}, 1)
	w := &Watch{C: wake, signals: s, topic: topic, limit: limit, wake: wake, changed: map[string]int64{}}

	s.mu.Lock()
	defer s.mu.Unlock()

	if s.watches[topic] == nil {
		s.watches[topic] = map[*Watch]struct{}{}
	}

	s.watches[topic][w] = struct{}{}

	return w
}

// WatchJournal watches one session's journal.
func (s *Signals) WatchJournal(sessionID string) *Watch {
	return s.watch(tarsy.SessionChannel(sessionID), 1)
}

// WatchSessions watches all sessions, with room for limit changes between two calls of Take.
func (s *Signals) WatchSessions(limit int) *Watch { return s.watch(topicJournals, limit) }

// WatchQueue watches for work.
func (s *Signals) WatchQueue() *Watch { return s.watch(topicQueue, 1) }

// WatchRequests watches for sessions with new requests.
func (s *Signals) WatchRequests() *Watch { return s.watch(topicRequests, 1024) }

// Close ends the watch.
func (w *Watch) Close() {
	w.signals.mu.Lock()
	defer w.signals.mu.Unlock()

	delete(w.signals.watches[w.topic], w)

	if len(w.signals.watches[w.topic]) == 0 {
		delete(w.signals.watches, w.topic)
	}
}

// Take returns what changed since the last call, and whether more changed than the watch had room for.
func (w *Watch) Take() (changes []Change, behind bool) {
	w.signals.mu.Lock()
	defer w.signals.mu.Unlock()

	changes = make([]Change, 0, len(w.changed))
	for id, version := range w.changed {
		changes = append(changes, Change{SessionID: id, Version: version})
	}

	behind = w.behind
	clear(w.changed)
	w.behind = false

	return changes, behind
}

// deliverLocal passes a signal to the watchers on this server. The caller holds s.mu.
func (s *Signals) deliverLocal(topic, key string, number int64) {
	for w := range s.watches[topic] {
		if have, ok := w.changed[key]; ok || len(w.changed) < w.limit {
			w.changed[key] = max(have, number)
		} else {
			w.behind = true
		}

		w.notify()
	}
}

func (w *Watch) notify() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// moved signals that a session's journal has reached number. It must be called after the commit, never before.
func (s *Signals) moved(sessionID string, number int64) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.deliverLocal(tarsy.SessionChannel(sessionID), sessionID, number)
	s.deliverLocal(topicJournals, sessionID, number)

	s.outgoing.journals[sessionID] = max(s.outgoing.journals[sessionID], number)
	s.wakeSender()
}

// raise signals work in the queue or a request.
func (s *Signals) raise(topic, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.deliverLocal(topic, key, 0)

	if s.outgoing.topics[topic] == nil {
		s.outgoing.topics[topic] = map[string]struct{}{}
	}

	s.outgoing.topics[topic][key] = struct{}{}
	s.wakeSender()
}

// Broadcast sends a message to the other servers' receivers of the topic. It never blocks and may lose the message; one that does
// not fit into a notification is always lost.
func (s *Signals) Broadcast(topic, payload string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if len(s.messages) >= maxRelayed || len(relayHead(s.origin, topic))+len(payload) > maxNotifyBytes {
		return
	}

	s.messages = append(s.messages, relayed{topic: topic, payload: payload})
	s.wakeSender()
}

// Receive calls f for each message that another server sends to the topic, one at a time. After stop has returned, f is not
// called again; f must not call stop.
func (s *Signals) Receive(topic string, f func(payload string)) (stop func()) {
	r := &receiver{f: f}

	s.mu.Lock()
	defer s.mu.Unlock()

	if s.receivers[topic] == nil {
		s.receivers[topic] = map[*receiver]struct{}{}
	}

	s.receivers[topic][r] = struct{}{}

	return func() {
		s.mu.Lock()
		delete(s.receivers[topic], r)
		s.mu.Unlock()

		r.mu.Lock()
		defer r.mu.Unlock()

		r.closed = true
	}
}

// topicListen is not the topic of a message: its receivers are called when this server starts receiving notifications.
const topicListen = ""

// OnListen calls f whenever this server starts receiving notifications: at first, and after every lost connection. After stop has
// returned, f is not called again; f must not call stop.
func (s *Signals) OnListen(f func()) (stop func()) {
	return s.Receive(topicListen, func(string) { f() })
}

func (s *Signals) wakeSender() {
	select {
	case s.kick <- struct{}{}:
	default:
	}
}
