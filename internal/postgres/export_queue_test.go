package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// OnWorkConn calls f with one of the connections that claim and commit.
func (db *DB) OnWorkConn(ctx context.Context, f func(*pgx.Conn) error) error {
	conn, err := db.work.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()

	return f(conn.Conn())
}

// QueuePlace is the place of a new session in the queue.
var QueuePlace = queuePlace

// ClaimStatement returns the claim with numbered parameters, in the order of their types.
func ClaimStatement(ctx context.Context, conn *pgx.Conn, args pgx.NamedArgs) (string, []any, error) {
	return args.RewriteQuery(ctx, conn, claimSQL, nil)
}
