package private

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Reached is the server of an existing data directory, for a program that only wants to connect to it.
type Reached struct {
	// URL is the connection string of tarsy's database. It contains the password.
	URL    string
	server *Server // nil if the server belongs to a running tarsy
}

// Reach connects to the server of a data directory: that of a running tarsy, without its lock, or else one that it starts and
// that runs until Close. It creates nothing, and it accepts a database of any locale.
func Reach(ctx context.Context, cfg Config) (*Reached, error) {
	if _, err := os.Stat(cfg.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, noDatabase(cfg.Dir)
	}
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	var reached *Reached
	notice := newSlowNotice(cfg.Progress)
	// A starting tarsy holds the lock before its server answers, and a stopping one holds it for longer.
	err = await(ctx, func() (bool, error) {
		held, lockErr := acquire(cfg.Dir)
		if lockErr == nil {
			reached, err = reachStopped(ctx, cfg, held)
			return true, err
		}
		if !errors.Is(lockErr, errHeld) {
			return false, lockErr
		}
		reached, err = reachRunning(ctx, cfg)
		if err == nil {
			return true, nil
		}
		notice.report("waiting for the PostgreSQL server of the running tarsy…")
		if time.Since(notice.since) > answerWithin {
			return false, fmt.Errorf("%w; its PostgreSQL does not answer: %w", lockErr, err)
		}
		return false, nil
	})
	return reached, err
}

// reachStopped opens the server of a directory that no other process holds.
func reachStopped(ctx context.Context, cfg Config, held *lock) (*Reached, error) {
	server := &Server{cfg: cfg, lock: held}
	err := server.openExisting(ctx)
	if err != nil {
		_ = held.release()
		return nil, err
	}
	return &Reached{URL: server.URL(), server: server}, nil
}

// openExisting is open for a database that must exist.
func (s *Server) openExisting(ctx context.Context) error {
	var (
		found bool
		err   error
	)
	if s.place, found, err = find(s.cfg.Dir); err != nil {
		return err
	}
	if found, err = s.place.settle(ctx, s.cfg.Progress, found); err != nil {
		return err
	}
	if !found {
		return noDatabase(s.cfg.Dir)
	}
	if s.place.account, err = ownerAccount(s.place.cluster); err != nil {
		return err
	}
	if s.password, err = s.place.readPassword(); err != nil {
		return err
	}
	s.process, s.adopted, err = s.bringUp(ctx)
	return err
}

// reachRunning connects to the server of a running tarsy.
func reachRunning(ctx context.Context, cfg Config) (*Reached, error) {
	home, found, err := find(cfg.Dir)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, noDatabase(cfg.Dir)
	}
	server := &Server{cfg: cfg, place: home}
	if server.password, err = home.readPassword(); err != nil {
		return nil, err
	}
	running, ok := findProcess(home.cluster)
	if !ok || running.status != "ready" {
		return nil, fmt.Errorf("no PostgreSQL server is ready in %s", home.cluster)
	}
	if err := server.answers(ctx, running); err != nil {
		return nil, err
	}
	server.process = running
	return &Reached{URL: server.URL()}, nil
}

// Running reports whether the server belongs to a running tarsy.
func (r *Reached) Running() bool { return r.server == nil }

// Close stops a server that Reach started. One that was already running keeps running.
func (r *Reached) Close(ctx context.Context) error {
	switch {
	case r.server == nil:
		return nil
	case r.server.adopted:
		return r.server.Detach()
	default:
		return r.server.Stop(ctx)
	}
}

func noDatabase(dir string) error {
	return fmt.Errorf("there is no database in %s: choose another data directory, or set the address of a database", dir)
}
