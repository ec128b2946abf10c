// Package watch shows one session while it runs: on a screen that follows it, or as plain lines. Package live keeps the state of the
// session; everything here except the screen's runner is a pure function of that state, the clock and the pressed keys.
//
// It must not know HTTP or flags. All text of a session is hostile and must pass terminal.Clean before it is shown.
package watch
