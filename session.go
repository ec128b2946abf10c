package tarsy

import "time"

// SessionStatus is the state of the investigation as users see it. It does not indicate whether there is work to do: a completed session
// can be claimed again to answer a question.
type SessionStatus string

// The statuses of a session; docs/states.md has the state machine.
const (
	SessionPending    SessionStatus = "pending"
	SessionInProgress SessionStatus = "in_progress"
	SessionCancelling SessionStatus = "cancelling"
	SessionCompleted  SessionStatus = "completed"
	SessionFailed     SessionStatus = "failed"
	SessionCancelled  SessionStatus = "cancelled"
	SessionTimedOut   SessionStatus = "timed_out"
)

// SessionStatuses lists every status in the order in which they are displayed.
func SessionStatuses() []SessionStatus {
	return []SessionStatus{
		SessionPending, SessionInProgress, SessionCancelling,
		SessionCompleted, SessionFailed, SessionCancelled, SessionTimedOut,
	}
}

// Terminal reports whether the investigation has ended.
func (s SessionStatus) Terminal() bool {
	switch s {
	case SessionCompleted, SessionFailed, SessionCancelled, SessionTimedOut:
		return true
	case SessionPending, SessionInProgress, SessionCancelling:
		return false
	}

	return false
}

// Session is one investigation of one alert. It is also the queue entry; its lease, fence and numbering belong to the database package and
// are not visible to users.
type Session struct {
	// UUIDv7, chosen at intake.
	ID string `json:"id"`
	// Type that the alert named, or the default type.
	AlertType string `json:"alert_type"`
	// What the alert is about.
	AlertFacts
	// The alert with secrets masked, at most MaxAlertBytes.
	AlertData string `json:"alert_data"`
	// Key of the chain in the configuration, chosen at intake by alert type, route or request.
	ChainID string `json:"chain_id"`
	// Name of the first agent of the first stage.
	AgentType string `json:"agent_type"`
	// Set to pending at intake and changed only by the server that holds the lease.
	Status SessionStatus `json:"status"`
	// User reported by a trusted proxy, else the name of the API key, else DefaultAuthor.
	Author string `json:"author"`
	// Runbook text with secrets masked. Empty if it must still be fetched from RunbookURL, or if there is none.
	Runbook string `json:"runbook"`
	// Empty unless the alert named one.
	RunbookURL string `json:"runbook_url"`
	// Nil unless the alert overrode the tools of the chain.
	MCPSelection *MCPSelection `json:"mcp_selection"`
	// Provider requested for the session, overriding those of its chain; empty if none was requested. The executions record which provider
	// was actually used.
	LLMProvider string `json:"llm_provider"`
	// Slack message that the alert came from, as its sender identifies it; empty if there is none.
	SlackMessageFingerprint string `json:"slack_message_fingerprint"`
	// Session whose alert this one re-investigates; nil for a new alert. That session may have been deleted.
	RerunOf *string `json:"rerun_of"`
	// Server that claimed the session last; empty until the first claim.
	PodID string `json:"pod_id"`
	// Number of stages the chain runs if none fails, including syntheses but not chat. Zero in sessions created by old releases.
	StageCount int `json:"stage_count"`
	// The stage that started last, chat excluded. Zero and nil before the first one.
	CurrentStageIndex int     `json:"current_stage_index"`
	CurrentStageID    *string `json:"current_stage_id"`
	// Markdown. Empty until the last stage has completed, so usually empty in failed sessions.
	FinalAnalysis string `json:"final_analysis"`
	// A few plain sentences. Empty if the session did not complete or ExecutiveSummaryError is set.
	ExecutiveSummary string `json:"executive_summary"`
	// Why a completed session has no summary.
	ExecutiveSummaryError string `json:"executive_summary_error"`
	// Outcome and cause from the verdict; empty if there is none. Citation marks are removed from the cause.
	Outcome Outcome `json:"outcome"`
	Cause   string  `json:"cause"`
	// Why a completed session has no verdict although its chain requires one.
	VerdictError string `json:"verdict_error"`
	// Both empty unless the session failed, timed out or was cancelled. The code is stable, the message is for users.
	ErrorCode    string `json:"error_code"`
	ErrorMessage string `json:"error_message"`
	// Why a completed session ended before its agents were done: "deadline", "budget", "resolved", "repeated_calls" or empty.
	ConcludedEarly string `json:"concluded_early"`
	// When intake accepted the alert.
	CreatedAt time.Time `json:"created_at"`
	// When a server started the investigation; nil while queued.
	StartedAt *time.Time `json:"started_at"`
	// Nil until Status is terminal. Later questions do not change it.
	CompletedAt *time.Time `json:"completed_at"`
	// When a stage last started, the session ended, or its chat was last used. The retention period starts here.
	LastInteractionAt *time.Time `json:"last_interaction_at"`
	// Set by retention or on request; the row is purged later. Always nil in sessions returned to readers.
	DeletedAt *time.Time `json:"deleted_at"`
}

