package match

import "tarsy.dev/tarsy"

// Values returns a function that looks up values of an alert by name: its labels first, then its facts. A label hides a fact of
// the same name, so severity="page" refers to the sender's own word.
func Values(a tarsy.Alert) func(name string) string {
	return func(name string) string {
		if value := a.Facts.Labels[name]; value != "" {
			return value
		}

		switch name {
		case "source":
			return string(a.Facts.Source)
		case "receiver":
			return a.Facts.Receiver
		case "alert_type":
			return a.AlertType
		case "title":
			return a.Facts.Title
		case "severity":
			return string(a.Facts.Severity)
		case "service":
			return a.Facts.Service
		case "namespace":
			return a.Facts.Namespace
		case "cluster":
			return a.Facts.Cluster
		case "team":
			return a.Facts.Team
		default:
			return ""
		}
	}
}
