package stream

import (
	"context"
	"encoding/json"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
)

// finish determines when a session's stream ends: its last status is terminal, and every event that existed at that point has been sent.
// Follow-up questions can come after a terminal status, so a terminal status with later events is not the end.
type finish struct {
	journal journal.Reader[tarsy.Event]
	start   journal.Position // the reader has events up to here, or will never get them
	target  journal.Position // the events that must be sent first
	// ask returns the session's status if no event with it is left.
	ask    func(ctx context.Context) (tarsy.SessionStatus, error)
	status tarsy.SessionStatus
	looked bool
}

// reached reports whether the stream is over once the reader is at position.
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

// sent is called for each record that was sent, and reports whether the stream is over.
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

// findLastStatus finds the last status among the events that the reader already had, or asks for it if they are gone.
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
