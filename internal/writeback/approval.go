package writeback

import (
	"context"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/postgres/outbox"
)

// maxApprovals is how many waiting calls are read at a time.
const maxApprovals = 100

// waitingCalls announces tool calls that wait for an approval. It is used by a single goroutine.
type waitingCalls struct {
	cfg DispatcherConfig
	// targets are the targets that are notified of approvals.
	targets  []Target
	channels []tarsy.AnnouncementChannel
	// seen are the calls of the last pass. Calls that a target does not want have no row in its channel, so each pass finds
	// them again.
	seen map[string]bool
}

func newWaitingCalls(cfg DispatcherConfig) waitingCalls {
	w := waitingCalls{cfg: cfg, seen: map[string]bool{}}

	for _, t := range cfg.Targets {
		if slices.Contains(t.Events, message.ApprovalNeeded) {
			w.targets, w.channels = append(w.targets, t), append(w.channels, t.channel())
		}
	}

	return w
}

// announce stores a row for each waiting call and each target that wants it. A unique index prevents duplicates, however many
// servers do this.
func (w *waitingCalls) announce(ctx context.Context) error {
	if len(w.targets) == 0 {
		return nil
	}

	seen := map[string]bool{}

	for after := ""; ; {
		found, err := w.cfg.Outbox.OpenApprovalsToAnnounce(ctx, w.channels, after, maxApprovals)
		if err != nil {
			return err
		}

		for _, call := range found {
			if !w.seen[call.ID] {
				if err := w.store(ctx, call); err != nil {
					return err
				}
			}

			seen[call.ID] = true
			after = call.ID
		}

		if len(found) < maxApprovals {
			w.seen = seen

			return nil
		}
	}
}

func (w *waitingCalls) store(ctx context.Context, call outbox.OpenApproval) error {
	session, err := w.cfg.Outbox.Session(ctx, call.SessionID)
	if tarsy.CodeOf(err) == tarsy.CodeSessionNotFound {
		return nil // deleted since
	} else if err != nil {
		return err
	}

	for _, t := range w.targets {
		if !t.wants(*session, message.ApprovalNeeded) {
			continue
		}

		a := t.announcement(*session, tarsy.SubjectApproval, w.cfg.Clock.Now())
		a.ApprovalID = &call.ID

		if _, err := w.cfg.Outbox.AddAnnouncement(ctx, a); err != nil {
			return err
		}
	}

	return nil
}
