package e2e

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/tarsytest"
)

// defaultConnections is PostgreSQL's default limit without the connections reserved for superusers.
const defaultConnections = 97

// limitedRole is a role with the rights of the tests' role, but a limited number of connections. A superuser would have any number.
type limitedRole struct {
	t        *testing.T
	admin    *pgx.Conn
	name     string
	database string
}

func newLimitedRole(t *testing.T, connections int) *limitedRole {
	t.Helper()

	database := pgtest.New(t)
	address, err := url.Parse(database)
	require.NoError(t, err)

	admin, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)

	r := &limitedRole{t: t, admin: admin, name: "limited_" + strings.ReplaceAll(ident.New(), "-", "")[16:]}

	r.exec(fmt.Sprintf("CREATE ROLE %s LOGIN PASSWORD 'limited' IN ROLE %s", r.name, pgx.Identifier{address.User.Username()}.Sanitize()))
	t.Cleanup(func() {
		r.exec("DROP OWNED BY " + r.name)
		r.exec("DROP ROLE " + r.name)
		require.NoError(t, admin.Close(context.Background()))
	})
	r.limit(connections)

	address.User = url.UserPassword(r.name, "limited")
	r.database = address.String()

	return r
}

func (r *limitedRole) exec(sql string) {
	r.t.Helper()

	_, err := r.admin.Exec(context.Background(), sql)
	require.NoError(r.t, err, sql)
}

func (r *limitedRole) limit(connections int) {
	r.t.Helper()
	r.exec(fmt.Sprintf("ALTER ROLE %s CONNECTION LIMIT %d", r.name, connections))
}

// count returns the role's number of connections, and how many of them wait for a lock.
func (r *limitedRole) count() (all, blocked int) {
	r.t.Helper()

	const sql = `SELECT count(*), count(*) FILTER (WHERE wait_event_type = 'Lock') FROM pg_stat_activity WHERE usename = $1`
	require.NoError(r.t, r.admin.QueryRow(context.Background(), sql, r.name).Scan(&all, &blocked))

	return all, blocked
}

// lock locks tables exclusively until unlock is called.
func (r *limitedRole) lock(tables string) (unlock func()) {
	r.t.Helper()

	// This needs a separate connection: within a transaction, pg_stat_activity does not change.
	conn, err := pgx.ConnectConfig(context.Background(), r.admin.Config())
	require.NoError(r.t, err)

	_, err = conn.Exec(context.Background(), "BEGIN; LOCK TABLE "+tables+" IN ACCESS EXCLUSIVE MODE")
	require.NoError(r.t, err)

	return func() { require.NoError(r.t, conn.Close(context.Background())) }
}

func TestServerIsNotReadyWhileDatabaseHasNoConnectionsLeft(t *testing.T) {
	t.Parallel()

	role := newLimitedRole(t, -1)
	app := tarsytest.New(t, tarsytest.Options{Database: role.database})
	require.Equal(t, http.StatusOK, probe(t, app.URL+"/readyz"))

	// Reads of the list wait for the lock, so each further reader needs another connection.
	unlock := role.lock("session_list")
	all, _ := role.count()
	role.limit(all)

	var (
		refused errgroup.Group
		enough  = make(chan struct{})
	)

	// They repeat their requests: a read that waits too long ends, and then needs no connection any more.
	for range postgres.ServerConnections {
		refused.Go(func() error {
			for {
				app.Do(http.MethodGet, "/api/v1/sessions", nil)

				select {
				case <-enough:
					return nil
				default:
				}
			}
		})
	}

	awaitProbe(t, app.URL+"/readyz", http.StatusServiceUnavailable)
	require.Contains(t, string(app.Do(http.MethodGet, "/readyz", nil).Body), "The database has no connections left.")
	require.Equal(t, http.StatusOK, probe(t, app.URL+"/livez"))

	close(enough)
	unlock()
	require.NoError(t, refused.Wait())
	role.limit(-1)
	awaitProbe(t, app.URL+"/readyz", http.StatusOK)
	require.Equal(t, http.StatusOK, app.Do(http.MethodGet, "/api/v1/sessions", nil).Status)
}

// Everything that servers do in parallel needs no more connections than PostgreSQL has by default. The test is not
// parallel: on a server with default settings, other tests would get no connections.
func TestThreeServersWorkWithDefaultConnections(t *testing.T) {
	role := newLimitedRole(t, defaultConnections)

	var servers []*tarsytest.App
	for range 3 {
		// Reads wait as long as the tables are locked.
		servers = append(servers, startServer(t, role.database, "worker_count: 5}\nsystem: {query_timeout: 60s", nil))
	}

	unlock := role.lock("sessions, session_list, notes, alert_groups")

	var requests errgroup.Group

	send := func(server *tarsytest.App, method, path string, body any, status int) {
		requests.Go(func() error {
			if got := server.Do(method, path, body); got.Status != status {
				return fmt.Errorf("%s %s: %d %s", method, path, got.Status, got.Body)
			}

			return nil
		})
	}

	// More requests of each kind than a server has connections for.
	const each = 10

	for n, server := range servers {
		for i := range each {
			name := fmt.Sprintf("alert %d of server %d", i, n)
			send(server, http.MethodGet, "/api/v1/sessions?author="+fmt.Sprint(i), nil, http.StatusOK)
			send(server, http.MethodPost, "/api/v1/alerts", map[string]any{"alert_type": "test", "data": name}, http.StatusAccepted)
			send(server, http.MethodPost, "/api/v1/notes", map[string]any{"content": name, "source": "cli"}, http.StatusCreated)
			send(server, http.MethodPost, "/api/v1/webhooks/alertmanager/default", notification(fires(fmt.Sprint("Alert", n), fmt.Sprint("ns", i), "pod")), http.StatusOK)
			send(server, http.MethodPost, "/api/v1/sessions/"+ident.New()+"/cancel", nil, http.StatusNotFound)
		}
	}

	// All readers of all servers wait, and other connections too.
	const blocked = 3 * (7 + 1)

	var all int

	awaitBlocked := func() bool {
		connections, waiting := role.count()
		all = max(all, connections)

		return waiting >= blocked
	}
	release := sync.OnceFunc(unlock)
	defer release() // if the wait fails

	wait.Until(t, fmt.Sprintf("%d connections to wait", blocked), awaitBlocked)

	require.LessOrEqual(t, all, 3*postgres.ServerConnections)

	release()
	require.NoError(t, requests.Wait(), "nothing was refused")

	for _, server := range servers {
		require.Equal(t, http.StatusOK, probe(t, server.URL+"/readyz"))
	}
}
