package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"tarsy.dev/tarsy"
)

// Accepted is the answer to an alert.
type Accepted struct {
	SessionID string              `json:"session_id"`
	Status    tarsy.SessionStatus `json:"status"`
	Message   string              `json:"message,omitempty"`
	// Answer is "cancelling" if it is the answer to a question that is being cancelled.
	Answer string `json:"answer,omitempty"`
	// SessionURL is the session in the dashboard, if the server knows where people open it.
	SessionURL string `json:"session_url,omitempty"`
	// Alerts is what became of an alert that has an identity; nil for others. Without a session, SessionID is empty.
	Alerts []tarsy.DeliveredAlert `json:"alerts,omitempty"`
}

// Submit submits an alert, and tries again as long as it may not have arrived. Data is text, or any JSON object or list.
func (c *Client) Submit(ctx context.Context, alert Alert) (Accepted, error) {
	return create[Accepted](ctx, c, "/api/v1/alerts", alert.IdempotencyKey, alert)
}

// Alert is the body that submits an alert.
type Alert struct {
	// IdempotencyKey is sent as a header; empty means a random one.
	IdempotencyKey string `json:"-"`

	AlertType    string              `json:"alert_type,omitempty"`
	Data         any                 `json:"data"`
	Runbook      string              `json:"runbook,omitempty"`
	RunbookURL   string              `json:"runbook_url,omitempty"`
	MCPSelection *tarsy.MCPSelection `json:"mcp_selection,omitempty"`
}

// AlertData is the data of an alert that is given as text: JSON objects and lists are kept as what they are.
func AlertData(text string) any {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[") {
		if raw := json.RawMessage(trimmed); json.Valid(raw) {
			return raw
		}
	}

	return text
}

// AlertType is a kind of alert that can be submitted.
type AlertType struct {
	Name        string `json:"name"`
	ChainID     string `json:"chain_id"`
	Description string `json:"description"`
}

// AlertTypes lists what can be submitted.
func (c *Client) AlertTypes(ctx context.Context) ([]AlertType, error) {
	var body struct {
		AlertTypes []AlertType `json:"alert_types"`
	}

	err := c.call(ctx, http.MethodGet, "/api/v1/alert-types", nil, nil, &body)

	return body.AlertTypes, err
}

// Page is a part of the list of sessions.
type Page struct {
	Sessions   []tarsy.SessionItem `json:"sessions"`
	NextCursor string              `json:"next_cursor,omitempty"`
}

// pageSize is the largest page that servers give.
const pageSize = 200

// Filter chooses sessions. A Limit of zero means all of them.
type Filter struct {
	Statuses    []string
	Outcomes    []string
	Approvals   tarsy.ApprovalStatus
	AlertType   string
	Severity    string
	Service     string
	Namespace   string
	Cluster     string
	Team        string
	Fingerprint string
	// Labels are name=value; all must match.
	Labels []string
	// Handling are states of handling, Assignee is exact or tarsy.AssigneeMe, and Tags must all be there.
	Handling []string
	Assignee string
	Tags     []string
	Search   string
	// Order is empty for the newest first.
	Order tarsy.SessionOrder
	Limit int
}

// Sessions goes through the sessions, page by page.
func (c *Client) Sessions(ctx context.Context, filter Filter) iter.Seq2[tarsy.SessionItem, error] {
	return pages(filter.Limit, func(left int, cursor string) ([]tarsy.SessionItem, string, error) {
		page, err := c.page(ctx, filter, left, cursor)

		return page.Sessions, page.NextCursor, err
	})
}

// pageQuery asks for a page of a list: as many as are left of the limit, if there is one, and only what the values that are set choose.
func pageQuery(limit, left int, values map[string]string) url.Values {
	size := pageSize
	if limit > 0 {
		size = min(left, pageSize)
	}

	query := url.Values{"limit": {strconv.Itoa(size)}}

	for name, value := range values {
		if value != "" {
			query.Set(name, value)
		}
	}

	return query
}

// pages goes through a list page by page. A limit of zero means all of it; read gets how much of the limit is left and the cursor of
// the previous page, and returns the next one.
func pages[T any](limit int, read func(left int, cursor string) (page []T, next string, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		left, cursor := limit, ""

		for {
			page, next, err := read(left, cursor)
			if err != nil {
				var none T

				yield(none, err)

				return
			}

			for _, item := range page {
				if !yield(item, nil) {
					return
				}
			}

			left -= len(page)
			cursor = next

			if cursor == "" || limit > 0 && left <= 0 {
				return
			}
		}
	}
}

