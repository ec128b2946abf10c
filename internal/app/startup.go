package app

import (
	"fmt"
	"sync"
	"time"
)

const (
	// slowStep is how long a step of the start may take before it is reported.
	slowStep = 3 * time.Second
	// slowInterval is the interval at which a slow step is reported again.
	slowInterval = 10 * time.Second
)

// Step records that the start has reached something that may take long, and returns a function to call at its end. A step that takes longer
// than slowStep is reported, so that a server that does not come up shows what it is waiting for.
func (a *App) Step(what string) (done func()) {
	s := &step{what: what, began: time.Now(), progress: a.options.Progress}

	s.mu.Lock()
	defer s.mu.Unlock()

	s.timer = time.AfterFunc(slowStep, s.report)

	return func() {
		s.end()
		a.logger.Debug("start-up step finished", "step", what, "duration", time.Since(s.began))
	}
}

// step is one step of the start. It uses real time.
type step struct {
	what     string
	began    time.Time
	progress func(string)

	mu    sync.Mutex
	timer *time.Timer
	ended bool
}

func (s *step) report() {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.ended {
		return
	}

	s.progress(fmt.Sprintf("Still starting: %s (%s)", s.what, time.Since(s.began).Round(time.Second)))
	s.timer.Reset(slowInterval)
}

func (s *step) end() {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.ended = true
	s.timer.Stop()
}
