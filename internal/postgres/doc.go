// Package postgres is where TARSy's state lives: the schema and its migrations, the queue (claim, renew, release),
// the step commit, requests, the queries behind the API, and the signals that wake readers and servers.
//
// Ownership: after intake, Committer is the only code that writes session-owned tables, and every such write is
// proved by the fence of a lease; except the clean-up in retention.go, which drops journals and marks sessions of which
// nobody wants anything. Claim, Renew and Release write the queue columns of sessions and nothing else;
// AddCancel and AddQuestion write requests. Time is a parameter of every statement, so a test's clock rules here too.
//
// The package knows nothing of chains, agents or HTTP.
package postgres