// SessionItem is a session as shown in lists.
type SessionItem struct {
	// Same as in Session.
	ID        string `json:"id"`
	AlertType string `json:"alert_type"`
	ChainID   string `json:"chain_id"`
	AlertFacts
	// What has happened to the alert since; nil if it has no identity, such as text that a person submitted.
	Alert *AlertState `json:"alert"`
	// Current when the page was read; the sessions feed reports later changes.
	Status SessionStatus `json:"status"`
	// Same as in Session; RerunOf is nil for a new alert.
	Author  string  `json:"author"`
	RerunOf *string `json:"rerun_of"`
	// Server that claimed the session last; empty until the first claim.
	PodID string `json:"pod_id"`
	// Progress. CurrentStageIndex is zero before the first stage.
	StageCount        int `json:"stage_count"`
	CurrentStageIndex int `json:"current_stage_index"`
	// Empty until the session has completed.
	ExecutiveSummary string `json:"executive_summary"`
	// Same as in Session.
	Outcome Outcome `json:"outcome"`
	Cause   string  `json:"cause"`
	// The worst rating that people gave; empty without feedback.
	Rating Rating `json:"rating"`
	// What people did with the session; nil if no one has done anything, which means open.
	Handling *Handling `json:"handling"`
	// Empty unless the session ended without success or, for ConcludedEarly, before its agents were done.
	ErrorCode      string `json:"error_code"`
	ErrorMessage   string `json:"error_message"`
	ConcludedEarly string `json:"concluded_early"`
	// StartedAt is nil while queued, CompletedAt until the session has ended.
	CreatedAt   time.Time  `json:"created_at"`
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	// Sum over all LLM calls, chat included.
	Usage Usage `json:"usage"`
	// Number of MCP calls, chat included.
	ToolCalls int `json:"tool_calls"`
	// Number of tool calls, chat included, that can be approved or rejected now.
	WaitingApprovals int `json:"waiting_approvals"`
	// Number of the session's last journal event.
	Version int64 `json:"version"`
	// Where the search matched; nil if the list was not searched.
	Match *SearchMatch `json:"match,omitempty" db:"-"`
}

// SearchMatch shows where a session matches a search.
type SearchMatch struct {
	// JSON name of the session field that the snippet is from.
	Field string `json:"field"`
	// Text around the first match, split at matches, in order.
	Snippet []SnippetPart `json:"snippet"`
	// Zero if the title, alert type, cause, summary or error matches, one if only the alert data or analysis does.
	Tier int `json:"-"`
}

// SnippetPart is a piece of a snippet.
type SnippetPart struct {
	// Plain text on one line, not HTML.
	Text string `json:"text"`
	// Whether the piece matches a search term; shown highlighted.
	Match bool `json:"match"`
}

