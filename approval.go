package tarsy

import (
	"encoding/json"
	"time"
)

// ApprovalStatus is the state of an approval.
type ApprovalStatus string

// The statuses of approvals. All but ApprovalWaiting are final.
const (
	// ApprovalWaiting means that no one has decided yet; the call is not made.
	ApprovalWaiting ApprovalStatus = "waiting"
	// ApprovalApproved lets the call be made once, with the arguments that were approved.
	ApprovalApproved ApprovalStatus = "approved"
	// ApprovalRejected means that a person decided against the call. The model sees the reason.
	ApprovalRejected ApprovalStatus = "rejected"
	// ApprovalExpired means that no one decided in time.
	ApprovalExpired ApprovalStatus = "expired"
	// ApprovalWithdrawn means that the call is no longer needed: the session was cancelled, or the agent had to conclude.
	ApprovalWithdrawn ApprovalStatus = "withdrawn"
)

// ApprovalStatuses lists every status.
func ApprovalStatuses() []ApprovalStatus {
	return []ApprovalStatus{ApprovalWaiting, ApprovalApproved, ApprovalRejected, ApprovalExpired, ApprovalWithdrawn}
}

// Final reports whether the status can no longer change.
func (s ApprovalStatus) Final() bool { return s != ApprovalWaiting }

// ApprovalScope is what an approval covers.
type ApprovalScope string

// ScopeCall covers one call with exactly its arguments. An identical call later needs another approval.
const ScopeCall ApprovalScope = "call"

// Approval is a person's decision on one tool call with exactly these arguments, or the request for one. It is part of the
// MCPInteraction of the call, whose ID is also the ID of the approval, and of the metadata of its timeline event.
type Approval struct {
	// Changes once, from waiting.
	Status ApprovalStatus `doc:"Whether the approval was decided, and how." json:"status"`
	// What the approval covers.
	Scope ApprovalScope `doc:"What the approval covers: this one call." json:"scope"`
	// Path of the rule in the configuration, such as "approvals.rules[0]".
	Rule string `doc:"The rule of the configuration that requires the approval." json:"rule"`
	// What the rule says, for people. Empty in approvals that an earlier release requested.
	RuleText string `doc:"Why the call waits, in words; absent in requests of earlier releases." json:"rule_text,omitempty"`
	// From this time on no decision is possible, and the agent continues without the call.
	ExpiresAt time.Time `doc:"When the request expires." json:"expires_at"`
	// The arguments that a person approved in place of the model's; nil if they were not changed.
	Arguments json.RawMessage `doc:"The arguments that a person set in place of the model's; absent if unchanged." json:"arguments,omitempty"`
	// Same rules as Session.Author. Empty unless a person decided.
	DecidedBy string `doc:"The person who decided; absent if no person did." json:"decided_by,omitempty"`
	// When a server applied the decision, or found that the request expired. Nil while waiting.
	DecidedAt *time.Time `doc:"When it was decided." json:"decided_at,omitempty"`
	// Why, in the person's words, masked. The model sees the reason for a rejection.
	Reason string `doc:"The reason that the person gave." json:"reason,omitempty"`
	// When the approved call was made. Nil if it was not.
	StartedAt *time.Time `doc:"When the approved call was made." json:"started_at,omitempty"`
}

// Open reports whether the approval can still be decided at the given time.
func (a *Approval) Open(at time.Time) bool {
	return a != nil && a.Status == ApprovalWaiting && at.Before(a.ExpiresAt)
}

// WithApproval returns the metadata of a tool call with its current approval.
func (m Metadata) WithApproval(a *Approval) Metadata {
	if a == nil {
		return m
	}

	call := MetadataAs[ToolCallMetadata](m)
	call.Approval = a

	return m.Merge(NewMetadata(call))
}

// ApprovalDecision is the payload of a RequestApproval: what a person decided about one call.
type ApprovalDecision struct {
	// ID of the MCPInteraction.
	ApprovalID string `json:"approval_id"`
	// ApprovalApproved or ApprovalRejected.
	Status ApprovalStatus `json:"status"`
	// A JSON object that replaces the arguments; nil leaves them as they are. Only with ApprovalApproved.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Why; masked. Required with ApprovalRejected.
	Reason string `json:"reason,omitempty"`
}

// ApprovalRequest is an approval together with its call, as shown in lists.
type ApprovalRequest struct {
	// Same as the ID of the MCPInteraction.
	ID string `json:"id"`
	// What the call belongs to.
	SessionID       string `json:"session_id"`
	ExecutionID     string `json:"execution_id"`
	TimelineEventID string `json:"timeline_event_id"`
	// What the session is about, as in Session; the team may be empty.
	AlertType string   `json:"alert_type"`
	Title     string   `json:"title"`
	Severity  Severity `json:"severity"`
	// Team that owns the alert; empty if it is unknown.
	Team string `json:"team"`
	// The agent that wants to make the call.
	AgentName string `json:"agent_name"`
	// Number of the call in its session, such as "1.2.3".
	Call string `json:"call"`
	// The call, with the exact arguments that the model wrote.
	ServerName    string          `json:"server_name"`
	ToolName      string          `json:"tool_name"`
	ToolArguments json.RawMessage `json:"tool_arguments"`
	// What the agent wrote together with the call, cut after MaxStatement characters. It is untrusted: the model wrote it, and may
	// repeat what alerts and tools contain. Empty if the agent wrote nothing.
	Statement string `doc:"What the agent wrote together with the call, cut after 2,000 characters. Untrusted text." json:"statement"`
	// The decision, or the request for one.
	Approval Approval `json:"approval"`
	// Earlier decisions about calls of the same tool; nil if there are none, or if they were not looked up.
	Earlier *EarlierDecisions `db:"-" doc:"Earlier decisions about calls of the same tool; absent if there are none." json:"earlier,omitempty"`
	// When the agent asked.
	CreatedAt time.Time `json:"created_at"`
}

// EarlierDecisions counts what people decided about calls of one tool, among the last RecentApprovals requests before this one.
type EarlierDecisions struct {
	// How many calls were approved and rejected.
	Approved int `doc:"How many calls were approved." json:"approved"`
	Rejected int `doc:"How many calls were rejected." json:"rejected"`
	// The most recent of these decisions.
	LastStatus ApprovalStatus `doc:"The last decision: approved or rejected." json:"last_status"`
	LastBy     string         `doc:"Who made the last decision."               json:"last_by"`
	LastAt     time.Time      `doc:"When the last decision was applied."       json:"last_at"`
}

// RecentApprovals is how many requests EarlierDecisions looks at.
const RecentApprovals = 500

// MaxStatement is the longest statement of an ApprovalRequest, in characters.
const MaxStatement = 2000

// Limits on what people write in a decision.
const (
	// MaxApprovalReason is the longest reason, in characters.
	MaxApprovalReason = 2000
	// MaxApprovalArguments is the longest JSON text of changed arguments, in bytes.
	MaxApprovalArguments = 64 << 10
)
