package postgres_test

import (
	"context"
	"net"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// slowConn is a connection whose writes take until the answer was read and the next read is waiting, as can happen on a busy machine.
type slowConn struct {
	net.Conn

	t     *testing.T
	slow  *atomic.Bool
	begun atomic.Int64
	done  atomic.Int64
}

func (c *slowConn) Read(data []byte) (int, error) {
	c.begun.Add(1)
	defer c.done.Add(1)

	return c.Conn.Read(data)
}

func (c *slowConn) Write(data []byte) (int, error) {
	before := c.done.Load()
	n, err := c.Conn.Write(data)

	if c.slow.Load() {
		wait.Until(c.t, "a read after that of the answer", func() bool { return c.done.Load() > before && c.begun.Load() > c.done.Load() })
	}

	return n, err
}

// A client that goes away at the end of its statement must not fail the next statement on the connection.
func TestCanceledStatementDoesNotFailNextOne(t *testing.T) {
	t.Parallel()

	config, err := pgxpool.ParseConfig(pgtest.New(t))
	require.NoError(t, err)

	var slow atomic.Bool

	config.MaxConns = 1
	config.ConnConfig.BuildFrontend = postgres.Frontend(t)
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := (&net.Dialer{}).DialContext(ctx, network, address)

		return &slowConn{Conn: conn, t: t, slow: &slow}, err
	}

	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	const sql = `SELECT n FROM generate_series(1, 3) n`

	var first int

	require.NoError(t, pool.QueryRow(t.Context(), sql).Scan(&first)) // prepares it
	slow.Store(true)

	ctx, cancel := context.WithCancel(t.Context())
	rows, err := pool.Query(ctx, sql)
	require.NoError(t, err)
	require.True(t, rows.Next())
	slow.Store(false)
	cancel()
	rows.Close()

	var one string

	require.NoError(t, pool.QueryRow(t.Context(), `SELECT 'one'`).Scan(&one))
	require.Equal(t, "one", one)
}
