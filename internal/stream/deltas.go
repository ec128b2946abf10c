package stream

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
)

const (
	defaultWindow      = 30 * time.Millisecond
	defaultDeltaBuffer = 256
	// longestWindow is how long text is gathered at most when many read.
	longestWindow = 250 * time.Millisecond
	// readersPerWindow is how many readers a window is for: with twice as many, text is gathered twice as long.
	readersPerWindow = 100
)

// DeltasConfig is what Deltas need.
type DeltasConfig struct {
	// ServerID names this server among those that share the Relay.
	ServerID string
	// Relay reaches the other servers; nil means there are none.
	Relay Relay
	// Clock stamps chunks and measures how long other servers' interest lasts.
	Clock clockwork.Clock
	// Window is how long text is gathered before it goes out, in real time; 30 ms if zero. With more than 100 readers on
	// this server it grows, up to 250 ms, so that the number of frames does not.
	Window time.Duration
	// Buffer is how many chunks may wait for one reader; 256 if zero.
	Buffer int
}

// Deltas carry the text that models are writing to whoever watches, here and on other servers. They are lossy:
// nothing is kept, a full buffer drops. One lock guards all of it; under it there is only work in memory, so
// writers wait for each other but never for a reader.
type Deltas struct {
	serverID string
	relay    Relay
	clock    clockwork.Clock
	window   time.Duration
	buffer   int

	dropped atomic.Int64
	timers  sync.WaitGroup // flushes that are due
	stop    func()         // ends the interest protocol

	mu       sync.Mutex
	sessions map[string]*sessionDeltas // by session
	closed   bool
	// readers counts the readers of all sessions.
	readers int
}

// sessionDeltas holds the open texts and the readers of one session.
type sessionDeltas struct {
	open    []*Delta
	readers []*DeltaReader
	wants   map[string]time.Time // other servers with a reader, and until when we believe it
}

// NewDeltas returns Deltas that must be closed.
func NewDeltas(cfg DeltasConfig) *Deltas {
	d := &Deltas{
		serverID: cfg.ServerID, relay: cfg.Relay, clock: cfg.Clock, window: cfg.Window, buffer: cfg.Buffer,
		stop: func() {}, sessions: map[string]*sessionDeltas{},
	}
	if d.window == 0 {
		d.window = defaultWindow
	}

	if d.buffer == 0 {
		d.buffer = defaultDeltaBuffer
	}

	if d.relay != nil {
		d.stop = d.startInterest()
	}

	return d
}

// Close ends every open text and the exchange with other servers, and waits for both. It may be called again.
func (d *Deltas) Close() {
	d.stop()

	d.mu.Lock()
	d.closed = true

	for _, r := range d.sessions {
		for _, s := range slices.Clone(r.open) {
			s.close()
		}
	}
	d.mu.Unlock()

	d.timers.Wait()
}

// Open begins the text of a timeline event. If the event's text is being written already, the higher fence wins:
// the other one is closed, or the new one is closed from the start.
func (d *Deltas) Open(sessionID string, chunk Chunk) *Delta {
	d.mu.Lock()
	defer d.mu.Unlock()

	s := &Delta{deltas: d, sessionID: sessionID, chunk: chunk, closed: d.closed}
	if s.closed {
		return s
	}

	r := d.forSession(sessionID)

	for _, other := range slices.Clone(r.open) {
		if other.chunk.EventID != chunk.EventID {
			continue
		}

		if other.chunk.Fence > chunk.Fence {
			s.closed = true

			return s
		}

		other.close()
	}

	// Closing the other one may have emptied the room.
	r = d.forSession(sessionID)
	r.open = append(r.open, s)

	return s
}

// Dropped counts the chunks that a full buffer did not take.
func (d *Deltas) Dropped() int64 { return d.dropped.Load() }

// DeltaReader receives the chunks of one session.
type DeltaReader struct {
	deltas    *Deltas
	sessionID string
	chunks    chan *Encoded
	notify    func() // belongs to the lock of deltas
}