// SessionDetail is a session with its stages and executions.
type SessionDetail struct {
	Session
	// All stages, and calls that belong to none, such as the executive summary.
	Spend

	// Number of the last journal event included. A reader continues reading the journal from there.
	Version int64 `json:"version"`
	// Number of tool calls, chat included, that can be approved or rejected now.
	WaitingApprovals int `json:"waiting_approvals"`
	// What has happened to the alert since; nil if it has no identity, such as text that a person submitted.
	Alert *AlertState `json:"alert"`
	// The conclusion; nil until the session has completed, and if VerdictError is set or its chain requires none.
	Verdict *Verdict `json:"verdict"`
	// Feedback on the conclusion, most recently changed first; empty, not nil.
	Feedback []Feedback `json:"feedback"`
	// What people did with the session; nil if no one has done anything, which means open.
	Handling *Handling `json:"handling"`
	// Sessions that re-investigate the alert, oldest first; empty, not nil. Deleted ones are left out.
	Reruns []string `json:"reruns"`
	// Tool calls of the investigation by tool, most called first; empty, not nil. Calls of the chat are not included.
	Tools []ToolUse `json:"tools"`
	// Ordered by StageIndex; empty, not nil, before the first stage.
	Stages []StageDetail `json:"stages"`
	// Nil until the first question.
	Chat *Chat `json:"chat"`
}

// ToolUse is how often a session called a tool.
type ToolUse struct {
	// Server and tool as in MCPInteraction.
	ServerName string `json:"server_name"`
	ToolName   string `json:"tool_name"`
	// Number of calls, whatever their outcome.
	Calls int `json:"calls"`
	// Number of calls with MCPInteraction.IsError set.
	Errors int `json:"errors"`
}

// StageDetail is a stage with its executions.
type StageDetail struct {
	Stage
	// Sum over the executions.
	Spend

	// Ordered by AgentIndex.
	Executions []ExecutionDetail `json:"executions"`
}

// ExecutionDetail is an execution with its usage.
type ExecutionDetail struct {
	Execution
	Spend
}

// Rerun returns the alert of a session for another investigation. It is the stored alert: masked values stay masked.
func (s Session) Rerun(author string) Alert {
	return Alert{
		AlertType: s.AlertType, Data: s.AlertData, Runbook: s.Runbook, RunbookURL: s.RunbookURL, MCPSelection: s.MCPSelection,
		SlackMessageFingerprint: s.SlackMessageFingerprint, Author: author, RerunOf: &s.ID,
		Facts: s.AlertFacts, ChainID: s.ChainID, LLMProvider: s.LLMProvider,
	}
}

// SessionProgress is the part of a session that clients poll.
type SessionProgress struct {
	// Same as in Session.
	ID         string        `json:"id"`
	Status     SessionStatus `json:"status"`
	StageCount int           `json:"stage_count"`
	// From one; zero before the first stage.
	CurrentStageIndex int `json:"current_stage_index"`
	// Both empty unless the session ended without success.
	ErrorCode    string `json:"error_code"`
	ErrorMessage string `json:"error_message"`
	// Number of the last journal event; unchanged means nothing happened.
	Version int64 `json:"version"`
}

// SessionSummary is the result of a session without the details.
type SessionSummary struct {
	// Same as in Session.
	ID     string        `json:"id"`
	Status SessionStatus `json:"status"`
	// Usually both empty unless the session has completed; see Session.
	ExecutiveSummary string `json:"executive_summary"`
	FinalAnalysis    string `json:"final_analysis"`
	// Same as in Session.
	Outcome Outcome `json:"outcome"`
	Cause   string  `json:"cause"`
	// Planned stages, not completed ones.
	StageCount int `json:"stage_count"`
	// Milliseconds from the start to the end, or to now. Zero while queued.
	DurationMs int64 `json:"duration_ms"`
	Spend
}

// ActiveSessions are the sessions that have not ended.
type ActiveSessions struct {
	// In progress or cancelling, newest first.
	Active []SessionItem `json:"active"`
	// Pending, in the order in which they will be claimed.
	Queued []SessionItem `json:"queued"`
	// Total numbers; the lists may be shorter.
	ActiveTotal int `json:"active_total"`
	QueuedTotal int `json:"queued_total"`
}

