package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

const (
	// maxWait is the maximum time that a call waits. Many programs give up on a call earlier.
	maxWait = 300
	// usualWait is less than the minute after which most programs give up.
	usualWait = 45
)

// errWaited is the cause if waiting ends without an event.
var errWaited = errors.New("the requested wait time is over")

// waiting limits ctx. Waited reports whether only this limit was reached.
func waiting(ctx context.Context, seconds int) (limited context.Context, cancel func(), waited func() bool) {
	limited, cancel = context.WithTimeoutCause(ctx, time.Duration(min(max(seconds, 0), maxWait))*time.Second, errWaited)

	return limited, cancel, func() bool { return ctx.Err() == nil && errors.Is(context.Cause(limited), errWaited) }
}

// report tells the caller that the session is making progress.
func (c caller) report(ctx context.Context, update client.Update) {
	if update.Event != nil {
		c.notify(ctx, float64(update.Event.Seq), update.Event.Type)
	}
}

// awaitEnd waits until the investigation has ended, for at most this many seconds.
func (c caller) awaitEnd(ctx context.Context, detail tarsy.SessionDetail, seconds int) error {
	limited, cancel, waited := waiting(ctx, seconds)
	defer cancel()

	for update, err := range c.client.Follow(limited, detail.ID, detail.Version) {
		if err != nil && waited() {
			return nil
		}

		if err != nil {
			return err
		}

		c.report(ctx, update)
	}

	return nil
}

// refusedError is the reason why an accepted question is not answered.
type refusedError struct{ reason string }

func (e refusedError) Error() string {
	return "there is no answer: " + line(visible(e.reason), maxText)
}

// awaitAnswer waits until a question is answered, for at most this many seconds, and reports whether it is.
func (c caller) awaitAnswer(ctx context.Context, detail tarsy.SessionDetail, asked client.Asked, seconds int) (bool, error) {
	limited, cancel, waited := waiting(ctx, seconds)
	defer cancel()

	for update, err := range c.client.FollowOn(limited, detail.ID, detail.Version) {
		if err != nil && waited() {
			return false, nil
		}

		if err != nil {
			return false, err
		}

		c.report(ctx, update)

		answered, err := isAnswered(update, asked)
		if answered || err != nil {
			return answered, err
		}
	}

	return false, nil
}

// isAnswered reports whether an update ends the answer to a question.
func isAnswered(update client.Update, asked client.Asked) (bool, error) {
	if update.Reloaded != nil {
		return slices.ContainsFunc(update.Reloaded.Detail.Stages, func(s tarsy.StageDetail) bool {
			return s.ID == asked.StageID && s.Status.Terminal()
		}), nil
	}

	if update.Event == nil {
		return false, nil
	}

	switch update.Event.Type {
	case tarsy.TypeStageStatus:
		var stage tarsy.StageStatusPayload

		err := json.Unmarshal(update.Event.Payload, &stage)

		return err == nil && stage.StageID == asked.StageID && stage.Status != tarsy.StageStarted, nil
	case tarsy.TypeTimelineCreated:
		var event tarsy.TimelineCreatedPayload

		err := json.Unmarshal(update.Event.Payload, &event)
		if err == nil && event.EventType == tarsy.EventError && tarsy.MetadataAs[tarsy.ErrorMetadata](event.Metadata).MessageID == asked.MessageID {
			return false, refusedError{event.Content}
		}
	}

	return false, nil
}
