package scale_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/kit/scale"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Wrap(m)) }

func TestLoadedListMatchesTriggers(t *testing.T) {
	t.Parallel()

	url := pgtest.New(t)
	require.NoError(t, scale.Load(t.Context(), url, scale.Size{Sessions: 500, Calls: 2, Until: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}))

	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)

	defer conn.Close(t.Context())

	count := func(sql string) (n int) {
		require.NoError(t, conn.QueryRow(t.Context(), sql).Scan(&n))

		return n
	}

	const columns = "session_id, status, alert_type, chain_id, author, created_at, severity, service, namespace, cluster, team, fingerprint, outcome, words"

	// Insert the sessions again, this time with the trigger.
	_, err = conn.Exec(t.Context(), `
CREATE TEMP TABLE loaded AS SELECT `+columns+` FROM session_list;
CREATE TEMP TABLE copied AS TABLE sessions;
TRUNCATE session_list, sessions CASCADE;
INSERT INTO sessions SELECT copied.* FROM copied`)
	require.NoError(t, err)

	require.Equal(t, 500, count("SELECT count(*) FROM session_list"))
	require.Zero(t, count("SELECT count(*) FROM (SELECT "+columns+" FROM loaded EXCEPT SELECT "+columns+" FROM session_list) AS d"))
	require.Equal(t, 1000, count("SELECT count(*) FROM llm_interactions"))
	require.Equal(t, 1000, count("SELECT sum(llm_calls) FROM usage_buckets WHERE span = 'day'"))
}
