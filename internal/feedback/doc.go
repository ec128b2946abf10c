// Package feedback takes what people think of the conclusions of sessions, and counts it. It checks and masks what they write; the rows
// are in internal/postgres. It knows nothing of how people send it: the API, the command line and Discord all use a Desk.
package feedback
