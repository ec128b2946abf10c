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
