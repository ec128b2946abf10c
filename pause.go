package tarsy

import "time"

// PauseKind is what people can pause on all servers together.
type PauseKind string

// The kinds of pauses. They are independent of each other.
const (
	// PauseIntake refuses alerts, re-runs and webhooks; senders retry. Everything that concerns existing sessions works.
	PauseIntake PauseKind = "intake"
	// PauseClaiming lets no server begin or continue a session that it does not hold, but for cancellations. Alerts are accepted and wait.
	PauseClaiming PauseKind = "claiming"
)

// PauseKinds lists the kinds of pauses.
func PauseKinds() []PauseKind { return []PauseKind{PauseIntake, PauseClaiming} }

// MaxPauseReason is how long the reason of a pause may be, in bytes.
const MaxPauseReason = 1000

// Pause is a pause of all servers.
type Pause struct {
	// What is paused. There is at most one pause of each kind.
	Kind PauseKind `enum:"intake,claiming" json:"kind"`
	// Why, in the author's words; empty if they gave no reason.
	Reason string `json:"reason"`
	// Who paused it, or changed the pause last.
	Author string `json:"author"`
	// Since when. Changing a pause does not change it.
	PausedAt time.Time `json:"paused_at"`
	// When it resumes by itself; nil means that somebody has to resume it.
	EndsAt *time.Time `json:"ends_at"`
}

// Active reports whether the pause holds at a time.
func (p Pause) Active(now time.Time) bool { return p.EndsAt == nil || now.Before(*p.EndsAt) }

// MaxCancelIDs is how many sessions one request can name to be cancelled, and MaxCancelMatches how many it cancels by a filter.
const (
	MaxCancelIDs     = 1000
	MaxCancelMatches = 10_000
)

// CancelSkip is why a request to cancel several sessions left one of them as it is.
type CancelSkip string

// The reasons.
const (
	// CancelNotFound sessions do not exist.
	CancelNotFound CancelSkip = "not_found"
	// CancelNotRunning sessions are over and answer no question.
	CancelNotRunning CancelSkip = "not_running"
	// CancelRequested sessions are being cancelled already.
	CancelRequested CancelSkip = "already_requested"
)

// SkippedCancel is a session that a request to cancel several sessions left as it is.
type SkippedCancel struct {
	// The session, as the request named it.
	SessionID string `json:"session_id"`
	// Why it was left as it is.
	Reason CancelSkip `enum:"not_found,not_running,already_requested" json:"reason"`
}

// BulkCancel is what became of a request to cancel several sessions.
type BulkCancel struct {
	// Nothing was changed: Requested is what would have been requested.
	DryRun bool `json:"dry_run"`
	// Number of existing sessions that were named or that the filter matches.
	Matched int `json:"matched"`
	// Number of sessions whose cancellation was requested.
	Requested int `json:"requested"`
	// Those that were left as they are; empty, not nil.
	Skipped []SkippedCancel `json:"skipped"`
	// More sessions match the filter than one request cancels. Send it again.
	More bool `json:"more"`
	// The sessions whose cancellation was requested.
	SessionIDs []string `json:"session_ids"`
}