// FilterOptions are the values that a list of sessions can be filtered by.
type FilterOptions struct {
	// Values that occur in sessions that are not deleted, sorted; empty, not nil.
	AlertTypes []string `json:"alert_types"`
	ChainIDs   []string `json:"chain_ids"`
	Authors    []string `json:"authors"`
	// Values of facts of alerts, sorted; empty, not nil.
	Services   []string `json:"services"`
	Namespaces []string `json:"namespaces"`
	Clusters   []string `json:"clusters"`
	// Teams that own alerts, sorted; empty, not nil.
	Teams []string `json:"teams"`
	// Every severity, whether or not a session has it.
	Severities []Severity `json:"severities"`
	// Every status, whether or not a session has it.
	Statuses []SessionStatus `json:"statuses"`
	// Every outcome, whether or not a session has it.
	Outcomes []Outcome `json:"outcomes"`
	// Every state of handling, whether or not a session has it.
	HandlingStates []HandlingState `json:"handling_states"`
	// Names of assignees, and tags, sorted; empty, not nil.
	Assignees []string `json:"assignees"`
	Tags      []string `json:"tags"`
}

// SessionOrder is the order of a list of sessions.
type SessionOrder string

// The orders of sessions. Attention lists sessions with open approvals, then running, failed and queued sessions, then the rest, each
// newest first. Relevance is the order of every search: sessions whose title, alert type, cause, summary or error matches, then the others,
// each newest first.
const (
	OrderNewest    SessionOrder = "newest"
	OrderAttention SessionOrder = "attention"
	OrderRelevance SessionOrder = "relevance"
)

// RankApproval is the position in OrderAttention of sessions with open approvals, whatever their status: they need a person.
const RankApproval = 0

// Rank is the position of a session in OrderAttention.
func (s SessionItem) Rank() int {
	if s.WaitingApprovals > 0 {
		return RankApproval
	}

	return s.Status.Rank()
}

// Rank is the position of a status in OrderAttention, after RankApproval.
func (s SessionStatus) Rank() int {
	const (
		running = iota + 1
		failed
		waiting
		done
	)

	switch s {
	case SessionInProgress, SessionCancelling:
		return running
	case SessionFailed, SessionTimedOut:
		return failed
	case SessionPending:
		return waiting
	case SessionCompleted, SessionCancelled:
	}

	return done
}

// SessionFilter selects sessions for a list. The zero value selects all, newest first.
type SessionFilter struct {
	// Empty means OrderNewest. Ignored if Search is set.
	Order SessionOrder
	// Any of these; empty matches all.
	Statuses []SessionStatus
	// Any of these; empty matches all, including sessions without an outcome.
	Outcomes []Outcome
	// ApprovalWaiting matches sessions with open approvals; empty matches all.
	Approvals ApprovalStatus
	// Exact matches; empty matches all.
	AlertType string
	ChainID   string
	Author    string
	// Facts of the alert, exact matches too; empty matches all.
	Severity  Severity
	Service   string
	Namespace string
	// More facts, same rules.
	Cluster     string
	Team        string
	Fingerprint string
	// Sessions that the reader may see.
	Visible Visibility
	// Labels of the alert by name; all must match.
	Labels map[string]string
	// Any of these states of handling; empty matches all.
	Handling []HandlingState
	// Name of the assignee, exact match; empty matches all.
	Assignee string
	// Identity of the assignee. If set, sessions with this identity match, whatever the name, and those with the name but no identity.
	// Empty matches by name only.
	AssigneeID string
	// Tags; the session must have all of them, ignoring case.
	Tags []string
	// Words that must all occur. The last one, and those that end in *, match as prefixes unless quoted.
	Search string
	// Inclusive lower and exclusive upper bound; nil means unbounded.
	CreatedAfter  *time.Time
	CreatedBefore *time.Time
	// Last item of the previous page; nil starts with the first.
	After *SessionCursor
	// Maximum number of sessions.
	Limit int
}

// SessionCursor is a position in a list of sessions. Its short JSON names keep the encoded cursor short.
type SessionCursor struct {
	// SessionItem.Rank of the last session in OrderAttention; nil in other orders. Cursors of older releases have other ranks, as "r".
	Rank *int `json:"a,omitempty"`
	// SearchMatch.Tier of the last session in OrderRelevance; nil in other orders.
	Tier *int `json:"m,omitempty"`
	// Identify the last session before the position. The ID breaks ties.
	CreatedAt time.Time `json:"t"`
	ID        string    `json:"i"`
}
