package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// idleInTransaction is in PostgreSQL's notation. A server that freezes between the two round trips of a commit must not keep its
// sessions locked, because nobody could take them over.
const idleInTransaction = "5s"

// workSettings fix the plans of the statements that claim, commit and clean up. Plans are cached from the first executions on,
// when the tables are still small and a sequential scan looks cheap, but each of these statements has its index. A bitmap scan
// would visit every dead version of a queue's entries again and again, whereas a plain index scan marks them and skips them. With
// one good plan per statement, planning again gains nothing.
//
// Readers must not have these settings: see readSettings.
func workSettings() map[string]string {
	return map[string]string{"enable_seqscan": "off", "enable_bitmapscan": "off", "plan_cache_mode": "force_generic_plan"}
}

// noteSettings are workSettings with bitmap scans, the only ones that GIN indexes, which find similar entities, support. Without
// the other settings, the statement that completes a job, planned while the queue was empty, would read all jobs of the day each
// time.
func noteSettings() map[string]string {
	settings := workSettings()
	delete(settings, "enable_bitmapscan")

	return settings
}

// readSettings limit what a reader takes from the others. The best plan depends on how many rows its filters and its period
// match, so every execution is planned with its values: the generic plan, which PostgreSQL may choose after five executions,
// summed up 30 days of usage by reading a million sessions.
func readSettings(cfg Config) map[string]string {
	return map[string]string{
		"statement_timeout": milliseconds(cfg.ReadTimeout), "plan_cache_mode": "force_custom_plan",
		"max_parallel_workers_per_gather": "0",
	}
}

// connectionSettings are those of every connection, whatever a distribution, a provider or an administrator has set for the
// server, the database or the role. docs/operations.md lists them.
//
// The keepalives and tcp_user_timeout let PostgreSQL notice within about half a minute instead of two hours that the host of a
// server is gone; on a Unix socket they have no effect. JIT is off because statements are short and executed thousands of times,
// so compiling them costs more than it saves: the claim took seconds. Inherited time limits would end migrations and listening
// connections, and with another isolation level concurrent commits would fail.
func connectionSettings(serverVersion string) map[string]string {
	settings := map[string]string{
		"idle_in_transaction_session_timeout": idleInTransaction,
		"tcp_keepalives_idle":                 "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "4", "tcp_user_timeout": "30s",
		"jit":               "off",
		"statement_timeout": "0", "lock_timeout": "0", "idle_session_timeout": "0",
		"default_transaction_isolation": "read committed",
		"client_encoding":               "UTF8", "standard_conforming_strings": "on",
	}

	if majorOf(serverVersion) >= hasTransactionTimeout {
		settings["transaction_timeout"] = "0"
	}

	return settings
}

// hasTransactionTimeout is the first version with the setting transaction_timeout.
const hasTransactionTimeout = 17

// majorOf returns the leading number of a version such as "17.10 (Debian 17.10-1)" or "19beta1".
func majorOf(version string) int {
	digits := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if digits < 0 {
		digits = len(version)
	}

	major, _ := strconv.Atoi(version[:digits]) // a version that cannot be parsed counts as an old one

	return major
}

// apply sets up a new connection in one round trip. Settings in the address of the database override our defaults.
func apply(fromAddress, settings map[string]string) pgconn.AfterConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		all := connectionSettings(conn.ParameterStatus("server_version"))
		maps.Copy(all, settings)

		var sql strings.Builder

		for _, name := range slices.Sorted(maps.Keys(all)) {
			if fromAddress[name] == "" {
				fmt.Fprintf(&sql, "SET %s = '%s';", name, all[name])
			}
		}

		if _, err := conn.Exec(ctx, sql.String()).ReadAll(); err != nil {
			return fmt.Errorf("set up a connection: %w", err)
		}

		return nil
	}
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%dms", max(1, d.Milliseconds())) }
