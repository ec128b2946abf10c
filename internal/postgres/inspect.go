package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Level is the severity of an observation.
type Level string

// The levels of observations.
const (
	LevelOK   Level = "ok"
	LevelWarn Level = "warn"
	LevelFail Level = "fail"
)

// Observation is what a check of a PostgreSQL server found. Its texts contain names chosen by others, and must be sanitized
// before they are printed on a terminal.
type Observation struct {
	// Check is the name of the check. It is empty for the summary, and if the server was not reached.
	Check  string
	Level  Level
	Found  string
	Advice string
}

// inspectTimeout bounds a whole inspection, regardless of time limits in the address.
const inspectTimeout = 10 * time.Second

var errNoAnswer = errors.New("the server did not respond in time")

// Inspect checks the settings of the server, the database and the role at url that matter to TARSy, and changes nothing. It
// returns a summary, then one observation for each check that has something to report. An unusable server is an observation as
// well; the error is for an address that cannot be parsed, and for a canceled ctx.
func Inspect(ctx context.Context, url string) ([]Observation, error) {
	return inspect(ctx, url, inspectTimeout)
}

func inspect(ctx context.Context, url string, patience time.Duration) ([]Observation, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errBadURL
	}

	inspecting, cancel := context.WithTimeoutCause(ctx, patience, errNoAnswer)
	defer cancel()

	seen, err := gather(inspecting, config, url)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}

	if err != nil && inspecting.Err() != nil {
		err = errNoAnswer
	}

	if err != nil {
		return []Observation{unreachable(err)}, nil
	}

	return seen.judge(), nil
}

// gather connects once, or twice if there may be a pooler in between, and reads all facts in one transaction.
func gather(ctx context.Context, config *pgxpool.Config, url string) (*facts, error) {
	params := config.ConnConfig.RuntimeParams
	seen := &facts{Address: params}

	if params["application_name"] == "" {
		params["application_name"] = "tarsy"
	}

	boundConnecting(config.ConnConfig, url)

	// Two connections are enough to compare. Simple queries leave nothing on a connection that a pooler gives to others.
	config.MaxConns, config.MinConns, config.MinIdleConns = 2, 0, 0
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	config.ConnConfig.DialFunc = dialWithin(ctx)

	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	defer pool.Close()

	conn, err := pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Release()

	seen.Host = hosts(pool)
	seen.encryption(conn.Conn().PgConn().Conn())

	err = checkPooler(ctx, pool, conn)
	if errors.Is(err, errSharedBackend) {
		seen.SharedBackend = true

		return seen, nil
	}

	if err != nil {
		return nil, err
	}

	return seen, pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error { return seen.read(ctx, tx) })
}

// dialWithin dials connections that close when ctx ends. The driver itself would wait another 15 seconds after a server has
// fallen silent.
func dialWithin(ctx context.Context) pgconn.DialFunc {
	var dialer net.Dialer

	return func(dialing context.Context, network, address string) (net.Conn, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}

		conn, err := dialer.DialContext(dialing, network, address)
		if err != nil {
			return nil, err
		}

		context.AfterFunc(ctx, func() { _ = conn.Close() })

		return conn, nil
	}
}

// encryption records how the connection reaches the server or the pooler in front of it, because PostgreSQL reports only its own end.
func (f *facts) encryption(conn net.Conn) {
	remote, overTCP := conn.RemoteAddr().(*net.TCPAddr)
	_, encrypted := conn.(*tls.Conn)

	f.Encrypted = encrypted
	f.Remote = overTCP && !remote.IP.IsLoopback()
}

// connectAdvice is the advice for a server that refuses connections, by prefix of the SQLSTATE.
var connectAdvice = []struct{ state, advice string }{
	{"28P01", "check the user and the password in the address"},
	{"28", "check the user in the address, and pg_hba.conf of the server; if it demands encryption, add sslmode=require to the address"},
	{"3D000", "create the database, or correct its name in the address"},
	{"42501", "grant the role CONNECT on the database, or correct the address"},
	{"53", "the server has no connections left: end some, or raise max_connections or the limit of the role or database"},
	{"57P03", "the server is starting, stopping or recovering: try again, and check its log if this persists"},
	{"55000", "the database accepts no connections: ALTER DATABASE … ALLOW_CONNECTIONS true, or correct the address"},
	{"57014", "a time limit of the role or database ends short queries: raise statement_timeout"},
}

// unreachable reports why there are no facts. It repeats neither the address nor the start of pgx's text: in a mistyped address,
// a password can end up as the user or the database.
func unreachable(err error) Observation {
	seen := Observation{Level: LevelFail, Found: err.Error(), Advice: "check host and port of the address, that PostgreSQL runs there, and that this machine can reach it"}

	if !IsUnavailable(err) && !errors.Is(err, errNoAnswer) {
		seen.Advice = "see the log of the server"
	}

	if failed, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		seen.Found = eachOnce(failed.Unwrap().Error())
	}

	answer, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return seen
	}

	seen.Found = answer.Message
	seen.Advice = "see the log of the server"

	for _, known := range connectAdvice {
		if strings.HasPrefix(answer.Code, known.state) {
			seen.Advice = known.advice

			break
		}
	}

	return seen
}

// eachOnce joins lines, dropping consecutive duplicates: with sslmode=prefer each host is tried twice.
func eachOnce(lines string) string {
	var all []string

	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" && (len(all) == 0 || all[len(all)-1] != line) {
			all = append(all, line)
		}
	}

	return strings.Join(all, "; ")
}
