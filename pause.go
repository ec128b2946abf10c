package tarsy

import "time"

// PauseKind is something that people can pause on all servers.
type PauseKind string

// The kinds of pauses. They are independent of each other.
const (
	// PauseIntake rejects alerts, re-runs and webhooks; senders retry. Existing sessions are not affected.
	PauseIntake PauseKind = "intake"
	// PauseClaiming stops servers from claiming sessions, except to cancel them. Sessions that a server already holds continue. Alerts are
	// accepted and wait.
	PauseClaiming PauseKind = "claiming"
)

// PauseKinds lists the kinds of pauses.
func PauseKinds() []PauseKind { return []PauseKind{PauseIntake, PauseClaiming} }

// MaxPauseReason is the maximum length of a pause's reason, in bytes.
const MaxPauseReason = 1000

// Pause is a pause of all servers.
type Pause struct {
	// What is paused. There is at most one pause of each kind.
	Kind PauseKind `enum:"intake,claiming" json:"kind"`
	// Why, in the author's words; may be empty.
	Reason string `json:"reason"`
	// Who paused it or last changed the pause.
	Author string `json:"author"`
	// When it was paused. Changing a pause does not update it.
	PausedAt time.Time `json:"paused_at"`
	// When the pause ends automatically; nil means that someone has to resume.
	EndsAt *time.Time `json:"ends_at"`
}

// Active reports whether the pause is in effect at the given time.
func (p Pause) Active(now time.Time) bool { return p.EndsAt == nil || now.Before(*p.EndsAt) }

// MaxCancelIDs is how many sessions a cancel request can list, and MaxCancelMatches how many it can cancel by a filter.
const (
	MaxCancelIDs     = 1000
	MaxCancelMatches = 10_000
)

// CancelSkip is why a bulk cancel request skipped a session.
type CancelSkip string

// The reasons to skip a session.
const (
	// CancelNotFound means that the session does not exist.
	CancelNotFound CancelSkip = "not_found"
	// CancelNotRunning means that the session has ended and is not answering a question.
	CancelNotRunning CancelSkip = "not_running"
	// CancelRequested means that the session is already being cancelled.
	CancelRequested CancelSkip = "already_requested"
)

// SkippedCancel is a session that a bulk cancel request skipped.
type SkippedCancel struct {
	// The session ID as given in the request.
	SessionID string `json:"session_id"`
	// Why it was skipped.
	Reason CancelSkip `enum:"not_found,not_running,already_requested" json:"reason"`
}

// BulkCancel is the result of a request to cancel several sessions.
type BulkCancel struct {
	// Nothing was changed: Requested is what would have been cancelled.
	DryRun bool `json:"dry_run"`
	// Number of existing sessions that were listed or that the filter matches.
	Matched int `json:"matched"`
	// Number of sessions whose cancellation was requested.
	Requested int `json:"requested"`
	// Sessions that were skipped; empty, not nil.
	Skipped []SkippedCancel `json:"skipped"`
	// More sessions match the filter than one request cancels. Repeat the request.
	More bool `json:"more"`
	// The sessions whose cancellation was requested.
	SessionIDs []string `json:"session_ids"`
}
