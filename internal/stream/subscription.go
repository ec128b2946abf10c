package stream

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
)

// outlet writes to one reader. It is used by one goroutine at a time.
type outlet interface {
	event(channel string, record journal.Record[tarsy.Event]) error
	chunk(chunk *Encoded) error
	// overflow tells the reader that events up to a position are missing, and to load the current state over REST.
	overflow(channel string, through journal.Position) error
}

// subscription sends a channel's journal after a position, and the deltas of a session, to an outlet. One goroutine tails the journal, one
// looks up which events the reader had before. All writes and all calls of the gate happen in the connection's writer, which takes the
// deltas itself.
type subscription struct {
	channel string
	journal journal.Reader[tarsy.Event]
	// began is the event after which the reader has been sent everything; it moves when events turn out to be gone.
	began atomic.Int64
	// chunks is nil unless the journal belongs to a session.
	chunks *DeltaReader
	out    outlet
	outbox *outbox
	gate   *gate
	// listed is set while the outbox lists the subscription; ended is set when nothing of it may be written any more.
	listed, ended atomic.Bool
	// held receives a value when a chunk was held, possibly only because the gate does not know which events the reader had before.
	held chan struct{}
	// passed is called with each record after the writer took it. An error ends the subscription.
	passed func(ctx context.Context, record journal.Record[tarsy.Event]) error
	// resume chooses the event after which to continue if those before first are gone.
	resume func(ctx context.Context, first journal.Position) (journal.Position, error)
	// resumed is called with that position after the reader was notified. An error ends the subscription.
	resumed func(ctx context.Context, after journal.Position) error
}

// subscribe begins to collect the deltas of a session; the caller must call run or close, which end that. A reader that requests events
// which are gone is notified and continues live.
func (h *Hub) subscribe(ch channel, after journal.Position, out outlet, box *outbox) *subscription {
	s := &subscription{
		channel: ch.name, journal: ch.journal, out: out, outbox: box, gate: newGate(&h.deltas.dropped),
		held:    make(chan struct{}, 1),
		passed:  func(context.Context, journal.Record[tarsy.Event]) error { return nil },
		resumed: func(context.Context, journal.Position) error { return nil },
	}
	if ch.sessionID != "" {
		s.chunks = h.deltas.Subscribe(ch.sessionID)
	}

	s.began.Store(int64(after))
	s.resume = func(ctx context.Context, _ journal.Position) (journal.Position, error) { return s.journal.Head(ctx) }

	return s
}

// run sends until the context ends, or something fails.
func (s *subscription) run(ctx context.Context) error {
	defer s.ended.Store(true)
	defer s.close()

	if s.chunks != nil {
		s.chunks.Notify(s.announce)
	}

	ctx, cancel := context.WithCancelCause(ctx)

	var tail sync.WaitGroup

	tail.Go(func() { cancel(s.tail(ctx)) })
	cancel(s.inform(ctx))
	tail.Wait()

	return context.Cause(ctx) // of whichever ended first
}

// close ends the deltas. It may be called more than once.
func (s *subscription) close() {
	if s.chunks != nil {
		s.chunks.Close()
	}
}

// tail sends the journal. If events are gone it resumes after the gap.
func (s *subscription) tail(ctx context.Context) error {
	for {
		err := s.follow(ctx)

		trimmed, ok := errors.AsType[*journal.TrimmedError](err)
		if !ok {
			return err
		}

		after, err := s.resume(ctx, trimmed.First)
		if err != nil {
			return err
		}

		s.began.Store(int64(after))

		if !s.outbox.put(ctx, func() error { return s.out.overflow(s.channel, after) }) {
			return context.Cause(ctx)
		}

		err = s.resumed(ctx, after)
		if err != nil {
			return err
		}
	}
}

func (s *subscription) follow(ctx context.Context) error {
	for record, err := range s.journal.Tail(ctx, journal.Position(s.began.Load())) {
		if err != nil {
			return err
		}

		if !s.outbox.put(ctx, func() error { return s.sendRecord(record) }) {
			break
		}

		err = s.passed(ctx, record)
		if err != nil {
			return err
		}
	}

	return context.Cause(ctx)
}

// announce makes the writer drain the subscription. It is called by writers of text, under the lock of Deltas.
func (s *subscription) announce() {
	if !s.listed.Swap(true) {
		s.outbox.list(s)
	}
}

// drain writes the waiting chunks.
func (s *subscription) drain() error {
	s.listed.Store(false) // first, so that a chunk that arrives now lists the subscription again

	for {
		select {
		case chunk := <-s.chunks.Chunks():
			err := s.sendChunk(chunk)
			if err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

func (s *subscription) sendChunk(chunk *Encoded) error {
	if s.ended.Load() {
		return nil
	}

	if s.gate.admit(chunk) {
		return s.out.chunk(chunk)
	}

	select {
	case s.held <- struct{}{}:
	default:
	}

	return nil
}

// inform tells the gate which events the reader had before the subscription began, once a chunk that may belong to one of them is held.
func (s *subscription) inform(ctx context.Context) error {
	// From the beginning of the journal, the tail itself provides all events.
	informed := int64(0)

	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-s.held:
		}

		began := s.began.Load()
		if began == informed {
			continue
		}

		past, err := s.past(ctx, journal.Position(began))
		if err != nil {
			return err
		}

		s.outbox.put(ctx, func() error { return s.sendChunks(s.gate.learn(past)) })

		informed = began
	}
}

// past returns the timeline events that the reader already has, and whether they are final. It is called only when text arrives, because
// most readers return to a session that is not writing.
func (s *subscription) past(ctx context.Context, began journal.Position) (map[string]bool, error) {
	events := map[string]bool{}

	for record, err := range s.journal.Backward(ctx, began+1) {
		if err != nil {
			return nil, err
		}

		id, done, ok := timelineEvent(record.Entry)
		if ok {
			events[id] = events[id] || done
		}
	}

	return events, nil
}

func (s *subscription) sendRecord(record journal.Record[tarsy.Event]) error {
	err := s.out.event(s.channel, record)
	if err != nil {
		return err
	}

	return s.sendChunks(s.gate.sent(record.Entry))
}

func (s *subscription) sendChunks(chunks []*Encoded) error {
	for _, chunk := range chunks {
		err := s.out.chunk(chunk)
		if err != nil {
			return err
		}
	}

	return nil
}
