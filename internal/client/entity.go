package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"tarsy.dev/tarsy"
)

// EntityFilter chooses accepted entities. A Limit of zero means all of them.
type EntityFilter struct {
	Types     []string
	Statuses  []string
	Owner     string
	SessionID string
	Search    string
	Limit     int
}

// Entities goes through the entities, newest first, page by page.
func (c *Client) Entities(ctx context.Context, filter EntityFilter) iter.Seq2[tarsy.EntityDetail, error] {
	return pages(filter.Limit, func(left int, cursor string) ([]tarsy.EntityDetail, string, error) {
		var page struct {
			Entities   []tarsy.EntityDetail `json:"entities"`
			NextCursor string               `json:"next_cursor"`
		}

		err := c.call(ctx, http.MethodGet, "/api/v1/entities", filter.query(left, cursor), nil, &page)

		return page.Entities, page.NextCursor, err
	})
}

func (f EntityFilter) query(left int, cursor string) url.Values {
	return pageQuery(f.Limit, left, map[string]string{
		"type": strings.Join(f.Types, ","), "status": strings.Join(f.Statuses, ","), "owner": f.Owner, "session_id": f.SessionID,
		"q": f.Search, "cursor": cursor,
	})
}
