package client

import (
	"context"
	"iter"
	"net/http"

	"tarsy.dev/tarsy"
)

// AuditFilter chooses rows of the audit log. Empty fields match everything; times are RFC 3339. A Limit of zero means all of them.
type AuditFilter struct {
	Actor, Action, TargetType, TargetID string
	Since, Until                        string
	OldestFirst                         bool
	Limit                               int
}

// Audit goes through the audit log, page by page.
func (c *Client) Audit(ctx context.Context, filter AuditFilter) iter.Seq2[tarsy.AuditEntry, error] {
	order := ""
	if filter.OldestFirst {
		order = "oldest"
	}

	return pages(filter.Limit, func(left int, cursor string) ([]tarsy.AuditEntry, string, error) {
		var page struct {
			Entries    []tarsy.AuditEntry `json:"entries"`
			NextCursor string             `json:"next_cursor"`
		}

		query := pageQuery(filter.Limit, left, map[string]string{
			"actor": filter.Actor, "action": filter.Action, "target_type": filter.TargetType, "target_id": filter.TargetID,
			"since": filter.Since, "until": filter.Until, "order": order, "cursor": cursor,
		})
		err := c.call(ctx, http.MethodGet, "/api/v1/audit", query, nil, &page)

		return page.Entries, page.NextCursor, err
	})
}
