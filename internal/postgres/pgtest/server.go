package pgtest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"tarsy.dev/tarsy/internal/postgres/private"
)

// stopTimeout bounds the shutdown of a server whose data is disposable.
const stopTimeout = time.Minute

// attachment is this process's share in a test server.
//
// Two lock files coordinate the processes. A process holds "start" while it starts or stops the server, and "users", shared,
// while it uses it. One that can take "users" exclusively, while it holds "start", is the last one and stops the server. The
// kernel releases the locks of a killed process; the next process adopts the server that it leaves.
type attachment struct {
	url   string
	dir   string   // empty for a server that is not ours
	users *os.File // holds the shared lock
	kept  bool     // whether the process that runs the tests stops it
}

// attach returns the server that tests use, started if necessary.
func attach(ctx context.Context, wanted environment) (*attachment, error) {
	if wanted.url != "" {
		return &attachment{url: wanted.url}, nil
	}
	binaries, err := private.Find(wanted.binDir)
	if err != nil {
		return nil, fmt.Errorf("%w; or set TARSY_TEST_DATABASE_URL to a server where tests may create databases", err)
	}
	dir := filepath.Join(serversOf(wanted.run), serverName(binaries, wanted))
	config := fastServer(dir, wanted.binDir)
	if wanted.stock {
		config = stockServer(dir, wanted.binDir)
	}
	attached, err := attachTo(ctx, config)
	if err == nil && wanted.run != "" {
		attached.kept = true
	}
	return attached, err
}

// serversOf is the directory of the servers of a run, or of the shared ones if run is empty. It is unknown who ends a shared server:
// whatever kills the run that started it may kill it too, and the tests of the others fail.
func serversOf(run string) string {
	if run == "" {
		return home()
	}
	return filepath.Join(home(), "run-"+run)
}

// serverName is the name of the server's directory. Programs that were chosen explicitly get their own server: a build without
// lz4 cannot use the templates of another build of the same version that has it.
func serverName(binaries private.Binaries, wanted environment) string {
	name := "test-postgres-" + strconv.Itoa(binaries.Major)
	if wanted.stock {
		name += "-stock"
	}
	if wanted.binDir != "" {
		hash := sha256.Sum256([]byte(binaries.Dir))
		name += "-" + hex.EncodeToString(hash[:4])
	}
	return name
}

const (
	// memory is where Linux has files in memory. A clone is three hundred files, and on a busy disk creating them takes longer
	// than most tests.
	memory = "/dev/shm"
	// memoryNeeded is far more than the databases of concurrent tests take.
	memoryNeeded = 4 << 30
)

// home is the directory of test servers: in memory if there is enough, otherwise in the user's cache.
func home() string {
	own := filepath.Join(memory, "tarsy-"+strconv.Itoa(os.Getuid()))
	if freeBytes(memory) >= memoryNeeded && makePrivateDir(own) {
		return own
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = filepath.Join(os.TempDir(), "tarsy-cache-"+strconv.Itoa(os.Getuid()))
	}
	return filepath.Join(cache, "tarsy")
}

// freeBytes returns how many bytes a file system has left for us.
func freeBytes(path string) uint64 {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return 0
	}
	return uint64(stat.Bavail) * uint64(stat.Bsize) //nolint:unconvert // the types differ between systems
}

// makePrivateDir creates a directory in a place that everybody can write to, and reports whether it is ours.
func makePrivateDir(dir string) bool {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return false
	}
	var stat unix.Stat_t
	return unix.Lstat(dir, &stat) == nil && int(stat.Uid) == os.Getuid() && stat.Mode&unix.S_IFMT == unix.S_IFDIR
}

func attachTo(ctx context.Context, server private.Config) (*attachment, error) {
	dir := server.Dir
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create the directory of the test server: %w", err)
	}
	start, err := lockFile(filepath.Join(dir, "start.lock"), unix.LOCK_EX)
	if err != nil {
		return nil, err
	}
	defer unlock(start)
	users, err := lockFile(filepath.Join(dir, "users.lock"), unix.LOCK_SH)
	if err != nil {
		return nil, err
	}
	opened, err := private.Open(ctx, server)
	if err != nil && alone(users) {
		// No other process uses it and it does not start: nothing in it is worth keeping.
		if wipeErr := private.Remove(ctx, dir); wipeErr != nil {
			err = errors.Join(err, wipeErr)
		} else {
			opened, err = private.Open(ctx, server)
		}
	}
	if err == nil {
		err = relock(users, unix.LOCK_SH)
	}
	if err != nil {
		unlock(users)
		return nil, fmt.Errorf("start the test server: %w", err)
	}
	if err := opened.Detach(); err != nil {
		unlock(users)
		return nil, err
	}
	return &attachment{url: opened.URL(), dir: dir, users: users}, nil
}

// stockServer has PostgreSQL's default settings, as databases that are not ours do.
func stockServer(dir, binDir string) private.Config {
	return private.Config{Dir: dir, BinDir: binDir, Stock: true}
}

// fastServer trades all crash safety for speed.
func fastServer(dir, binDir string) private.Config {
	return private.Config{Dir: dir, BinDir: binDir, Settings: map[string]string{
		"fsync":              "off",
		"synchronous_commit": "off",
		"full_page_writes":   "off",
		// All test runs of a user share the server, and each of their servers opens up to postgres.ServerConnections connections.
		"max_connections": "2000",
		"shared_buffers":  "128MB",
		"jit":             "off",
		"wal_level":       "minimal",
		"max_wal_senders": "0",
		"max_wal_size":    "256MB",
		// Tests cause errors on purpose, which need not be in the log.
		"log_min_messages": "fatal",
	}}
}

// release releases the share, and stops the server if it was the last one.
func (a *attachment) release() error {
	if a.dir == "" {
		return nil
	}
	defer unlock(a.users)
	if a.kept {
		return nil
	}
	start, err := lockFile(filepath.Join(a.dir, "start.lock"), unix.LOCK_EX)
	if err != nil {
		return err
	}
	defer unlock(start)
	if !alone(a.users) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return private.Shutdown(ctx, a.dir)
}

// alone converts the shared lock to an exclusive one if no other process has a share. The kernel does that in two steps; the
// start lock keeps others out in between.
func alone(users *os.File) bool {
	return relock(users, unix.LOCK_EX|unix.LOCK_NB) == nil
}

func lockFile(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open a lock of the test server: %w", err)
	}
	if err := relock(file, how); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// unlock unlocks before it closes: a child process that is being started has a copy of the file until it executes its program,
// and closing alone would leave the lock with that copy.
func unlock(file *os.File) {
	_ = relock(file, unix.LOCK_UN)
	_ = file.Close()
}

func relock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how)
		if err == nil {
			return nil
		}
		if !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("lock %s: %w", file.Name(), err)
		}
	}
}
