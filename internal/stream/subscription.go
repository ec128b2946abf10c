package stream

import (
	"context"

	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
)

// outlet writes to one reader. It is used by one goroutine at a time.
type outlet interface {
	event(channel string, record journal.Record[tarsy.Event]) error
	chunk(channel string, chunk tarsy.StreamChunkPayload) error
}

// tasks is what the goroutine that writes a connection does next. It has no buffer: whoever has something to
// write waits for its turn, which is how the pace of the socket reaches the journal's tail.
type tasks chan func() error

// put waits until the writer has taken the task. It reports false when the context ended first.
func (t tasks) put(ctx context.Context, task func() error) bool {
	select {
	case t <- task:
		return true
	case <-ctx.Done():
		return false
	}
}

// subscription sends a session's journal after a position, and its deltas, to an outlet. Two goroutines wait for
// either; all that they find is written, and the gate is asked, by the connection's writer.
type subscription struct {
	channel string
	journal journal.Reader[tarsy.Event]
	after   journal.Position
	chunks  *DeltaReader
	out     outlet
	tasks   tasks
	gate    *gate
	// passed is told each record after the writer took it. Its error ends the subscription.
	passed func(ctx context.Context, record journal.Record[tarsy.Event]) error
}

// subscribe begins to collect deltas; run must follow, which also ends that.
func (h *Hub) subscribe(sessionID string, after journal.Position, out outlet, queue tasks) *subscription {
	return &subscription{
		channel: tarsy.SessionChannel(sessionID), journal: h.journals.Journal(sessionID), after: after,
		chunks: h.deltas.Subscribe(sessionID), out: out, tasks: queue, gate: newGate(&h.deltas.dropped),
		passed: func(context.Context, journal.Record[tarsy.Event]) error { return nil },
	}
}

// run sends until the context ends, or something fails.
func (s *subscription) run(ctx context.Context) error {
	defer s.chunks.Close()

	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.tail(ctx) })
	group.Go(func() error { return s.pump(ctx) })

	return group.Wait() //nolint:wrapcheck // both wrap
}

func (s *subscription) tail(ctx context.Context) error {
	for record, err := range s.journal.Tail(ctx, s.after) {
		if err != nil {
			return err //nolint:wrapcheck // the caller says which journal
		}

		if !s.tasks.put(ctx, func() error { return s.sendRecord(record) }) {
			break
		}

		err = s.passed(ctx, record)
		if err != nil {
			return err
		}
	}

	return context.Cause(ctx)
}

func (s *subscription) pump(ctx context.Context) error {
	// From the journal's beginning, the tail itself tells which events there are.
	informed := s.after == 0

	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case chunk := <-s.chunks.Chunks():
			if !informed {
				past, err := s.past(ctx)
				if err != nil {
					return err
				}

				s.tasks.put(ctx, func() error { return s.sendChunks(s.gate.learn(past)) })

				informed = true
			}

			s.tasks.put(ctx, func() error {
				if !s.gate.admit(chunk) {
					return nil
				}

				return s.out.chunk(s.channel, chunk)
			})
		}
	}
}

// past returns the timeline events that the reader knows from before, and whether they are final. It is asked only
// when text arrives: most who come back do so to a session that is not writing.
func (s *subscription) past(ctx context.Context) (map[string]bool, error) {
	events := map[string]bool{}

	for record, err := range s.journal.Backward(ctx, s.after+1) {
		if err != nil {
			return nil, err //nolint:wrapcheck // the caller says which journal
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
		return err //nolint:wrapcheck // ends the connection, whose writer wraps
	}

	return s.sendChunks(s.gate.sent(record.Entry))
}

func (s *subscription) sendChunks(chunks []tarsy.StreamChunkPayload) error {
	for _, chunk := range chunks {
		err := s.out.chunk(s.channel, chunk)
		if err != nil {
			return err //nolint:wrapcheck // ends the connection, whose writer wraps
		}
	}

	return nil
}
