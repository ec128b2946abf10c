package postgres_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

func TestPgBouncerSharingBackendsIsRefusedAtStartup(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for _, mode := range []string{"transaction", "statement"} {
		began := time.Now()
		_, err := postgres.Open(t.Context(), postgres.Config{URL: f.bouncer(t, mode), Migrate: true, Wait: storetest.Patience})
		require.ErrorContains(t, err, "set pool_mode = session for this database, or use an address that leads to PostgreSQL itself", mode)
		require.Less(t, time.Since(began), storetest.Patience, "nobody waits for what only a person can fix")
	}
}

func TestPgBouncerInSessionModeRunsSessions(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.ServerAt(t, f.bouncer(t, "session"))

	for range 3 {
		session := f.Finished(t, db, tarsy.SessionCompleted)

		detail, err := db.SessionDetail(t.Context(), session.ID)
		require.NoError(t, err)
		require.Equal(t, tarsy.SessionCompleted, detail.Status)
	}

	claim := f.Hold(t, db)
	_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("step", 2)})
	require.NoError(t, err)
}

// bouncer starts PgBouncer in front of the database, on loopback, and returns the address through it.
func (f *fixture) bouncer(t *testing.T, mode string) string {
	t.Helper()

	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
		if _, err = os.Stat(program); err != nil {
			t.Skip("pgbouncer is not installed")
		}
	}

	// The database may listen on a Unix socket that PgBouncer's user cannot reach.
	_, direct := newProxy(t, f)
	config, err := pgx.ParseConfig(direct)
	require.NoError(t, err)

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)

	address := listener.Addr().(*net.TCPAddr)
	require.NoError(t, listener.Close())

	// t.TempDir is not accessible to the other user that PgBouncer requires.
	dir, err := os.MkdirTemp("", "tarsy-pgbouncer-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })

	file := filepath.Join(dir, "pgbouncer.ini")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, `[databases]
%s = host=%s port=%d dbname=%s user=%s password='%s'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
server_tls_sslmode = disable
auth_type = any
pool_mode = %s
default_pool_size = 30
`, config.Database, config.Host, config.Port, config.Database, config.User, config.Password, address.Port, mode), 0o600))

	command := exec.CommandContext(t.Context(), program, "-q", file)
	command.Stderr = os.Stderr

	if os.Geteuid() == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Credential: unprivileged(t, dir, file)}
	}

	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})

	f.Awaitf(t, func() bool {
		conn, err := net.Dial("tcp", address.String())
		if err == nil {
			_ = conn.Close()
		}

		return err == nil
	}, "pgbouncer to listen")

	through := url.URL{Scheme: "postgres", User: url.User(config.User), Host: address.String(), Path: "/" + config.Database, RawQuery: "sslmode=disable"}

	return through.String()
}

// unprivileged gives files to a user other than root, and returns that user.
func unprivileged(t *testing.T, files ...string) *syscall.Credential {
	t.Helper()

	account, err := user.Lookup("nobody")
	require.NoError(t, err)

	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	require.NoError(t, err)
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	require.NoError(t, err)

	for _, file := range files {
		require.NoError(t, os.Chown(file, int(uid), int(gid)))
	}

	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
