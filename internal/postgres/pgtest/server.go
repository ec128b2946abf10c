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

// stopWithin bounds the shutdown of a server that keeps nothing.
const stopWithin = time.Minute

// attachment is this process's share in a test server.
//
// Two lock files keep the processes in order. Whoever starts or stops the server holds
// "start" while doing so. Whoever uses the server holds "users" shared; who can take it
// alone, under "start", is the last one and stops the server. The kernel releases the
// locks of a killed process; the server it leaves is adopted by the next one.
type attachment struct {
	url   string
	dir   string   // empty for a server that is not ours
	users *os.File // holds the shared lock
	kept  bool     // whether whoever runs the tests ends it
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

// serversOf is the directory of the servers of a run, or of those that all share. Of a server that is shared nobody knows who ends it: whatever kills the
// run that started it may take it along, and the tests of the others fail.
func serversOf(run string) string {
	if run == "" {
		return home()
	}
	return filepath.Join(home(), "run-"+run)
}

// serverName is the name of the server's directory. Programs that somebody chose have a server of their own: a build without
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
	// memory is where Linux offers files in memory. A clone is three hundred files, and on a busy disk making them takes
	// longer than most tests do.
	memory = "/dev/shm"
	// memoryNeeded is far more than the databases of tests that run at once take.
	memoryNeeded = 4 << 30
)

// home is the directory of test servers: in memory if there is plenty, else in the user's cache.
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

// freeBytes is how many bytes a file system has left for us.
func freeBytes(path string) uint64 {
	var stat unix.Statfs_t
	if err := unix.Statfs(path, &stat); err != nil {
		return 0
	}
	return uint64(stat.Bavail) * uint64(stat.Bsize) //nolint:unconvert // the types differ between systems
}

// makePrivateDir makes a directory in a place that everybody may write to, and makes sure that it is ours.
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
		// Nobody uses it and it does not start: nothing in it is worth keeping.
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

// stockServer is a server with the settings that PostgreSQL has by default, as a database that is not ours has them.
func stockServer(dir, binDir string) private.Config {
	return private.Config{Dir: dir, BinDir: binDir, Stock: true}
}

// fastServer is a server that trades every safety against crashes for speed.
func fastServer(dir, binDir string) private.Config {
	return private.Config{Dir: dir, BinDir: binDir, Settings: map[string]string{
		"fsync":              "off",
		"synchronous_commit": "off",
		"full_page_writes":   "off",
		// All test runs of a user share the server, and each of their servers opens up to twenty connections.
		"max_connections": "2000",
		"shared_buffers":  "128MB",
		"jit":             "off",
		"wal_level":       "minimal",
		"max_wal_senders": "0",
		"max_wal_size":    "256MB",
		// Tests cause errors on purpose; the log is for the server's own.
		"log_min_messages": "fatal",
	}}
}

// release gives up the share, and stops the server if it was the last one.
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
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	return private.Shutdown(ctx, a.dir)
}

// alone turns the shared lock into an exclusive one, if nobody else has a share. That
// takes two steps for the kernel; the start lock keeps others from coming in between.
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

// unlock unlocks before it closes: a child that is just being started has a copy of the
// file until it runs its program, and closing alone would leave the lock with that copy.
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
