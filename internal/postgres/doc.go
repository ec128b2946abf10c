// Package postgres stores the state of TARSy: the schema and its migrations, the queue (claim, renew, release), the step commit,
// requests, the queries behind the API, and the signals that wake readers and servers. Accounts and announcements have stores of their
// own, account and outbox, which use the pools and query helpers of this package.
//
// Ownership: after intake, the committer is the only code that writes session-owned tables, and a lease's fence guards every such
// write. The exception is the clean-up in retention.go and purge.go, which drops journals, marks idle sessions as deleted and
// removes deleted ones. Claim, Renew and HandOver write the queue columns of sessions and nothing else; AddCancel and AddQuestion
// write requests. Time is a parameter of every statement, so a test's clock rules here too.
//
// The package knows nothing of chains, agents or HTTP.
package postgres
