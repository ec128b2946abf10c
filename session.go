package tarsy

import "time"

// SessionStatus is what people see of a session. Whether there is work to do is a different matter: a completed
// session may be claimed again to answer a question.
type SessionStatus string

// The statuses of a session; docs/states.md draws how they follow each other.
const (
	SessionPending    SessionStatus = "pending"
	SessionInProgress SessionStatus = "in_progress"
	SessionCancelling SessionStatus = "cancelling"
	SessionCompleted  SessionStatus = "completed"
	SessionFailed     SessionStatus = "failed"
	SessionCancelled  SessionStatus = "cancelled"
	SessionTimedOut   SessionStatus = "timed_out"
)

// SessionStatuses lists every status in the order a person would read them.
func SessionStatuses() []SessionStatus {
	return []SessionStatus{
		SessionPending, SessionInProgress, SessionCancelling,
		SessionCompleted, SessionFailed, SessionCancelled, SessionTimedOut,
	}
}

// Terminal reports whether the investigation is over.
func (s SessionStatus) Terminal() bool {
	switch s {
	case SessionCompleted, SessionFailed, SessionCancelled, SessionTimedOut:
		return true
	case SessionPending, SessionInProgress, SessionCancelling:
		return false
	}

	return false
}

// Session is one investigation of one alert. It is also the queue entry; its lease, fence and numbering belong to
// the database package and are not part of what people see.
type Session struct {
	ID           string        `json:"id"`
	AlertType    string        `json:"alert_type"`
	AlertData    string        `json:"alert_data"`
	ChainID      string        `json:"chain_id"`
	AgentType    string        `json:"agent_type"`
	Status       SessionStatus `json:"status"`
	Author       string        `json:"author"`
	Runbook      string        `json:"runbook"`
	RunbookURL   string        `json:"runbook_url"`
	MCPSelection *MCPSelection `json:"mcp_selection"`
	// RerunOf is the session whose alert this one investigates again.
	RerunOf *string `json:"rerun_of"`
	PodID   string  `json:"pod_id"`
	// StageCount is how many stages the chain runs if all goes well, syntheses included and chat not.
	StageCount            int        `json:"stage_count"`
	CurrentStageIndex     int        `json:"current_stage_index"`
	CurrentStageID        *string    `json:"current_stage_id"`
	FinalAnalysis         string     `json:"final_analysis"`
	ExecutiveSummary      string     `json:"executive_summary"`
	ExecutiveSummaryError string     `json:"executive_summary_error"`
	ErrorCode             string     `json:"error_code"`
	ErrorMessage          string     `json:"error_message"`
	ConcludedEarly        string     `json:"concluded_early"`
	CreatedAt             time.Time  `json:"created_at"`
	StartedAt             *time.Time `json:"started_at"`
	CompletedAt           *time.Time `json:"completed_at"`
	LastInteractionAt     *time.Time `json:"last_interaction_at"`
	DeletedAt             *time.Time `json:"deleted_at"`
}

// SessionItem is a session as lists show it. Version is the number of its last event.
type SessionItem struct {
	ID                string        `json:"id"`
	AlertType         string        `json:"alert_type"`
	ChainID           string        `json:"chain_id"`
	Status            SessionStatus `json:"status"`
	Author            string        `json:"author"`
	RerunOf           *string       `json:"rerun_of"`
	PodID             string        `json:"pod_id"`
	StageCount        int           `json:"stage_count"`
	CurrentStageIndex int           `json:"current_stage_index"`
	ExecutiveSummary  string        `json:"executive_summary"`
	ErrorCode         string        `json:"error_code"`
	ErrorMessage      string        `json:"error_message"`
	ConcludedEarly    string        `json:"concluded_early"`
	CreatedAt         time.Time     `json:"created_at"`
	StartedAt         *time.Time    `json:"started_at"`
	CompletedAt       *time.Time    `json:"completed_at"`
	Usage             Usage         `json:"usage"`
	ToolCalls         int           `json:"tool_calls"`
	Version           int64         `json:"version"`
	// Match is what matched, in a list that was searched.
	Match *SearchMatch `json:"match,omitempty" db:"-"`
}

// SearchMatch shows why a session matches a search.
type SearchMatch struct {
	// Field is the field of the session that the snippet is from.
	Field string `json:"field"`
	// Snippet is the part of the text around what matched, in order.
	Snippet []SnippetPart `json:"snippet"`
	// Tier is zero if the alert type, the summary or the error matches, and one if only the alert or the analysis does.
	Tier int `json:"-"`
}

