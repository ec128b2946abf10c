// Package pgtest gives every test its own database on a real PostgreSQL server: a clone of a template that has all migrations.
//
// The server is a private one. Test processes started by make test share the server of their run, which ends with the run; others
// share one per user, and the last one to end stops it. A test package calls Main (or Run, or Wrap) from its TestMain. These
// environment variables choose the server:
//
//   - TARSY_PG_BIN is the directory of its programs; without it, the first one found.
//   - TARSY_TEST_POSTGRES=stock leaves its settings as PostgreSQL has them by default, and sorts by ICU's rules for English
//     where the server can; without it, the server is fast and sorts by bytes.
//   - TARSY_TEST_POSTGRES_MAJOR is the major version that the server must have; with another one, the tests fail.
//   - TARSY_TEST_RUN is the id of the process that runs the tests and stops their server; without it, the server is shared.
//   - TARSY_TEST_DATABASE_URL names another server to use instead.
//
// Only tests may import this package. It knows the migrations, but nothing about their contents.
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

// startWithin bounds everything before the first database exists: finding or starting the server, waiting for another process
// that does, and building the template.
const startWithin = 3 * time.Minute

// state is what this test process uses. It is global, because nothing carries it from TestMain to the tests.
type state struct {
	mu      sync.Mutex
	running bool // while Run runs
	begun   bool // a test has requested a database
	server  *attachment
	run     *run
	failed  error
}

var shared state

// TestingM is the part of *testing.M that is needed, and what goleak.VerifyTestMain takes.
type TestingM interface{ Run() int }

type suite struct{ tests TestingM }

// Wrap returns m with a Run that also releases the databases, for goleak.VerifyTestMain(pgtest.Wrap(m)).
func Wrap(m TestingM) TestingM { return suite{tests: m} }

// Run runs the tests, drops their remaining databases, and stops the server if no other process uses it. It returns the exit code.
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

// IgnoreGoroutines returns options for goleak.VerifyNone inside a test, which ignore the goroutines of this package: they outlive
// single tests. After Run none of them is left.
func IgnoreGoroutines() []goleak.Option {
	const name = "tarsy.dev/tarsy/internal/postgres/pgtest."
	return []goleak.Option{goleak.IgnoreAnyFunction(name + "(*run).fill"), goleak.IgnoreAnyFunction(name + "(*drops).work")}
}

func (s *state) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = true
}

// current starts the run on the first call: a package whose database tests are all deselected pays nothing.
func (s *state) current() (*run, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running {
		return nil, errors.New("no run is open: call pgtest.Main, Run or Wrap from TestMain")
	}
	if !s.begun {
		s.begun = true
		s.failed = s.start()
	}
	return s.run, s.failed
}

func (s *state) start() error {
	ctx, cancel := context.WithTimeout(context.Background(), startWithin)
	defer cancel()
	wanted, err := readEnvironment(os.Getenv)
	if err != nil {
		return err
	}
	if s.server, err = attach(ctx, wanted); err != nil {
		return err
	}
	if err := wanted.checkMajor(ctx, s.server.url); err != nil {
		return err
	}
	s.run, err = newRun(ctx, s.server.url, schema{hash: postgres.MigrationsHash(), migrate: postgres.Migrate, icu: wanted.stock})
	return err
}

func (s *state) end() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
	var failures []error
	if s.run != nil {
		failures = append(failures, s.run.close())
	}
	if s.server != nil {
		failures = append(failures, s.server.release())
	}
	return errors.Join(failures...)
}
