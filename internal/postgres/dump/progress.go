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

// reporter reports work that takes long.
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

// begin reports what text returns while the work lasts, unless it is done quickly. After end has returned, nothing is reported.
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
