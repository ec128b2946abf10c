package dump

import (
	"sync"
	"time"
)

// A part of the work that takes longer than noticeAfter is reported, and again every repeatAfter.
const (
	noticeAfter = 2 * time.Second
	repeatAfter = 5 * time.Second
)

// reporter prints what takes long.
type reporter struct {
	mu       sync.Mutex
	progress func(string)
}

func newReporter(progress func(string)) *reporter {
	if progress == nil {
		progress = func(string) {}
	}

	return &reporter{progress: progress}
}

// begin reports what text returns for as long as the work lasts, but nothing about work that is done quickly. After end nothing is printed.
func (r *reporter) begin(text func() string) (end func()) {
	var (
		timer *time.Timer
		ended bool
	)

	r.mu.Lock()
	defer r.mu.Unlock()

	timer = time.AfterFunc(noticeAfter, func() {
		r.mu.Lock()
		defer r.mu.Unlock()

		if !ended {
			r.progress(text())
			timer.Reset(repeatAfter)
		}
	})

	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()

		ended = true

		timer.Stop()
	}
}
