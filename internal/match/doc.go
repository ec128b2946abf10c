// Package match selects alerts: it implements matchers in Alertmanager's syntax, as used in routes, silences, maintenance
// windows and write-backs. It knows alerts, but not what a match causes.
package match
