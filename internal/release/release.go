// Package release contains the version of the program.
package release

// Version is the version of the newest release in CHANGELOG.md, where every release starts; a test compares them. A build between two
// releases has the version of the earlier one; its commit identifies it.
const Version = "0.1.0"
