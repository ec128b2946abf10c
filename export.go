package tarsy

import (
	"net/url"
	"time"
)

// Export is everything that users see of a session, in one document.
type Export struct {
	// UTC. All parts are from one database snapshot.
	ExportedAt time.Time `json:"exported_at"`
	// Where people open the session in the dashboard; empty unless system.dashboard_url is set.
	SessionURL string `json:"session_url,omitempty"`
	// Includes stages, executions and chat.
	Session SessionDetail `json:"session"`
	// Full contents in order; empty, not nil, before the first event.
	Timeline []TimelineEvent `json:"timeline"`
	// All interactions, without pagination.
	Trace Trace `json:"trace"`
}

// SessionURL returns the address of a session in the dashboard, or "" if dashboard is nil.
func SessionURL(dashboard *url.URL, sessionID string) string {
	if dashboard == nil {
		return ""
	}

	return dashboard.JoinPath("sessions", sessionID).String()
}
