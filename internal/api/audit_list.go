package api

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
)

type auditInput struct {
	Actor      string  `doc:"Only actions of this actor." query:"actor"`
	Action     string  `doc:"Only this action, such as session.cancel." query:"action"`
	TargetType string  `doc:"Only actions on this type of target, such as session." query:"target_type"`
	TargetID   string  `doc:"Only actions on the target with this id." query:"target_id"`
	Since      moment  `doc:"Only at this time or later." query:"since"`
	Until      moment  `doc:"Only before this time." query:"until"`
	Order      string  `doc:"Sort order; the default is newest first." enum:"newest,oldest" query:"order"`
	Limit      integer `doc:"Maximum number of rows per page." query:"limit"`
	Cursor     cursor  `doc:"The next_cursor of the previous page." query:"cursor"`
}

type auditOutput struct{ Body auditPage }

type auditPage struct {
	Entries    []tarsy.AuditEntry `json:"entries"`
	NextCursor string             `doc:"Cursor of the next page; absent on the last page." json:"next_cursor,omitempty"`
}

// auditCursor is a position in the log. It is only valid for the order it was created with.
type auditCursor struct {
	ID     int64 `json:"id"`
	Oldest bool  `json:"oldest"`
}

func (s *system) listAudit(ctx context.Context, in *auditInput) (*auditOutput, error) {
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}

	wanted := filter.Limit
	filter.Limit++ // one more than the page shows, to detect another page

	entries, err := s.accounts.Audit(ctx, filter)
	if err != nil {
		return nil, fmt.Errorf("list the audit log: %w", err)
	}

	out := &auditOutput{Body: auditPage{Entries: append([]tarsy.AuditEntry{}, entries...)}}

	if len(entries) > wanted {
		out.Body.Entries = out.Body.Entries[:wanted]
		out.Body.NextCursor, err = encodeCursor(auditCursor{ID: entries[wanted-1].ID, Oldest: filter.OldestFirst})
	}

	return out, err
}

func (in *auditInput) filter() (filter tarsy.AuditFilter, err error) {
	if err = readParameters(in, &filter); err != nil {
		return filter, err
	}

	filter.OldestFirst = in.Order == "oldest"
	filter.After, err = readNumberCursor(in.Cursor, func(place auditCursor) int64 {
		if place.Oldest != filter.OldestFirst {
			return 0
		}

		return place.ID
	})

	return filter, err
}
