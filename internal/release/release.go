// Package release knows which release this is.
package release

// Version is that of the newest release in CHANGELOG.md, which is where a release begins; a test compares them. A build
// between two releases has the version of the earlier one, and its commit says which it is.
const Version = "0.1.0"
