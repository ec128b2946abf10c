// Package flow connects programs that talk: a branch produces and consumes typed entries, a route carries entries of one
// type from one branch to another, and everything that passes is kept in journals.
//
// A branch is a leaf such as a console, a Discord connection or an agent; the child packages have these. Its ports are
// fields of type [Out] and [In], so a route between ports of the wrong types does not compile. [Build] checks the rest and
// reports every mistake at once. What is built runs as daemons: one for each input of a branch, one for its routes, one for
// each port that consumes. Entries of one branch arrive in the order in which they were produced.
//
// The package knows nothing of chats, models or databases.
package flow
