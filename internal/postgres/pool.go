package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The connections of one server, by pool. Connections are opened on demand and closed after half an hour of idling, so these are
// upper bounds. Three servers fit into PostgreSQL's default of 100 connections, of which superusers keep three, with some left
// for people and backups. docs/configuration.md states the total.
const (
	// defaultReaders is how many readers can query concurrently.
	defaultReaders = 7
	// frontConns serve key checks, browser sessions, requests and signals: short statements that callers wait for.
	frontConns = 4
	// workConns serve the committers, intake, the claimer, the renewal of leases, and one more that loads a session or sums up a budget.
	workConns = committers + 4
	// jobConns serve the job queue and the jobs of retention.
	jobConns = 4
	// noteConns serve notes: captures, the jobs that process them, decisions, and the journal.
	noteConns = 4
	// alertConns serve deliveries of alerts. Each waits for the decisions about alerts of the same groups, so they have their own pool.
	alertConns = 3
	// listeners receive signals from other servers, new jobs and new entries of the journal of notes. They are outside the pools:
	// the last two are taken out of theirs.
	listeners = 3
)

// ServerConnections is the maximum number of connections of one server.
const ServerConnections = defaultReaders + frontConns + workConns + jobConns + noteConns + alertConns + listeners

const (
	defaultReadTimeout = 10 * time.Second
	// defaultConnectTimeout bounds each attempt to connect, to each host of the address, unless the address sets connect_timeout.
	// The operating system would wait two minutes and more for a frozen host before the next one is tried.
	defaultConnectTimeout = 4 * time.Second
)

// pools separate what must not wait for each other. Readers can be slow, so they have their own pool with a statement time limit;
// nothing that a caller or the engine waits for shares it.
type pools struct {
	readers, front, work, jobs, notes, alerts *pgxpool.Pool

	refusals *refusals
}

func openPools(ctx context.Context, cfg Config) (*pools, error) {
	base, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("read the database address: %w", err)
	}

	boundConnecting(base.ConnConfig, cfg.URL)

	// Only these two, besides what the address itself names: PgBouncer rejects start-up parameters that it does not track.
	params := base.ConnConfig.RuntimeParams
	if params["application_name"] == "" {
		params["application_name"] = "tarsy"
	}

	params["timezone"] = "UTC"

	base.ConnConfig.BuildFrontend = newFrontend
	p := pools{refusals: &refusals{}}
	base.ConnConfig.OnPgError = p.refusals.noted(base.ConnConfig.OnPgError)

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
		config.ConnConfig.AfterConnect = p.refusals.cleared(apply(params, pool.settings))

		*pool.into, err = pgxpool.NewWithConfig(ctx, config)
		if err != nil {
			p.close()

			return nil, fmt.Errorf("open the database: %w", err)
		}
	}

	return &p, nil
}

// boundConnecting sets the default limit. An address with connect_timeout keeps its own, even 0, which means no limit.
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
	config.AfterConnect = apply(config.RuntimeParams, nil)

	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}

	return conn, nil
}

func (p *pools) close() {
	for _, pool := range p.all() {
		pool.Close()
	}
}

// reset replaces all connections, those in use when they are released. After a restart of the database each old one would fail
// one request.
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

// Jobs is the pool of job queues: they keep their tables in the same database, so that a job's result and its completion can be
// one transaction.
func (db *DB) Jobs() *pgxpool.Pool { return db.jobs }

// Notes is the pool of notes and their journal: see internal/note/store.
func (db *DB) Notes() *pgxpool.Pool { return db.notes }

// Alerts is the pool of deliveries of alerts: see internal/triage/store.
func (db *DB) Alerts() *pgxpool.Pool { return db.alerts }

// Readers is the pool of queries that a person waits for and that may be slow.
func (db *DB) Readers() *pgxpool.Pool { return db.readers }

// Front is the pool of short statements that callers wait for: key checks, decisions, announcements.
func (db *DB) Front() *pgxpool.Pool { return db.front }
