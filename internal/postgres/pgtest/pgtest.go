// Package pgtest gives every test a database of its own on a real PostgreSQL server: a
// clone of a template that has all migrations.
//
// The server is a private one. Test processes that make test starts share that of their run, which ends with the run; others share
// one per user, and the last one to end stops it. A test package calls Main (or Run, or Wrap) from its TestMain. These variables choose the server:
//
//   - TARSY_PG_BIN is the directory of its programs; without it, the first one found.
//   - TARSY_TEST_POSTGRES=stock leaves its settings as PostgreSQL has them by default, and sorts by ICU's rules for English
//     where the server can; without it, the server is fast and sorts by bytes.
//   - TARSY_TEST_POSTGRES_MAJOR is the major version that the server must have; with another one, the tests fail.
//   - TARSY_TEST_RUN is the number of the process that runs the tests and that ends their server; without it, the server is shared.
//   - TARSY_TEST_DATABASE_URL names another server to use instead.
//
// Only tests may import this package. It knows the migrations and nothing of what they hold.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/postgres"
)

// startWithin bounds everything before the first database is there: finding or starting
// the server, waiting for another process that does, and building the template.
const startWithin = 3 * time.Minute

// kit is what this test process has in use. The functions of this package have no
// handle that could carry it from TestMain to the tests.
type kit struct {
	mu      sync.Mutex
	running bool // between the begin and the end of Run
	begun   bool // the first test that wanted a database has come
	server  *attachment
	run     *run
	failed  error
}

var shared kit

// TestingM is the part of *testing.M that is needed, and what goleak.VerifyTestMain takes.
type TestingM interface{ Run() int }

type suite struct{ tests TestingM }

// Wrap returns m with the release of the databases added to its Run, for
// goleak.VerifyTestMain(pgtest.Wrap(m)).
func Wrap(m TestingM) TestingM { return suite{tests: m} }

// Run runs the tests, drops what is left of their databases, and stops the server if
// no other process uses it. It returns the exit code.
func Run(m TestingM) int { return Wrap(m).Run() }

// Main is os.Exit(Run(m)).
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run implements TestingM.
func (s suite) Run() int {
	shared.begin()
	code := s.tests.Run()
	if err := shared.end(); err != nil {
		fmt.Fprintln(os.Stderr, "pgtest: release the test databases:", err)
		code = max(code, 1)
	}
	return code
}

// New returns the URL of a fresh database with the newest schema. It is dropped after the test.
func New(t testing.TB) string {
	t.Helper()
	current, err := shared.current()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	database, err := current.take(t.Context())
	if err != nil {
		t.Fatalf("pgtest: make a test database: %v", err)
	}
	t.Cleanup(func() { current.drops.add(database) })
	return current.url(database)
}

// Empty returns the URL of a fresh database without any schema. It is dropped after the test.
func Empty(t testing.TB) string {
	t.Helper()
	current, err := shared.current()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	database, err := current.makeEmpty(t.Context())
	if err != nil {
		t.Fatalf("pgtest: make an empty test database: %v", err)
	}
	t.Cleanup(func() { current.drops.add(database) })
	return current.url(database)
}

// Server returns the URL of the server's maintenance database, for tests that make databases themselves.
func Server(t testing.TB) string {
	t.Helper()
	current, err := shared.current()
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	return current.maintenance.String()
}

// IgnoreGoroutines are the goroutines of this package, which outlive single tests: options
// for goleak.VerifyNone inside a test. After Run none of them is left.
func IgnoreGoroutines() []goleak.Option {
	const name = "tarsy.dev/tarsy/internal/postgres/pgtest."
	return []goleak.Option{goleak.IgnoreAnyFunction(name + "(*run).fill"), goleak.IgnoreAnyFunction(name + "(*drops).work")}
}

func (k *kit) begin() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running = true
}

// current starts the run at the first call: a package whose database tests are all
// deselected pays nothing.
func (k *kit) current() (*run, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.running {
		return nil, errors.New("no run is open: call pgtest.Main, Run or Wrap from TestMain")
	}
	if !k.begun {
		k.begun = true
		k.failed = k.start()
	}
	return k.run, k.failed
}

func (k *kit) start() error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	wanted, err := readEnvironment(os.Getenv)
	if err != nil {
		return err
	}
	if k.server, err = attach(ctx, wanted); err != nil {
		return err
	}
	if err := wanted.checkMajor(ctx, k.server.url); err != nil {
		return err
	}
	k.run, err = newRun(ctx, k.server.url, schema{hash: postgres.MigrationsHash(), migrate: postgres.Migrate, icu: wanted.stock})
	return err
}

func (k *kit) end() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.running = false
	var failures []error
	if k.run != nil {
		failures = append(failures, k.run.close())
	}
	if k.server != nil {
		failures = append(failures, k.server.release())
	}
	return errors.Join(failures...)
}
