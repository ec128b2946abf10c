package stream

import (
	"strings"
	"time"

	"tarsy.dev/tarsy"
)

// Chunk identifies the text that a Delta writes.
type Chunk struct {
	ExecutionID *string
	EventID     string
	EventType   tarsy.EventType
	// Fence is the fence of the lease under which the text is written. Text with a higher fence starts over and replaces earlier text.
	Fence int64
}

// Delta is the text of one timeline event while it is being written. Its fields are guarded by the lock of its Deltas.
type Delta struct {
	deltas    *Deltas
	sessionID string
	chunk     Chunk

	text    strings.Builder // all text so far, for readers who join later
	sent    int             // bytes of text already published, even if no one was reading
	offset  int             // the same in UTF-16 units
	flushed time.Time       // when text was last published
	timer   *time.Timer     // nil unless a flush is due
	closed  bool
}

// Append adds text and never waits for a reader. The first piece is sent immediately, later ones are batched within a window. It does
// nothing after Close.
func (s *Delta) Append(text string) {
	d := s.deltas

	d.mu.Lock()
	defer d.mu.Unlock()

	if s.closed || text == "" {
		return
	}

	s.text.WriteString(text)

	if s.timer != nil || !d.hasReaders(s.sessionID) {
		return
	}

	wait := d.pace() - time.Since(s.flushed)
	if wait <= 0 {
		s.flush(false)

		return
	}

	d.timers.Add(1)
	s.timer = time.AfterFunc(wait, s.due)
}

// Close sends the remaining text and ends it; the final text is in the journal. Close may be called more than once.
func (s *Delta) Close() {
	s.deltas.mu.Lock()
	defer s.deltas.mu.Unlock()

	s.close()
}

func (s *Delta) close() {
	if s.closed {
		return
	}

	if s.deltas.hasReaders(s.sessionID) {
		s.flush(true)
	}

	s.closed = true

	if s.timer != nil && s.timer.Stop() {
		s.timer = nil
		s.deltas.timers.Done()
	}

	s.deltas.forget(s)
}

// due is called by the timer.
func (s *Delta) due() {
	d := s.deltas
	defer d.timers.Done()

	d.mu.Lock()
	defer d.mu.Unlock()

	s.timer = nil

	if !s.closed {
		s.flush(false)
	}
}

// flush sends the unsent text to all readers. An incomplete rune waits for its remaining bytes, unless the flush is final.
func (s *Delta) flush(final bool) {
	rest := s.text.String()[s.sent:]
	if !final {
		rest = rest[:wholeRunes(rest)]
	}

	if rest == "" {
		return
	}

	offset := s.offset
	s.sent += len(rest)
	s.offset += tarsy.UTF16Len(rest)
	s.flushed = time.Now()

	s.deltas.publish(s.payload(rest, offset))
}

// catchUp sends text that was written while there was no reader, before a reader joins. If a flush is due, the reader waits for it like all
// others: if every joining reader caused a flush, 1,000 of them would cause half a million frames.
func (s *Delta) catchUp() {
	if s.timer == nil {
		s.flush(false)
	}
}

// soFar returns all text sent so far as one chunk.
func (s *Delta) soFar() (tarsy.StreamChunkPayload, bool) {
	return s.payload(s.text.String()[:s.sent], 0), s.sent > 0
}

func (s *Delta) payload(text string, offset int) tarsy.StreamChunkPayload {
	return tarsy.StreamChunkPayload{
		Type: tarsy.TypeStreamChunk, SessionID: s.sessionID, ExecutionID: s.chunk.ExecutionID,
		EventID: s.chunk.EventID, EventType: s.chunk.EventType, Delta: text, Offset: offset,
		Fence: s.chunk.Fence, Timestamp: s.deltas.clock.Now(),
	}
}