// Subscribe begins to read a session's chunks. Texts that are being written on this server arrive as one chunk
// each, with everything that was sent so far; so do those of other servers, a moment later and possibly in parts.
func (d *Deltas) Subscribe(sessionID string) *DeltaReader {
	reader := &DeltaReader{deltas: d, sessionID: sessionID, chunks: make(chan *Encoded, d.buffer), notify: func() {}}

	d.mu.Lock()
	r := d.forSession(sessionID)

	for _, s := range r.open {
		s.catchUp()

		if chunk, ok := s.soFar(); ok {
			reader.offer(newEncoded(chunk))
		}
	}

	r.readers = append(r.readers, reader)
	d.readers++
	d.mu.Unlock()

	d.want(true, sessionID)

	return reader
}

// Chunks is where the chunks arrive. It is never closed.
func (r *DeltaReader) Chunks() <-chan *Encoded { return r.chunks }

// Notify has f called when chunks wait: at once if some do, and after each one that arrives. It must not wait for
// anything: writers of text wait for it.
func (r *DeltaReader) Notify(f func()) {
	r.deltas.mu.Lock()
	defer r.deltas.mu.Unlock()

	r.notify = f

	if len(r.chunks) > 0 {
		f()
	}
}

// Close ends the subscription. It may be called again.
func (r *DeltaReader) Close() {
	d := r.deltas

	d.mu.Lock()
	defer d.mu.Unlock()

	room := d.forSession(r.sessionID)
	before := len(room.readers)
	room.readers = slices.DeleteFunc(room.readers, func(other *DeltaReader) bool { return other == r })
	d.readers -= before - len(room.readers)
	d.removeIfEmpty(r.sessionID)
}

func (r *DeltaReader) offer(chunk *Encoded) {
	select {
	case r.chunks <- chunk:
		r.notify()
	default:
		r.deltas.dropped.Add(1)
	}
}

// The methods below need the lock.

// pace is how long text is gathered now.
func (d *Deltas) pace() time.Duration {
	grown := d.window * time.Duration(max(d.readers, readersPerWindow)) / readersPerWindow

	return max(d.window, min(grown, longestWindow))
}

func (d *Deltas) forSession(sessionID string) *sessionDeltas {
	r, ok := d.sessions[sessionID]
	if !ok {
		r = &sessionDeltas{wants: map[string]time.Time{}}
		d.sessions[sessionID] = r
	}

	return r
}

// removeIfEmpty drops the state of a session without open texts and readers.
func (d *Deltas) removeIfEmpty(sessionID string) {
	r, ok := d.sessions[sessionID]
	if ok && len(r.open) == 0 && len(r.readers) == 0 && len(r.wants) == 0 {
		delete(d.sessions, sessionID)
	}
}

func (d *Deltas) forget(s *Delta) {
	r := d.forSession(s.sessionID)
	r.open = slices.DeleteFunc(r.open, func(other *Delta) bool { return other == s })
	d.removeIfEmpty(s.sessionID)
}

// hasReaders reports whether anyone reads the session, here or elsewhere.
func (d *Deltas) hasReaders(sessionID string) bool {
	r, ok := d.sessions[sessionID]
	if !ok {
		return false
	}

	if len(r.readers) > 0 {
		return true
	}

	return len(r.wants) > 0 && d.hasRemoteReaders(r)
}

// publish sends a chunk of this server to everyone who wants it.
func (d *Deltas) publish(chunk tarsy.StreamChunkPayload) {
	r, ok := d.sessions[chunk.SessionID]
	if !ok {
		return
	}

	encoded := newEncoded(chunk)
	for _, reader := range r.readers {
		reader.offer(encoded)
	}

	if len(r.wants) > 0 && d.hasRemoteReaders(r) {
		for server := range r.wants {
			d.send(server, chunk)
		}
	}
}
