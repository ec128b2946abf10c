package tarsy

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
