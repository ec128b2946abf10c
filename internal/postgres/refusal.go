package postgres

import (
	"context"
	"sync/atomic"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// stateTooManyConnections is the SQLSTATE of a connection refused because the server, the database or the role has reached its limit.
const stateTooManyConnections = "53300"

// refusals remembers whether PostgreSQL refused the last connection for lack of connections. Open connections keep working then,
// so a check that uses one of them would not notice that requests fail.
type refusals struct{ refused atomic.Bool }

// noted wraps the handler of PostgreSQL errors, which also gets those of connections that are not established.
func (r *refusals) noted(next pgconn.PgErrorHandler) pgconn.PgErrorHandler {
	return func(conn *pgconn.PgConn, err *pgconn.PgError) bool {
		if err.Code == stateTooManyConnections {
			r.refused.Store(true)
		}

		return next(conn, err)
	}
}

// cleared wraps the set-up of a new connection: if there is one, PostgreSQL has connections again.
func (r *refusals) cleared(next pgconn.AfterConnectFunc) pgconn.AfterConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		r.refused.Store(false)

		return next(ctx, conn)
	}
}

// check tries to connect if the last attempt was refused, and returns an error if PostgreSQL still refuses.
func (r *refusals) check(ctx context.Context, pool *pgxpool.Pool) error {
	if !r.refused.Load() {
		return nil
	}

	conn, err := pgconn.ConnectConfig(ctx, &pool.Config().ConnConfig.Config)
	if err != nil {
		return err
	}

	return conn.Close(ctx)
}
