// Package alert parses what senders deliver and derives the facts of each alert. It is pure: bytes and configuration in, alerts
// out. It does not handle alerts further: routing is in internal/chain, deduplication and storm detection in internal/triage.
//
// All sender input is untrusted. Facts are bounded (see the limits of tarsy.AlertFacts), on one line and without invisible
// characters; links are absolute http or https URLs without credentials; the text for agents is at most
// tarsy.MaxAlertBytes long. Secrets are not masked here: intake does that.
package alert
