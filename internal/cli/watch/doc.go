// Package watch shows one session while it runs: as a screen that follows it, or as plain lines. What is known of the
// session is kept by package live; everything here but the screen's runner is a pure function of that, of the clock and of
// the keys that were pressed.
//
// It must not know HTTP nor flags. All text of a session is hostile and passes terminal.Clean before it is shown.
package watch
