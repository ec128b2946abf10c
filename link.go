package tarsy

import "net/url"

// SessionURL is where people open a session, given the address of the dashboard. It is empty without an address.
func SessionURL(dashboard *url.URL, sessionID string) string {
	if dashboard == nil {
		return ""
	}

	return dashboard.JoinPath("sessions", sessionID).String()
}
