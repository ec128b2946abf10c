package private

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// The limits of restarting: a server that is killed by hand or by the kernel is back in a moment, a full disk can be freed within
// about two minutes, and a server that cannot run is given up.
const (
	superviseEvery = 500 * time.Millisecond
	maxRestarts    = 10
	restartWindow  = 15 * time.Minute
	firstPause     = 200 * time.Millisecond
	longestPause   = 30 * time.Second
)

// supervisor restarts the server when it ends unexpectedly. After Open, only the supervisor writes the process of a Server.
type supervisor struct {
	server *Server
	failed func(error)
	// limit is maxRestarts, except in tests.
	limit int

	attempts []time.Time
	cancel   context.CancelFunc
	running  sync.WaitGroup
}

// Supervise watches the server until Stop or Detach and restarts it when it ends, with growing pauses. If it has ended too often,
// failed is called once, with the end of the server's log, and nothing more is tried.
func (s *Server) Supervise(failed func(error)) { s.supervise(failed, maxRestarts) }

func (s *Server) supervise(failed func(error), limit int) {
	ctx, cancel := context.WithCancel(context.Background())
	s.supervisor = &supervisor{server: s, failed: failed, limit: limit, cancel: cancel}
	s.supervisor.running.Go(func() { s.supervisor.run(ctx) })
}

// stop ends the supervision and waits for it, so that nothing is started afterwards. It is safe on nil.
func (v *supervisor) stop() {
	if v == nil {
		return
	}
	v.cancel()
	v.running.Wait()
}

func (v *supervisor) run(ctx context.Context) {
	for v.awaitEnd(ctx) {
		s := v.server
		err := fmt.Errorf("it exited unexpectedly; the end of its log %s:\n%s", s.place.logPath(), s.logTail(0))
		s.cfg.Logger.Error("private postgresql exited; restarting it", "pid", s.current().pid, "log", s.place.logPath())
		for err != nil {
			if !v.allowRestart() {
				v.failed(fmt.Errorf("the private PostgreSQL server was started %d times within %s and does not keep running: %w",
					v.limit, restartWindow, err))
				return
			}
			if !pause(ctx, v.pause()) {
				return
			}
			if err = v.restart(ctx); ctx.Err() != nil {
				return
			}
			if err != nil {
				s.cfg.Logger.Error("could not start private postgresql", "error", err)
			}
		}
	}
}

// awaitEnd waits for the end of the server. It returns false if the supervision ends first.
func (v *supervisor) awaitEnd(ctx context.Context) bool {
	for !v.server.current().ended() {
		if !pause(ctx, superviseEvery) {
			return false
		}
	}
	return true
}

// allowRestart counts an attempt and reports whether there were few enough within restartWindow.
func (v *supervisor) allowRestart() bool {
	now := time.Now()
	for len(v.attempts) > 0 && now.Sub(v.attempts[0]) > restartWindow {
		v.attempts = v.attempts[1:]
	}
	v.attempts = append(v.attempts, now)
	return len(v.attempts) <= v.limit
}

func (v *supervisor) pause() time.Duration {
	return min(firstPause*time.Duration(math.Exp2(float64(len(v.attempts)-1))), longestPause)
}

// restart brings a server up: one that was started in the meantime, or a new one.
func (v *supervisor) restart(ctx context.Context) error {
	s := v.server
	running, _, err := s.bringUp(ctx)
	if err != nil {
		return err
	}
	s.mu.Lock()
	s.process = running
	s.mu.Unlock()
	s.cfg.Logger.Info("private postgresql ready again", "pid", running.pid)
	return nil
}

// pause waits, and returns false if ctx ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
