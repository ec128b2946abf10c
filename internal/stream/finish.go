package stream

import (
	"context"
	"encoding/json"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
)

// finish finds out when a session's stream is over: its last status is terminal, and every event that was there
// with it has been sent. Follow-up questions may come after a terminal status, so one in the middle is not the end.
type finish struct {
	journal journal.Reader[tarsy.Event]
	start   journal.Position // what the reader has seen before, or will never see
	target  journal.Position // what it must have seen
	// ask knows the status where no event is left that tells it.
	ask    func(ctx context.Context) (tarsy.SessionStatus, error)
	status tarsy.SessionStatus
	looked bool
}

// reached is told how far the reader is, and reports whether the stream is over there.
func (f *finish) reached(ctx context.Context, position journal.Position) (bool, error) {
	if position < f.target {
		return false, nil
	}

	if f.status == "" && !f.looked {
		f.looked = true

		err := f.findLastStatus(ctx)
		if err != nil {
			return false, err
		}
	}

	return f.status.Terminal(), nil
}

// sent is told each record that was sent, and reports whether the stream is over.
func (f *finish) sent(ctx context.Context, record journal.Record[tarsy.Event]) (bool, error) {
	if status, ok := sessionStatus(record.Entry); ok {
		f.status = status

		if status.Terminal() {
			head, err := f.journal.Head(ctx)
			if err != nil {
				return false, err
			}

			f.target = max(f.target, head)
		}
	}

	return f.reached(ctx, record.Position)
}

// findLastStatus finds the last status among the events that the reader had before, or that are gone.
func (f *finish) findLastStatus(ctx context.Context) error {
	first := f.start + 1

	for record, err := range f.journal.Backward(ctx, first) {
		if err != nil {
			return err
		}

		first = record.Position

		if status, ok := sessionStatus(record.Entry); ok {
			f.status = status

			return nil
		}
	}

	if first == 1 {
		return nil
	}

	var err error

	f.status, err = f.ask(ctx)

	return err
}

func sessionStatus(event tarsy.Event) (tarsy.SessionStatus, bool) {
	if event.Type != tarsy.TypeSessionStatus {
		return "", false
	}

	var payload tarsy.SessionStatusPayload

	err := json.Unmarshal(event.Payload, &payload)

	return payload.Status, err == nil
}
