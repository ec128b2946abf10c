package jobs

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

func TestStartAfterStopDoesNothing(t *testing.T) {
	t.Parallel()

	pool, err := pgxpool.New(t.Context(), "postgres://127.0.0.1:1/none") // never connects
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	queue, err := New(Config{Pool: pool})
	require.NoError(t, err)
	require.NoError(t, queue.Stop(t.Context()))
	queue.Start()
	require.False(t, queue.started)
	require.NoError(t, queue.Stop(t.Context()))
}
