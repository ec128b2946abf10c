// Package match decides whether an alert is meant: matchers in the syntax of Alertmanager, as routes, silences, maintenance
// windows and write-backs have them. It knows alerts, but not what a match leads to.
package match
