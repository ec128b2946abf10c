// Package alert reads what senders deliver and derives what an alert is about. It is pure: bytes and configuration in, alerts
// out. It does not know what becomes of an alert: routes are in internal/chain, deduplication and storms in internal/triage.
//
// Everything that senders write is untrusted. Facts are bounded (see the limits of tarsy.AlertFacts), on one line and without
// invisible characters; links are absolute http or https URLs without credentials; the text for agents is at most
// tarsy.MaxAlertBytes long. Secrets are not masked here: intake does that.
package alert