func (c *Client) page(ctx context.Context, filter Filter, left int, cursor string) (Page, error) {
	query := pageQuery(filter.Limit, left, map[string]string{
		"status": strings.Join(filter.Statuses, ","), "outcome": strings.Join(filter.Outcomes, ","),
		"alert_type": filter.AlertType, "search": filter.Search, "cursor": cursor,
		"severity": filter.Severity, "service": filter.Service, "namespace": filter.Namespace, "cluster": filter.Cluster,
		"team": filter.Team, "fingerprint": filter.Fingerprint, "order": string(filter.Order), "approvals": string(filter.Approvals),
		"handling": strings.Join(filter.Handling, ","), "assignee": filter.Assignee,
	})
	if len(filter.Labels) > 0 {
		query["label"] = filter.Labels
	}

	if len(filter.Tags) > 0 {
		query["tag"] = filter.Tags
	}

	var page Page

	err := c.call(ctx, http.MethodGet, "/api/v1/sessions", query, nil, &page)

	return page, err
}

// Session shows one session with its stages.
func (c *Client) Session(ctx context.Context, id string) (tarsy.SessionDetail, error) {
	var detail tarsy.SessionDetail

	err := c.call(ctx, http.MethodGet, "/api/v1/sessions/"+url.PathEscape(id), nil, nil, &detail)

	return detail, err
}

// Timeline is what a session shows to people, up to an event of its journal.
type Timeline struct {
	SessionID string                `json:"session_id"`
	Version   int64                 `json:"version"`
	Events    []tarsy.TimelineEvent `json:"events"`
}

// timelinePage is how the server sends a timeline. A server of the previous release sends all of it as one page.
type timelinePage struct {
	Timeline

	NextCursor string `json:"next_cursor"`
}

// Timeline shows what happened in a session, page by page. Its version is that of the first page: the journal tells what
// happened while the others were read.
func (c *Client) Timeline(ctx context.Context, id string) (Timeline, error) {
	var (
		timeline Timeline
		query    url.Values
	)

	for first := true; ; first = false {
		var page timelinePage

		err := c.call(ctx, http.MethodGet, "/api/v1/sessions/"+url.PathEscape(id)+"/timeline", query, nil, &page)
		if err != nil {
			return timeline, err
		}

		if first {
			timeline = page.Timeline
		} else {
			timeline.Events = append(timeline.Events, page.Events...)
		}

		if page.NextCursor == "" {
			return timeline, nil
		}

		query = url.Values{"cursor": {page.NextCursor}}
	}
}

// Cancel asks that a session be cancelled.
func (c *Client) Cancel(ctx context.Context, id string) (Accepted, error) {
	var accepted Accepted

	err := c.call(ctx, http.MethodPost, "/api/v1/sessions/"+url.PathEscape(id)+"/cancel", nil, nil, &accepted)

	return accepted, err
}

// RerunChanges is what differs in a re-run; the zero value changes nothing.
type RerunChanges struct {
	ChainID string `json:"chain_id,omitempty"`
	// LLMProvider is nil for the one of the session, and empty for those of the chain.
	LLMProvider  *string             `json:"llm_provider,omitempty"`
	MCPSelection *tarsy.MCPSelection `json:"mcp_selection,omitempty"`
}

// Rerun investigates a session's alert again, in a new session.
func (c *Client) Rerun(ctx context.Context, id string, changes RerunChanges) (Accepted, error) {
	var body any
	if changes != (RerunChanges{}) {
		body = changes
	}

	return create[Accepted](ctx, c, "/api/v1/sessions/"+url.PathEscape(id)+"/rerun", "", body)
}

// candidates is how many sessions Resolve looks at.
const candidates = 1000

// shortest is how few characters of an id are taken for one.
const shortest = 4

// Resolve returns the id of a session, given whole or by its beginning or end, with or without its dashes. Only recent
// sessions are searched for a part.
func (c *Client) Resolve(ctx context.Context, part string) (string, error) {
	digits := idDigits(part)

	if id := withDashes(digits); tarsy.ValidID(id) {
		return id, nil
	}

	if len(digits) < shortest {
		return "", tarsy.Errorf(tarsy.CodeSessionNotFound, "%q is too short: use at least %d characters of the session's id", part, shortest)
	}

	var found []string

	for session, err := range c.Sessions(ctx, Filter{Limit: candidates}) {
		if err != nil {
			return "", err
		}

		if id := idDigits(session.ID); strings.HasSuffix(id, digits) || strings.HasPrefix(id, digits) {
			found = append(found, session.ID)
		}
	}

	switch len(found) {
	case 0:
		return "", tarsy.Errorf(tarsy.CodeSessionNotFound, "no session matches %q among the last %d", part, candidates)
	case 1:
		return found[0], nil
	default:
		return "", tarsy.Errorf(tarsy.CodeInvalidParameter, "%q matches %d sessions: use more of the id", part, len(found))
	}
}

// idDigits is an id as it is compared: lower case, without dashes.
func idDigits(id string) string { return strings.ToLower(strings.ReplaceAll(id, "-", "")) }

// withDashes writes an id of 32 digits as the server does.
func withDashes(digits string) string {
	const whole = 32
	if len(digits) != whole {
		return digits
	}

	return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
}

// Delete takes a session that is over out of all lists.
func (c *Client) Delete(ctx context.Context, id string) error {
	return c.call(ctx, http.MethodDelete, "/api/v1/sessions/"+url.PathEscape(id), nil, nil, nil)
}
