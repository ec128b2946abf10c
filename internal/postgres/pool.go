package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The connections of one server, by pool. Connections are opened when they are needed and closed when they have been
// idle for half an hour, so these are upper bounds. docs/configuration.md states the total.
const (
	// defaultReaders is how many readers query at once.
	defaultReaders = 8
	// frontConns serve key checks, browser sessions, requests and signals: short statements that callers wait for.
	frontConns = 6
	// workConns serve the committers, intake, the claimer, the renewal of leases, and one more that loads a session or
	// adds up a budget.
	workConns = committers + 4
	// jobConns serve the job queue, which listens on one of them, and the jobs of retention.
	jobConns = 5
	// noteConns serve notes: captures, the jobs that process them, decisions, and the journal, which listens on one of them.
	noteConns = 8
	// alertConns serve deliveries of alerts. Each waits for the decisions about alerts of the same groups, so they have their own.
	alertConns = 4
)

const (
	defaultReadTimeout = 10 * time.Second
	// defaultConnectTimeout bounds each attempt to connect, to each host of the address, unless the address sets connect_timeout. The
	// operating system would wait for a frozen host for two minutes and more, and never try the next one before.
	defaultConnectTimeout = 4 * time.Second
	// idleInTransaction is in PostgreSQL's notation. A server that freezes between the two round trips of a commit must not
	// keep its sessions locked: nobody could take them over.
	idleInTransaction = "5s"
)

// pools keep apart what must not wait for each other. A reader may be slow, so readers have their own pool with a
// statement time limit; nothing that a caller or the engine waits for shares it.
type pools struct {
	readers, front, work, jobs, notes, alerts *pgxpool.Pool
}

// workSettings fix the plans of the statements that claim, commit and clean up. Plans are cached from the first executions
// on, when the tables are still small and a sequential scan looks cheap, but each of these statements has its index. A
// bitmap scan would visit every dead version of a queue's entries again and again, where a plain index scan marks them and
// skips them. With one good plan per statement there is nothing to gain from planning again.
//
// Readers must not have these settings: see readSettings.
func workSettings() map[string]string {
	return map[string]string{"enable_seqscan": "off", "enable_bitmapscan": "off", "plan_cache_mode": "force_generic_plan"}
}

// noteSettings are workSettings with bitmap scans: GIN indexes, which find similar entities, have no other. The statement that completes
// a job, planned while the queue was empty, would read all jobs of the day each time.
func noteSettings() map[string]string {
	settings := workSettings()
	delete(settings, "enable_bitmapscan")

	return settings
}

// readSettings bound what a reader takes from the others. How many rows its filters and its period match decides which plan is
// good, so every execution is planned with its values: the plan without them, which PostgreSQL may choose after five
// executions, summed 30 days of usage up by reading a million sessions.
func readSettings(cfg Config) map[string]string {
	return map[string]string{
		"statement_timeout": milliseconds(cfg.ReadTimeout), "plan_cache_mode": "force_custom_plan",
		"max_parallel_workers_per_gather": "0",
	}
}

// connectionSettings let PostgreSQL notice that a server is gone, on every connection. The keepalives and tcp_user_timeout
// end a connection to a host that vanished within about half a minute instead of two hours; on a Unix socket they have no
// effect.
func connectionSettings() map[string]string {
	return map[string]string{
		"idle_in_transaction_session_timeout": idleInTransaction,
		"tcp_keepalives_idle":                 "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "4", "tcp_user_timeout": "30s",
	}
}

func openPools(ctx context.Context, cfg Config) (*pools, error) {
	base, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("read the database address: %w", err)
	}

	boundConnecting(base.ConnConfig, cfg.URL)

	// Only these two, besides what the address itself names: PgBouncer refuses start-up parameters that it does not track.
	params := base.ConnConfig.RuntimeParams
	if params["application_name"] == "" {
		params["application_name"] = "tarsy"
	}

	params["timezone"] = "UTC"

	var p pools

	for _, pool := range []struct {
		into     **pgxpool.Pool
		conns    int32
		settings map[string]string
	}{
		{&p.readers, cfg.MaxConns, readSettings(cfg)},
		{&p.front, frontConns, nil},
		{&p.work, workConns, workSettings()},
		{&p.jobs, jobConns, workSettings()},
		{&p.notes, noteConns, noteSettings()},
		{&p.alerts, alertConns, workSettings()},
	} {
		config := base.Copy()
		config.MaxConns = pool.conns
		config.AfterConnect = apply(params, pool.settings)

		*pool.into, err = pgxpool.NewWithConfig(ctx, config)
		if err != nil {
			p.close()

			return nil, fmt.Errorf("open the database: %w", err)
		}
	}

	return &p, nil
}

// boundConnecting sets the default limit. An address that names connect_timeout keeps it, also as 0, which means no limit.
func boundConnecting(config *pgx.ConnConfig, url string) {
	if config.ConnectTimeout == 0 && !strings.Contains(url, "connect_timeout") {
		config.ConnectTimeout = defaultConnectTimeout
	}
}

// connect opens one connection outside of the pools.
func connect(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database address: %w", err)
	}

	boundConnecting(config, url)

	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}

	return conn, nil
}

// apply sets up a new connection, in one round trip. What the address of the database names wins over our defaults.
func apply(fromAddress, settings map[string]string) func(context.Context, *pgx.Conn) error {
	all := connectionSettings()
	maps.Copy(all, settings)

	var sql strings.Builder

	for _, name := range slices.Sorted(maps.Keys(all)) {
		if fromAddress[name] == "" {
			fmt.Fprintf(&sql, "SET %s = '%s';", name, all[name])
		}
	}

	return func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.PgConn().Exec(ctx, sql.String()).ReadAll(); err != nil {
			return fmt.Errorf("set up a connection: %w", err)
		}

		return nil
	}
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%dms", max(1, d.Milliseconds())) }

func (p *pools) close() {
	for _, pool := range p.all() {
		pool.Close()
	}
}

// reset replaces all connections, those in use when they are given back. After a restart of the database each of them
// would fail one request.
func (p *pools) reset() {
	for _, pool := range p.all() {
		pool.Reset()
	}
}

func (p *pools) all() []*pgxpool.Pool {
	return slices.DeleteFunc([]*pgxpool.Pool{p.readers, p.front, p.work, p.jobs, p.notes, p.alerts}, func(pool *pgxpool.Pool) bool { return pool == nil })
}

// queryCanceled is the SQLSTATE of a statement that reached its time limit.
const queryCanceled = "57014"

// IsReadTimeout reports whether a statement ended because it reached Config.ReadTimeout.
func IsReadTimeout(err error) bool {
	pgErr, ok := errors.AsType[*pgError](err)

	return ok && pgErr.Code == queryCanceled
}
