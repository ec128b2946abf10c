package private

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sys/unix"
)

// upgradePort is only part of the name of a socket: two servers run while one database is copied to the other.
const upgradePort = "5433"

// upgradeStopTimeout is how long a server may take to write everything to disk: longer than usual, because it has just been filled.
const upgradeStopTimeout = 5 * time.Minute

// UpgradeConfig configures an upgrade.
type UpgradeConfig struct {
	// Config is that of the data directory. Its BinDir is the directory of the new binaries; empty means the highest version found.
	Config
	// OldBinDir is the directory of binaries of the cluster's version; empty means to search for them.
	OldBinDir string
	// Move copies the database at one address to the empty one at the other, and verifies the copy. It may create a file at
	// scratch, which does not exist.
	Move func(ctx context.Context, from, to, scratch string) error

	// step is called with each step that is done, for tests; free returns how much space a disk has.
	step func(string)
	free func(dir string) (uint64, error)
}

// Upgraded is the result of an upgrade.
type Upgraded struct {
	// From and To are the versions. They have the same major version if there was nothing to do.
	From, To Binaries
	// Cluster is the directory of the database, Kept that of the previous one, and KeptBytes its size.
	Cluster   string
	Kept      string
	KeptBytes uint64
	// Databases are the other databases in the previous cluster. They are not moved.
	Databases []string
}

// upgrade is one run of Upgrade. It holds the data directory.
type upgrade struct {
	cfg      UpgradeConfig
	place    place
	password string
	major    int
	from, to Binaries
	others   []string
}

// Upgrade moves the database of a data directory to another major version of PostgreSQL. Until the copy is verified, the old
// cluster is unchanged, and a start uses it. If Upgrade is killed between the renames, the next start finishes them.
func Upgrade(ctx context.Context, cfg UpgradeConfig) (*Upgraded, error) {
	if _, err := os.Stat(cfg.Dir); err != nil {
		return nil, noDatabase(cfg.Dir)
	}
	var err error
	if cfg.Config, err = cfg.complete(); err != nil {
		return nil, err
	}
	if cfg.step == nil {
		cfg.step = func(string) {}
	}
	if cfg.free == nil {
		cfg.free = freeSpace
	}
	held, err := acquire(cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = held.release() }()
	u := &upgrade{cfg: cfg}
	if err := u.prepare(ctx); err != nil {
		return nil, err
	}
	if u.from.Major == u.to.Major {
		return &Upgraded{From: u.from, To: u.to, Cluster: u.place.cluster}, nil
	}
	return u.run(ctx)
}

// prepare finds the cluster and both sets of binaries.
func (u *upgrade) prepare(ctx context.Context) error {
	var (
		found bool
		err   error
	)
	if u.place, found, err = find(u.cfg.Dir); err != nil {
		return err
	}
	if found, err = u.place.settle(ctx, u.cfg.Progress, found); err != nil {
		return err
	}
	if !found {
		return noDatabase(u.cfg.Dir)
	}
	if u.place.account, err = ownerAccount(u.place.cluster); err != nil {
		return err
	}
	if u.password, err = u.place.readPassword(); err != nil {
		return err
	}
	if u.major, err = u.place.major(); err != nil {
		return err
	}
	return u.findBinaries()
}

func (u *upgrade) findBinaries() error {
	search := systemFinder(u.place.account)
	var err error
	if u.to, err = search.highest(u.cfg.BinDir); err != nil {
		return err
	}
	switch {
	case u.to.Major == u.major:
		u.from = u.to
		return nil
	case u.to.Major < u.major:
		return fmt.Errorf("the database in %s has PostgreSQL %d, and the newest programs are %s: a database is only moved to a newer version; install one, "+
			"or name its programs with --pg-bin", u.place.cluster, u.major, u.to)
	}
	if u.from, _, err = search.findMajor(u.cfg.OldBinDir, u.major); err != nil {
		return err
	}
	if u.from.Major != u.major {
		return fmt.Errorf("the database in %s has PostgreSQL %d, and moving it to PostgreSQL %d needs the programs of both versions: install PostgreSQL %d (%s), "+
			"or name its programs with --old-pg-bin", u.place.cluster, u.major, u.to.Major, u.major, howToInstall(u.major))
	}
	return nil
}

func (u *upgrade) run(ctx context.Context) (*Upgraded, error) {
	size, err := u.checkSpace()
	if err != nil {
		return nil, err
	}
	u.cfg.step("prepared")
	copied, err := u.copy(ctx)
	defer u.place.removeLeftovers()
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("the database was not upgraded and is as it was: %w", err)
	}
	kept, err := u.place.switchClusters(copied, u.major, u.cfg.step)
	if err != nil {
		return nil, err
	}
	u.cfg.step("done")
	return &Upgraded{From: u.from, To: u.to, Cluster: u.place.cluster, Kept: kept, KeptBytes: size, Databases: u.others}, nil
}

