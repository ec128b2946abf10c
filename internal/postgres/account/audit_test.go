package account_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/account"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// open opens a store to a database, without starting the server.
func open(t *testing.T, url string) *account.Store {
	t.Helper()

	db, err := postgres.Open(t.Context(), postgres.Config{URL: url})
	require.NoError(t, err)
	t.Cleanup(db.Stop)

	return account.New(db)
}

// requireChain verifies the whole log and returns it.
func requireChain(t *testing.T, accounts *account.Store) []tarsy.AuditEntry {
	t.Helper()

	rows, err := accounts.Audit(t.Context(), tarsy.AuditFilter{OldestFirst: true, Limit: 10_000})
	require.NoError(t, err)

	var v audit.Verifier

	for _, row := range rows {
		require.NoError(t, v.Add(row))
	}

	return rows
}

func TestConcurrentAppendsOfTwoServersMakeOneChainWithoutGaps(t *testing.T) {
	t.Parallel()

	const each = 40

	url := pgtest.New(t)
	servers := []*account.Store{open(t, url), open(t, url)}

	var (
		wait   sync.WaitGroup
		failed = make(chan error, 2*each)
	)

	for n, accounts := range servers {
		for i := range each {
			wait.Go(func() {
				failed <- accounts.AppendAudit(t.Context(), tarsy.AuditEntry{
					At: time.Now(), Actor: "server " + strconv.Itoa(n), Action: "session.cancel", TargetID: strconv.Itoa(i), Details: map[string]string{"i": strconv.Itoa(i)},
				})
			})
		}
	}

	wait.Wait()
	close(failed)

	for err := range failed {
		require.NoError(t, err)
	}

	rows := requireChain(t, servers[0])
	require.Len(t, rows, 2*each)
	require.EqualValues(t, 2*each, rows[len(rows)-1].ID)
}

func TestAuditRowsWithUnusualTextVerifyAfterStorage(t *testing.T) {
	t.Parallel()

	accounts := open(t, pgtest.New(t))
	entry := tarsy.AuditEntry{
		At: time.Date(2026, 11, 15, 10, 0, 0, 123456789, time.FixedZone("", 3600)), Actor: "a\x00\xff\u2028😀", Action: "x", TargetID: "\\u0000\"",
		Details: map[string]string{"b": "<&>\n", "a": "é"},
	}

	require.NoError(t, accounts.AppendAudit(t.Context(), entry))
	require.NoError(t, accounts.AppendAudit(t.Context(), tarsy.AuditEntry{At: time.Now()}))
	require.Equal(t, entry.Details, requireChain(t, accounts)[0].Details)
}

func TestAuditLogRefusesChangesAndSecondChain(t *testing.T) {
	t.Parallel()

	url := pgtest.New(t)
	accounts := open(t, url)
	require.NoError(t, accounts.AppendAudit(t.Context(), tarsy.AuditEntry{At: time.Now(), Actor: "ada", Action: "key.create"}))

	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	for _, statement := range []string{
		`UPDATE audit_log SET actor = 'eve'`, `UPDATE audit_log SET actor = 'eve' WHERE false`, `DELETE FROM audit_log`, `TRUNCATE audit_log`,
	} {
		_, err := conn.Exec(t.Context(), statement)
		require.ErrorContains(t, err, "append-only", statement)
	}

	_, err = conn.Exec(t.Context(), `INSERT INTO audit_log SELECT 2, at, actor, actor_kind, key_id, key_prefix, role, action, target_type, target_id, request_id, remote,
    outcome, details, prev_hash, hash FROM audit_log`)
	require.ErrorContains(t, err, "audit_log_prev_hash_key", "two rows after the same one")
	require.Len(t, requireChain(t, accounts), 1)
}

func TestKeyAndItsAuditRowAreStoredTogether(t *testing.T) {
	t.Parallel()

	accounts := open(t, pgtest.New(t))
	issued, err := auth.Issue("ci", []tarsy.Scope{tarsy.ScopeWrite}, time.Now())
	require.NoError(t, err)

	by := func(action string) context.Context {
		ctx := audit.By(t.Context(), tarsy.AuditEntry{At: time.Now(), Actor: "ada", Action: action, TargetType: "key"})

		return ctx
	}

	require.NoError(t, accounts.CreateKey(by("key.create"), issued.Key, issued.Hash))
	require.Error(t, accounts.CreateKey(by("key.create"), issued.Key, issued.Hash), "the same key again")
	require.Len(t, requireChain(t, accounts), 1, "what failed left no row")

	_, err = accounts.RevokeKey(by("key.revoke"), issued.Key.Prefix, time.Now())
	require.NoError(t, err)
	_, err = accounts.RevokeKey(by("key.revoke"), "nothere1", time.Now())
	require.Equal(t, tarsy.CodeKeyNotFound, tarsy.CodeOf(err))

	rows := requireChain(t, accounts)
	require.Len(t, rows, 2)
	require.Equal(t, issued.Key.ID, rows[1].TargetID)
	require.Equal(t, "ci", rows[1].Details["name"])
}

func TestAuditIsFilteredAndPaged(t *testing.T) {
	t.Parallel()

	accounts := open(t, pgtest.New(t))
	start := time.Date(2026, 11, 15, 10, 0, 0, 0, time.UTC)

	for i := range 6 {
		require.NoError(t, accounts.AppendAudit(t.Context(), tarsy.AuditEntry{
			At: start.Add(time.Duration(i) * time.Hour), Actor: []string{"ada", "bob"}[i%2], Action: []string{"session.cancel", "key.create", "key.revoke"}[i%3],
			TargetType: "session", TargetID: strconv.Itoa(i),
		}))
	}

	ids := func(filter tarsy.AuditFilter) []int64 {
		if filter.Limit == 0 {
			filter.Limit = 10
		}

		rows, err := accounts.Audit(t.Context(), filter)
		require.NoError(t, err)

		found := []int64{}
		for _, row := range rows {
			found = append(found, row.ID)
		}

		return found
	}

	since, until := start.Add(time.Hour), start.Add(3*time.Hour)
	require.Equal(t, []int64{6, 5, 4, 3, 2, 1}, ids(tarsy.AuditFilter{}))
	require.Equal(t, []int64{5, 3, 1}, ids(tarsy.AuditFilter{Actor: "ada"}))
	require.Equal(t, []int64{4, 1}, ids(tarsy.AuditFilter{Action: "session.cancel"}))
	require.Equal(t, []int64{3}, ids(tarsy.AuditFilter{TargetType: "session", TargetID: "2"}))
	require.Equal(t, []int64{3, 2}, ids(tarsy.AuditFilter{Since: &since, Until: &until}))
	require.Equal(t, []int64{3, 2}, ids(tarsy.AuditFilter{After: 4, Limit: 2}))
	require.Equal(t, []int64{5, 6}, ids(tarsy.AuditFilter{After: 4, OldestFirst: true}))
}