// SnippetPart is a piece of a snippet.
type SnippetPart struct {
	// Text is as it was stored, on one line. It is not HTML.
	Text string `json:"text"`
	// Match tells whether this piece is what was searched for.
	Match bool `json:"match"`
}

// SessionDetail is a session with its stages and executions. Version is the number of the last event that it
// includes: a reader goes on with the journal from there.
type SessionDetail struct {
	Session
	// Spend is that of all stages, and of what belongs to none, such as the executive summary.
	Spend

	Version int64         `json:"version"`
	Stages  []StageDetail `json:"stages"`
	// Chat is nil until somebody asked something.
	Chat *Chat `json:"chat"`
}

// StageDetail is a stage with its executions. What it used is what they used.
type StageDetail struct {
	Stage
	Spend

	Executions []ExecutionDetail `json:"executions"`
}

// ExecutionDetail is an execution with what it used.
type ExecutionDetail struct {
	Execution
	Spend
}

// Rerun is the alert of a session once more, as it was stored: what was masked then stays masked.
func (s Session) Rerun(author string) Alert {
	return Alert{
		AlertType: s.AlertType, Data: s.AlertData, Runbook: s.Runbook, RunbookURL: s.RunbookURL, MCPSelection: s.MCPSelection,
		Author: author, RerunOf: &s.ID,
	}
}

// SessionProgress is how far a session is, for those who ask often.
type SessionProgress struct {
	ID                string        `json:"id"`
	Status            SessionStatus `json:"status"`
	StageCount        int           `json:"stage_count"`
	CurrentStageIndex int           `json:"current_stage_index"`
	ErrorCode         string        `json:"error_code"`
	ErrorMessage      string        `json:"error_message"`
	Version           int64         `json:"version"`
}

// SessionSummary is what came of a session, without how. DurationMs is from its start to its end or to now; it is zero
// before the start.
type SessionSummary struct {
	ID               string        `json:"id"`
	Status           SessionStatus `json:"status"`
	ExecutiveSummary string        `json:"executive_summary"`
	FinalAnalysis    string        `json:"final_analysis"`
	StageCount       int           `json:"stage_count"`
	DurationMs       int64         `json:"duration_ms"`
	Spend
}

// ActiveSessions are those that are not over: being investigated, newest first, and waiting for it, next one first.
type ActiveSessions struct {
	Active []SessionItem `json:"active"`
	Queued []SessionItem `json:"queued"`
}

// FilterOptions are the values that a list of sessions can be filtered by, because there are sessions that have them.
type FilterOptions struct {
	AlertTypes []string        `json:"alert_types"`
	ChainIDs   []string        `json:"chain_ids"`
	Authors    []string        `json:"authors"`
	Statuses   []SessionStatus `json:"statuses"`
}

// SessionOrder is how a list of sessions is ordered.
type SessionOrder string

// The orders of sessions. Attention shows what runs first, then what failed, then the rest, each newest first. Relevance is
// the order of every search: sessions whose alert type, summary or error matches, then the others, each newest first.
const (
	OrderNewest    SessionOrder = "newest"
	OrderAttention SessionOrder = "attention"
	OrderRelevance SessionOrder = "relevance"
)

// Rank is the place of a status in the order of attention.
func (s SessionStatus) Rank() int {
	switch s {
	case SessionPending, SessionInProgress, SessionCancelling:
		return 0
	case SessionFailed, SessionTimedOut:
		return 1
	case SessionCompleted, SessionCancelled:
	}

	return 2 //nolint:mnd // the third of three
}

// SessionFilter chooses sessions for a list; the zero value chooses all, newest first. After is the last item of the page
// before.
type SessionFilter struct {
	Order         SessionOrder
	Statuses      []SessionStatus
	AlertType     string
	ChainID       string
	Author        string
	Search        string
	CreatedAfter  *time.Time
	CreatedBefore *time.Time
	After         *SessionCursor
	Limit         int
}

// SessionCursor is a place in the list of sessions.
type SessionCursor struct {
	// Rank is the session's place in the order of attention; nil in other orders.
	Rank *int `json:"r,omitempty"`
	// Tier is the session's place in the order of relevance; nil in other orders.
	Tier      *int      `json:"m,omitempty"`
	CreatedAt time.Time `json:"t"`
	ID        string    `json:"i"`
}
