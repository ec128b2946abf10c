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

// Filter chooses sessions.
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
	// Handling are states of handling, Assignee is exact or tarsy.AssigneeMe, and Tags must all be there.
	Handling []string `query:"handling"`
	Assignee string   `query:"assignee"`
	Tags     []string `query:"tag,repeat"`
	Search   string   `query:"search"`
	// Order is empty for the newest first.
	Order tarsy.SessionOrder `query:"order"`
}

// Session shows one session with its stages.
func (c *Client) Session(ctx context.Context, id string) (tarsy.SessionDetail, error) {
	return Call(ctx, c, GetSession, nil, id)
}

// Timeline is what a session shows to people, up to an event of its journal.
type Timeline struct {
	SessionID string                `json:"session_id"`
	Version   int64                 `json:"version"`
	Events    []tarsy.TimelineEvent `json:"events"`
}

// TimelinePart is where a page of a timeline begins.
type TimelinePart struct {
	Cursor string `query:"cursor"`
}

// timelinePage is how the server sends a timeline. A server of the previous release sends all of it as one page.
type timelinePage struct {
	Timeline

	NextCursor string `json:"next_cursor"`
}

// Timeline shows what happened in a session, page by page. Its version is that of the first page: the journal tells what
// happened while the others were read.
func (c *Client) Timeline(ctx context.Context, id string) (Timeline, error) {
	page, err := Call(ctx, c, GetTimeline, TimelinePart{}, id)
	timeline := page.Timeline

	for err == nil && page.NextCursor != "" {
		page, err = Call(ctx, c, GetTimeline, TimelinePart{page.NextCursor}, id)
		timeline.Events = append(timeline.Events, page.Events...)
	}

	return timeline, err
}

// Cancellation is the body that requests the cancellation of several sessions: those with the ids, or those that match the filter.
type Cancellation struct {
	IDs    []string       `json:"ids,omitempty"`
	Filter map[string]any `json:"filter,omitzero"`
	DryRun bool           `json:"dry_run"`
}

// Body is the filter as a part of a body.
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

// RerunChanges is what differs in a re-run; nil changes nothing.
type RerunChanges struct {
	ChainID string `json:"chain_id,omitempty"`
	// LLMProvider is nil for the one of the session, and empty for those of the chain.
	LLMProvider  *string             `json:"llm_provider,omitempty"`
	MCPSelection *tarsy.MCPSelection `json:"mcp_selection,omitempty"`
}

// HandlingChange is the body that changes the handling of sessions. What is nil stays as it is.
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

// HandlingResults are the results of a change for each session.
type HandlingResults struct {
	Results []tarsy.HandlingResult `json:"results"`
}

// Handle makes one change to any number of sessions, each by itself: the results tell which of them failed.
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

// NewShare shares a session by a link, for the server's default time if ExpiresIn is empty.
type NewShare struct {
	ExpiresIn string `json:"expires_in,omitempty"`
}

// CreatedShare is a share with its secret, which is shown once.
type CreatedShare struct {
	tarsy.Share

	Secret string `json:"secret"`
	// URL is the link, if the server knows where people open the dashboard.
	URL string `json:"url,omitempty"`
}

// NewFeedback is the body that gives feedback on a session that has ended; it replaces what the caller gave before.
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

// ApprovalFilter chooses the tool calls that wait for an approval, the first to expire first: all, or those of a session.
type ApprovalFilter struct {
	SessionID string `query:"session_id"`
}

// Approval lets a tool call be made, with other arguments than those of the model if Arguments is not nil.
type Approval struct {
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Reason    string          `json:"reason,omitempty"`
}

// Rejection decides against a tool call. The agent is told the reason.
type Rejection struct {
	Reason string `json:"reason"`
}

// Decision is the answer to a decision about a tool call.
type Decision struct {
	ID        string               `json:"id"`
	SessionID string               `json:"session_id"`
	Status    tarsy.ApprovalStatus `json:"status"`
}

// exportLimit bounds an export, which may be large.
const exportLimit = 5 * time.Minute

// Export writes all of a session to out, in a format of the server: json or markdown. What it wrote before an error is
// not the whole.
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

// reader tells the server's errors from those of whoever is written to.
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
