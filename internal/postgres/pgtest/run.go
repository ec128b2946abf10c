package pgtest

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy/internal/kit/slowness"
)

// databasePrefix is the prefix of the names of all databases of runs: tarsy_test_<run>_<name>.
const databasePrefix = "tarsy_test_"

// run is the databases of one test process. While it lives it holds an advisory lock on its id in the maintenance database. If
// the lock of a run is free, its process was killed, and the next run drops its databases.
type run struct {
	id          uint64
	maintenance *url.URL
	template    string
	strategy    string // of CREATE DATABASE
	locale      string // of CREATE DATABASE, for databases that are not clones
	drops       *drops
	empties     atomic.Int64

	// connection holds the lock, and after newRun only fill uses it.
	connection *pgx.Conn
	filling    sync.Once
	ready      chan made
	quit       chan struct{}
	filled     sync.WaitGroup
}

// made is a clone, or the error of making it.
type made struct {
	database string
	err      error
}

// newRun takes the run's lock, schedules the leftovers of dead runs to be dropped, and ensures that the template exists.
func newRun(ctx context.Context, server string, wanted schema) (*run, error) {
	maintenance, err := url.Parse(server)
	if err != nil || (maintenance.Scheme != "postgres" && maintenance.Scheme != "postgresql") {
		return nil, errors.New("the address of the test server must be a URL: postgres://user:password@host/database")
	}
	boundConnecting(maintenance)
	server = maintenance.String()
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, fmt.Errorf("choose a run id: %w", err)
	}
	begun := &run{
		id:          binary.BigEndian.Uint64(id[:]),
		maintenance: maintenance,
		template:    templatePrefix + wanted.hash,
		// One clone waits in the channel, and fill holds a second one.
		ready: make(chan made, 1),
		quit:  make(chan struct{}),
	}
	if begun.connection, err = pgx.Connect(ctx, server); err != nil {
		return nil, fmt.Errorf("connect to the test server: %w", err)
	}
	if err := begun.prepare(ctx, wanted); err != nil {
		_ = begun.connection.Close(context.Background())
		return nil, err
	}
	return begun, nil
}

// connectWithin is how long an attempt to connect may take on an idle machine. The default of TARSy is a few seconds, which a server
// that copies databases and starts dozens of processes at once can need on a busy one.
const connectWithin = 30 * time.Second

// boundConnecting adds the time limit of tests to an address, unless it has one.
func boundConnecting(server *url.URL) {
	query := server.Query()
	if query.Has("connect_timeout") {
		return
	}
	query.Set("connect_timeout", strconv.Itoa(int(slowness.Scale(connectWithin).Seconds())))
	server.RawQuery = query.Encode()
}

func (r *run) prepare(ctx context.Context, wanted schema) error {
	if _, err := r.connection.Exec(ctx, "SELECT pg_advisory_lock($1)", lockKey(r.id)); err != nil {
		return fmt.Errorf("take the lock of the run: %w", err)
	}
	// Copying files needs a checkpoint, which costs nothing without fsync: then it takes half the time of the default strategy.
	var unforced bool
	const ask = "SELECT current_setting('fsync') = 'off' AND current_setting('server_version_num')::int >= 150000"
	if err := r.connection.QueryRow(ctx, ask).Scan(&unforced); err != nil {
		return fmt.Errorf("ask the test server for its settings: %w", err)
	}
	if unforced {
		r.strategy = " STRATEGY file_copy"
	}
	if wanted.icu {
		const ask = "SELECT current_setting('server_version_num')::int >= 150000 AND EXISTS (SELECT FROM pg_collation WHERE collprovider = 'i')"
		var able bool
		if err := r.connection.QueryRow(ctx, ask).Scan(&able); err != nil {
			return fmt.Errorf("ask the test server for ICU: %w", err)
		}
		if able {
			r.locale = " LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"
		}
	}
	leftovers, err := r.leftovers(ctx)
	if err != nil {
		return fmt.Errorf("look for databases of killed runs: %w", err)
	}
	if err := r.ensureTemplate(ctx, wanted); err != nil {
		return err
	}
	if r.drops, err = startDrops(ctx, r.maintenance.String()); err != nil {
		return err
	}
	for _, database := range leftovers {
		r.drops.add(database)
	}
	return nil
}

// leftovers lists the databases of dead runs. It keeps their locks until this run ends, so that no other run drops the same ones.
func (r *run) leftovers(ctx context.Context) ([]string, error) {
	rows, err := r.connection.Query(ctx, "SELECT datname FROM pg_database WHERE starts_with(datname, $1)", databasePrefix)
	if err != nil {
		return nil, err
	}
	databases, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	dead := map[uint64]bool{}
	var found []string
	for _, database := range databases {
		text, _, _ := strings.Cut(strings.TrimPrefix(database, databasePrefix), "_")
		id, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			continue // not one of our names
		}
		if _, known := dead[id]; !known {
			var taken bool
			if err := r.connection.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", lockKey(id)).Scan(&taken); err != nil {
				return nil, err
			}
			// A session can take its own lock again; its own databases are not dead.
			dead[id] = taken && id != r.id
		}
		if dead[id] {
			found = append(found, database)
		}
	}
	return found, nil
}

// lockKey converts an id to a key of PostgreSQL's advisory locks, which are signed.
func lockKey(id uint64) int64 { return int64(id) }

func (r *run) database(name string) string {
	return fmt.Sprintf("%s%016x_%s", databasePrefix, r.id, name)
}

func (r *run) url(database string) string {
	address := *r.maintenance
	address.Path = "/" + database
	return address.String()
}

// take returns a clone, usually one made in advance.
func (r *run) take(ctx context.Context) (string, error) {
	r.filling.Do(func() { r.filled.Go(r.fill) })
	select {
	case clone := <-r.ready:
		return clone.database, clone.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// makeEmpty creates a database without any schema, on a separate connection: the run's belongs to fill.
func (r *run) makeEmpty(ctx context.Context) (string, error) {
	connection, err := pgx.Connect(ctx, r.maintenance.String())
	if err != nil {
		return "", fmt.Errorf("connect to the test server: %w", err)
	}
	defer connection.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was left undone on it
	database := r.database("empty" + strconv.FormatInt(r.empties.Add(1), 10))
	_, err = connection.Exec(ctx, "CREATE DATABASE "+quote(database)+" TEMPLATE template0"+r.locale+r.strategy)
	return database, err
}

// fill makes clones, one at a time, as they are taken. The calls are not cancelled: a half-made clone is a leftover, and each
// takes only a moment.
func (r *run) fill() {
	for number := 1; ; number++ {
		clone := made{database: r.database(strconv.Itoa(number))}
		_, clone.err = r.connection.Exec(context.Background(),
			"CREATE DATABASE "+quote(clone.database)+" TEMPLATE "+quote(r.template)+r.strategy)
		select {
		case r.ready <- clone:
		case <-r.quit:
			if clone.err == nil {
				r.drops.add(clone.database)
			}
			return
		}
	}
}

// close ends the goroutines, drops clones that were not taken, and releases the run's lock.
func (r *run) close() error {
	close(r.quit)
	r.filled.Wait()
	select {
	case clone := <-r.ready:
		if clone.err == nil {
			r.drops.add(clone.database)
		}
	default:
	}
	dropErr := r.drops.finish()
	if err := r.connection.Close(context.Background()); err != nil && dropErr == nil {
		return fmt.Errorf("leave the test server: %w", err)
	}
	return dropErr
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
