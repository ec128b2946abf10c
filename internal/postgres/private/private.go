// Package private runs the PostgreSQL server that tarsy starts for itself if it is given no database: it finds server binaries,
// creates a cluster in the data directory, starts the server on a Unix socket and stops it again.
//
// It knows processes, files and users of the operating system. It must not know tarsy's schema, its migrations or who uses the database.
package private

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// userName and databaseName are the role and the database that tarsy uses.
const (
	userName     = "tarsy"
	databaseName = "tarsy"
)

// Config configures where the server's files are and how it is run.
type Config struct {
	// Dir is tarsy's data directory. The cluster is in Dir/postgres or, if tarsy runs as root and the server's user cannot reach
	// Dir, in a place recorded in Dir.
	Dir string
	// BinDir is the directory of the server binaries; empty means to search for them.
	BinDir string
	// Settings are server settings that override the defaults. They apply from a start on: an adopted server keeps those that it
	// was started with.
	Settings map[string]string
	// Stock omits the default settings: the server has those that initdb and PostgreSQL choose, except for where it listens.
	// Tests use it, because databases that are not ours have these.
	Stock bool
	// Progress receives a line about each operation that may take longer than a moment; nil discards it.
	Progress func(string)
	// Logger receives what is of use to an operator; nil discards it.
	Logger *slog.Logger
}

// Server is a running private PostgreSQL server whose data directory this process holds.
type Server struct {
	cfg      Config
	lock     *lock
	place    place
	password string
	adopted  bool
	version  string

	mu         sync.Mutex
	process    *process
	supervisor *supervisor // nil unless Supervise was called

	closing sync.Once
	closed  error
}

// Open locks the data directory and returns when its server accepts connections: one left running by a killed tarsy, or one
// started now, on a new cluster if there was none.
func Open(ctx context.Context, cfg Config) (*Server, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	held, err := acquire(cfg.Dir)
	if err != nil {
		return nil, err
	}
	server := &Server{cfg: cfg, lock: held}
	if err := server.open(ctx); err != nil {
		_ = held.release()
		return nil, err
	}
	return server, nil
}

// complete fills in defaults and creates the data directory.
func (c Config) complete() (Config, error) {
	if c.Dir == "" {
		return c, fmt.Errorf("no data directory was given for the private PostgreSQL server")
	}
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return c, fmt.Errorf("find the data directory %s: %w", c.Dir, err)
	}
	// As root, create a directory that the server's user can enter; the secrets in it are 0600 files.
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o755
	}
	if err := os.MkdirAll(dir, mode); err != nil {
		return c, fmt.Errorf("create the data directory: %w", err)
	}
	// Resolve links, so that all spellings of a directory lead to the same lock and the same cluster.
	if c.Dir, err = filepath.EvalSymlinks(dir); err != nil {
		return c, fmt.Errorf("find the data directory %s: %w", dir, err)
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

func (s *Server) open(ctx context.Context) error {
	var err error
	if s.place, err = locate(ctx, s.cfg.Dir, s.cfg.Progress); err != nil {
		return err
	}
	var binaries Binaries
	if !s.place.exists() {
		if binaries, err = systemFinder(s.place.account).find(s.cfg.BinDir); err != nil {
			return err
		}
		if err := s.create(ctx, binaries); err != nil {
			return err
		}
	}
	if s.password, err = s.place.readPassword(); err != nil {
		return err
	}
	if s.process, s.adopted, err = s.bringUp(ctx); err != nil {
		return err
	}
	if err := s.check(ctx); err != nil {
		// Leave a server that was already running as it was found.
		if !s.adopted {
			_ = s.process.abandon(ctx)
		}
		return err
	}
	s.cfg.Logger.Info("private postgresql ready",
		"version", s.version, "pid", s.process.pid, "adopted", s.adopted, "cluster", s.place.cluster)
	return nil
}

// bringUp returns the server that is already running, or else starts one.
func (s *Server) bringUp(ctx context.Context) (running *process, adopted bool, err error) {
	if running, err = s.adopt(ctx); running != nil || err != nil {
		return running, true, err
	}
	running, err = s.start(ctx)
	return running, false, err
}

// current returns the running process, or the one that ended last.
func (s *Server) current() *process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}

// URL is the connection string of tarsy's database on this server. It contains the password.
func (s *Server) URL() string { return s.url(databaseName) }

func (s *Server) url(database string) string {
	running := s.current()
	query := url.Values{"host": {running.socketDir}, "port": {strconv.Itoa(running.port)}}
	location := url.URL{
		Scheme: "postgres", User: url.UserPassword(userName, s.password), Path: "/" + database, RawQuery: query.Encode(),
	}
	return location.String()
}

// Adopted reports whether the server was already running when Open was called.
func (s *Server) Adopted() bool { return s.adopted }

// Version is the version of the running server, such as "17.2".
func (s *Server) Version() string { return s.version }

// Stop shuts the server down, waits until it has stopped, and releases the data directory. Only the first call of Stop or Detach
// has an effect; later ones return its result. If ctx ends first, the server is left to finish on its own and Stop returns an
// error.
func (s *Server) Stop(ctx context.Context) error {
	s.closing.Do(func() {
		s.supervisor.stop()
		s.closed = s.process.stop(ctx, s.cfg.Progress)
		if err := s.lock.release(); s.closed == nil {
			s.closed = err
		}
	})
	return s.closed
}

// Detach releases the data directory and leaves the server running; the next Open adopts it.
func (s *Server) Detach() error {
	s.closing.Do(func() {
		s.supervisor.stop()
		s.closed = s.lock.release()
	})
	return s.closed
}

// Shutdown stops the server of a data directory, if one is running, without starting or adopting it first. It fails while a tarsy
// holds the directory.
func Shutdown(ctx context.Context, dir string) error {
	return withPlace(ctx, dir, func(home place) error { return home.shutdown(ctx) })
}

// Remove is Shutdown, followed by the deletion of the cluster, its password and its log.
func Remove(ctx context.Context, dir string) error {
	return withPlace(ctx, dir, func(home place) error {
		if err := home.shutdown(ctx); err != nil {
			return err
		}
		return home.remove()
	})
}

func withPlace(ctx context.Context, dir string, act func(place) error) error {
	cfg, err := Config{Dir: dir}.complete()
	if err != nil {
		return err
	}
	held, err := acquire(cfg.Dir)
	if err != nil {
		return err
	}
	defer func() { _ = held.release() }()
	home, err := locate(ctx, cfg.Dir, cfg.Progress)
	if err != nil {
		return err
	}
	return act(home)
}

func (p place) shutdown(ctx context.Context) error {
	running, ok := findProcess(p.cluster)
	if !ok {
		return nil
	}
	return running.stop(ctx, func(string) {})
}
