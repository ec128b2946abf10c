package client

import (
	"context"
	"encoding/json"
	"io"
	"net/url"
	"slices"
	"time"

	"tarsy.dev/tarsy"
)

// Filter selects sessions.
type Filter struct {
	Statuses    []string             `query:"status"`
	Outcomes    []string             `query:"outcome"`
	Approvals   tarsy.ApprovalStatus `query:"approvals"`
	AlertType   string               `query:"alert_type"`
	Severity    string               `query:"severity"`
	Service     string               `query:"service"`
	Namespace   string               `query:"namespace"`
	Cluster     string               `query:"cluster"`
	Team        string               `query:"team"`
	Fingerprint string               `query:"fingerprint"`
	// Labels are name=value; all must match.
	Labels []string `query:"label,repeat"`
	// Handling lists handling states, Assignee is an exact name or tarsy.AssigneeMe, and all Tags must match.
	Handling []string `query:"handling"`
	Assignee string   `query:"assignee"`
	Tags     []string `query:"tag,repeat"`
	Search   string   `query:"search"`
	// Order is empty for the newest first.
	Order tarsy.SessionOrder `query:"order"`
}

// Session loads a session with its stages.
func (c *Client) Session(ctx context.Context, id string) (tarsy.SessionDetail, error) {
	return Call(ctx, c, GetSession, nil, id)
}

// Timeline is the timeline of a session, up to a version of its journal.
type Timeline struct {
	SessionID string                `json:"session_id"`
	Version   int64                 `json:"version"`
	Events    []tarsy.TimelineEvent `json:"events"`
}

// TimelinePart is the start of a page of a timeline.
type TimelinePart struct {
	Cursor string `query:"cursor"`
}

// timelinePage is a page of a timeline. A server of the previous release sends everything as one page.
type timelinePage struct {
	Timeline

	NextCursor string `json:"next_cursor"`
}

// Timeline loads the timeline of a session, page by page. Its version is that of the first page: the journal has the
// changes made while the others were read.
func (c *Client) Timeline(ctx context.Context, id string) (Timeline, error) {
	page, err := Call(ctx, c, GetTimeline, TimelinePart{}, id)
	timeline := page.Timeline

	for err == nil && page.NextCursor != "" {
		page, err = Call(ctx, c, GetTimeline, TimelinePart{page.NextCursor}, id)
		timeline.Events = append(timeline.Events, page.Events...)
	}

	return timeline, err
}

// Cancellation is the body that cancels several sessions: those in IDs, or those that match Filter.
type Cancellation struct {
	IDs    []string       `json:"ids,omitempty"`
	Filter map[string]any `json:"filter,omitzero"`
	DryRun bool           `json:"dry_run"`
}

// Body returns the filter as part of a request body.
func (f Filter) Body() map[string]any {
	query, _ := split(f)
	body := map[string]any{}

	for name, values := range query {
		if body[name] = values[0]; name == "label" {
			body[name] = values
		}
	}

	return body
}

// RerunChanges are the differences of a re-run; nil changes nothing.
type RerunChanges struct {
	ChainID string `json:"chain_id,omitempty"`
	// LLMProvider is nil for the session's provider, and empty for the chain's.
	LLMProvider  *string             `json:"llm_provider,omitempty"`
	MCPSelection *tarsy.MCPSelection `json:"mcp_selection,omitempty"`
}

// HandlingChange is the body that changes the handling of sessions. Nil fields are left unchanged.
type HandlingChange struct {
	IDs        []string             `json:"ids"`
	State      *tarsy.HandlingState `json:"state,omitempty"`
	Assignee   *string              `json:"assignee,omitempty"`
	Resolution *string              `json:"resolution,omitempty"`
	Tags       *TagsChange          `json:"tags,omitempty"`
}

// TagsChange adds and removes tags.
type TagsChange struct {
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// HandlingResults contains the result of a change for each session.
type HandlingResults struct {
	Results []tarsy.HandlingResult `json:"results"`
}

// Handle applies one change to any number of sessions independently. The results report which of them failed.
func (c *Client) Handle(ctx context.Context, change HandlingChange) ([]tarsy.HandlingResult, error) {
	var results []tarsy.HandlingResult

	for ids := range slices.Chunk(change.IDs, tarsy.MaxHandled) {
		change.IDs = ids

		part, err := Call(ctx, c, HandleSessions, change)
		if err != nil {
			return results, err
		}

		results = append(results, part.Results...)
	}

	return results, nil
}

// NewShare is the body that creates a share link. It expires after the server's default time if ExpiresIn is empty.
type NewShare struct {
	ExpiresIn string `json:"expires_in,omitempty"`
}

// CreatedShare is a new share with its secret, which is never shown again.
type CreatedShare struct {
	tarsy.Share

	Secret string `json:"secret"`
	// URL is the link, if the server knows the dashboard's public address.
	URL string `json:"url,omitempty"`
}

// NewFeedback is the body that gives feedback on a finished session. It replaces the caller's earlier feedback.
type NewFeedback struct {
	Rating    string `json:"rating"`
	Why       string `json:"why,omitempty"`
	RealCause string `json:"real_cause,omitempty"`
}

// QualityPeriod is the period whose conclusions are counted; times are RFC 3339.
type QualityPeriod struct {
	From string          `query:"from"`
	To   string          `query:"to"`
	By   tarsy.QualityBy `query:"by"`
}

// ApprovalFilter selects waiting approvals, ordered by expiry: all, or those of one session.
type ApprovalFilter struct {
	SessionID string `query:"session_id"`
}

// Approval is the body that approves a tool call, with different arguments if Arguments is not nil.
type Approval struct {
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Reason    string          `json:"reason,omitempty"`
}

// Rejection is the body that rejects a tool call. The agent sees the reason.
type Rejection struct {
	Reason string `json:"reason"`
}

// Decision is the response to an approval or a rejection.
type Decision struct {
	ID        string               `json:"id"`
	SessionID string               `json:"session_id"`
	Status    tarsy.ApprovalStatus `json:"status"`
}

// exportLimit bounds an export, which can be large.
const exportLimit = 5 * time.Minute

// Export writes a whole session to out, in one of the server's formats: json or markdown. After an error, the output is incomplete.
func (c *Client) Export(ctx context.Context, id, format string, out io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, exportLimit)
	defer cancel()

	request, err := c.request(ctx, string(ExportSession), []string{id}, url.Values{"format": {format}}, nil)
	if err != nil {
		return err
	}

	response, err := c.answer(request)
	if err != nil {
		return err
	}

	defer func() { _ = response.Body.Close() }()

	_, err = io.Copy(out, reader{response.Body, c.Server()})

	return err
}

// reader distinguishes read errors, which come from the server, from write errors.
type reader struct {
	io.Reader

	server string
}

func (r reader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = &UnreachableError{Server: r.server, Err: err}
	}

	return n, err
}
