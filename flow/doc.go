// Package flow connects conversational programs: branches produce and consume typed entries, routes carry entries of one type
// from one branch to another, and journals keep everything that passes.
//
// A branch is a leaf such as a console, a Discord connection or an agent; the subpackages implement these. Its ports are fields
// of type [Out] and [In], so a route between ports of the wrong types does not compile. [Build] checks the rest and reports
// every mistake at once. A flow runs as daemons: one for each input of a branch, one for the routes of each branch, and one for
// each port that consumes. Entries of one branch arrive in the order in which they were produced.
//
// The package does not know about chats, models or databases.
package flow
