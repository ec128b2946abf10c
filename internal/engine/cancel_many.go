package engine

import (
	"context"
	"fmt"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/postgres"
)

// cancelBatch is how many sessions are locked at a time to store requests for them.
const cancelBatch = 100

// CancelMany is Cancel for several sessions. Each gets an ordinary request; sessions that need none are skipped with a reason. The requests
// become durable batch by batch: after an error some may be stored, and the call can be repeated. With dryRun nothing is changed.
func (i *Intake) CancelMany(ctx context.Context, sessionIDs []string, author string, dryRun bool) (tarsy.BulkCancel, error) {
	result := tarsy.BulkCancel{DryRun: dryRun, Skipped: []tarsy.SkippedCancel{}, SessionIDs: []string{}}
	ids := slices.Compact(slices.Sorted(slices.Values(sessionIDs)))

	for batch := range slices.Chunk(ids, cancelBatch) {
		found, err := i.cancelBatch(ctx, batch, author, dryRun)
		if err != nil {
			return result, fmt.Errorf("cancel sessions: %w", err)
		}

		targets := make(map[string]postgres.CancelTarget, len(found))
		for _, target := range found {
			targets[target.ID] = target
		}

		for _, id := range batch {
			target, exists := targets[id]
			if exists {
				result.Matched++
			}

			if reason := skipReason(target, exists); reason != "" {
				result.Skipped = append(result.Skipped, tarsy.SkippedCancel{SessionID: id, Reason: reason})
			} else {
				result.Requested++
				result.SessionIDs = append(result.SessionIDs, id)
			}
		}
	}

	return result, nil
}

func (i *Intake) cancelBatch(ctx context.Context, ids []string, author string, dryRun bool) ([]postgres.CancelTarget, error) {
	if dryRun {
		return i.cfg.DB.CancelTargets(ctx, ids)
	}

	return i.cfg.DB.AddCancels(ctx, ids, plaintext.Clean(author), calendar.Time(i.cfg.Clock.Now()))
}

// skipReason returns why a session gets no request; empty if it gets one.
func skipReason(target postgres.CancelTarget, exists bool) tarsy.CancelSkip {
	switch {
	case !exists:
		return tarsy.CancelNotFound
	case target.Requested:
		return tarsy.CancelRequested
	case target.Idle:
		return tarsy.CancelNotRunning
	default:
		return ""
	}
}