// copy creates a cluster of the new version with the data of the old one. When it returns, no server runs.
func (u *upgrade) copy(ctx context.Context) (directory string, err error) {
	u.cfg.Progress(fmt.Sprintf("starting the database with PostgreSQL %s…", u.from.Version))
	old := &Server{cfg: u.cfg.Config, place: u.place, password: u.password}
	old.cfg.BinDir = u.from.Dir
	if old.process, old.adopted, err = old.bringUp(ctx); err != nil {
		return "", err
	}
	defer func() { err = u.stop(ctx, old.process, err); u.cfg.step("old server stopped") }()
	if err := old.check(ctx); err != nil {
		return "", err
	}
	if u.others, err = otherDatabases(ctx, old.url("postgres")); err != nil {
		return "", err
	}
	u.cfg.step("old server started")

	fresh, err := u.newServer(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = u.stop(ctx, fresh.process, err); u.cfg.step("new server stopped") }()
	u.cfg.step("new server started")

	u.cfg.Progress("copying and verifying the data…")
	if err := u.cfg.Move(ctx, old.URL(), fresh.URL(), filepath.Join(u.place.root, unfinished+"copy")); err != nil {
		return "", err
	}
	u.cfg.step("data copied")
	u.cfg.Progress("stopping both servers…")
	return fresh.place.cluster, nil
}

func otherDatabases(ctx context.Context, url string) ([]string, error) {
	connection, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connect to the private PostgreSQL server: %w", err)
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }()
	rows, err := connection.Query(ctx, `SELECT datname::text FROM pg_database WHERE NOT datistemplate AND datname NOT IN ('postgres', $1) ORDER BY 1`, databaseName)
	if err != nil {
		return nil, fmt.Errorf("list the databases: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// newServer creates a cluster beside the old one, with the same password and locale, and starts it.
func (u *upgrade) newServer(ctx context.Context) (*Server, error) {
	u.cfg.Progress(fmt.Sprintf("creating a database cluster with PostgreSQL %s…", u.to.Version))
	directory, err := os.MkdirTemp(u.place.root, unfinished)
	if err != nil {
		return nil, fmt.Errorf("create the directory of the new database: %w", err)
	}
	fresh := &Server{cfg: u.cfg.Config, place: u.place, password: u.password}
	fresh.place.cluster = directory
	fresh.cfg.BinDir = u.to.Dir
	fresh.cfg.Settings = map[string]string{"port": upgradePort}
	maps.Copy(fresh.cfg.Settings, u.cfg.Settings)
	known, err := u.place.readRecord()
	if err != nil {
		return nil, err
	}
	if known.Locale == "" {
		known.Locale = wantedLocale
	}
	if _, err := fresh.initdbWith(ctx, u.to, directory, u.password, known.Locale); err != nil {
		return nil, err
	}
	u.cfg.step("new cluster created")
	if fresh.process, err = fresh.start(ctx); err != nil {
		return nil, err
	}
	if err := fresh.check(ctx); err != nil {
		_ = fresh.process.abandon(ctx)
		return nil, err
	}
	return fresh, nil
}

// stop stops a server, even after ctx has ended. A server that does not stop is an error too.
func (u *upgrade) stop(ctx context.Context, running *process, err error) error {
	running.patience = upgradeStopTimeout
	if stopErr := running.stop(context.WithoutCancel(ctx), u.cfg.Progress); err == nil {
		err = stopErr
	}
	if strings.HasPrefix(running.socketDir, "/tmp/tarsy-") {
		_ = os.Remove(running.socketDir) // it is not empty if another server uses it
	}
	return err
}

// checkSpace rejects an upgrade if the disk is too small for it, and returns the size of the cluster. The copy is about as large
// as the data, the file that it goes through is compressed, and both servers write a log of at most 1 GB.
func (u *upgrade) checkSpace() (uint64, error) {
	const gigabyte = 1 << 30
	data, log := treeSize(u.place.cluster)
	free, err := u.cfg.free(u.place.root)
	if err != nil {
		return 0, fmt.Errorf("ask for the free space in %s: %w", u.place.root, err)
	}
	if needed := data + data/2 + min(data, gigabyte); free < needed {
		return 0, fmt.Errorf("the disk of %s has %d MB free, and copying the database (%d MB) needs about %d MB: free some space and try again; nothing was changed",
			u.place.root, free>>20, data>>20, needed>>20)
	}
	return data + log, nil
}

// treeSize returns the size of the files of a cluster, with those of the write-ahead log counted separately.
func treeSize(cluster string) (data, log uint64) {
	_ = filepath.WalkDir(cluster, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			info, err := entry.Info()
			switch {
			case err != nil:
			case strings.HasPrefix(path, filepath.Join(cluster, "pg_wal")):
				log += uint64(info.Size())
			default:
				data += uint64(info.Size())
			}
		}
		return nil //nolint:nilerr // what a running server has just deleted takes no space
	})
	return data, log
}

func freeSpace(dir string) (uint64, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, err
	}
	return stat.Bavail * uint64(stat.Bsize), nil
}
