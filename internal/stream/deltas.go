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
	// longestWindow is the longest time that text is batched when there are many readers.
	longestWindow = 250 * time.Millisecond
	// readersPerWindow is how many readers the configured window is for: with twice as many, text is batched twice as long.
	readersPerWindow = 100
)

// DeltasConfig configures Deltas.
type DeltasConfig struct {
	// ServerID identifies this server among those that share the Relay.
	ServerID string
	// Relay connects to the other servers; nil means there are none.
	Relay Relay
	// Clock stamps chunks and measures how long other servers' interest lasts.
	Clock clockwork.Clock
	// Window is how long text is batched before it is sent, in real time; 30 ms if zero. With more than 100 readers on this server it
	// grows, up to 250 ms, to limit the number of frames.
	Window time.Duration
	// Buffer is how many chunks are buffered for one reader; 256 if zero.
	Buffer int
}

// Deltas delivers the text that models are writing to readers on this and other servers. It is lossy: nothing is stored, and a full buffer
// drops chunks. One lock guards everything; only in-memory work happens under it, so writers wait for each other but never for a reader.
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
	wants   map[string]time.Time // other servers with a reader, and when that interest expires
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

// Close ends every open text and the exchange with other servers, and waits for both. It may be called more than once.
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

// Open begins the text of a timeline event. If the event's text is already being written, the higher fence wins: either the other one is
// closed, or the new one is closed from the start.
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

	// Closing the other one may have removed the session's state.
	r = d.forSession(sessionID)
	r.open = append(r.open, s)

	return s
}

// Dropped returns how many chunks were dropped because a buffer was full.
func (d *Deltas) Dropped() int64 { return d.dropped.Load() }

// DeltaReader receives the chunks of one session.
type DeltaReader struct {
	deltas    *Deltas
	sessionID string
	chunks    chan *Encoded
	notify    func() // guarded by the lock of deltas
}

// Subscribe begins to read a session's chunks. Each text that is being written on this server first arrives as one chunk with everything
// sent so far; texts of other servers follow a moment later and possibly in parts.
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

// Chunks returns the channel on which chunks arrive. It is never closed.
func (r *DeltaReader) Chunks() <-chan *Encoded { return r.chunks }

// Notify sets f to be called when chunks are waiting: immediately if there are some, and after each one that arrives. f must not block,
// because writers of text wait for it.
func (r *DeltaReader) Notify(f func()) {
	r.deltas.mu.Lock()
	defer r.deltas.mu.Unlock()

	r.notify = f

	if len(r.chunks) > 0 {
		f()
	}
}

// Close ends the subscription. It may be called more than once.
func (r *DeltaReader) Close() {
	d := r.deltas

	d.mu.Lock()
	defer d.mu.Unlock()

	session := d.forSession(r.sessionID)
	before := len(session.readers)
	session.readers = slices.DeleteFunc(session.readers, func(other *DeltaReader) bool { return other == r })
	d.readers -= before - len(session.readers)
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

// The caller of the methods below must hold the lock.

// pace returns how long text is currently batched.
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

// removeIfEmpty removes the state of a session without open texts, readers and remote interest.
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

// hasReaders reports whether the session has a reader, here or on another server.
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

// publish sends a chunk written on this server to all readers.
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
