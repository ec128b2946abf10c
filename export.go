package tarsy

import "time"

// Export is all that people see of a session, in one piece.
type Export struct {
	ExportedAt time.Time       `json:"exported_at"`
	Session    SessionDetail   `json:"session"`
	Timeline   []TimelineEvent `json:"timeline"`
	Trace      Trace           `json:"trace"`
}
