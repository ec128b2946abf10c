package scriptfile

import (
	"context"
	"time"

	"github.com/jonboulle/clockwork"
)

// Watch checks periodically whether the loaded file has changed, and returns when ctx ends. It calls changed with the new
// content, or with an error, in which case the caller keeps what it has. A change is detected by modification time and
// size. The file is read once these are the same in two consecutive checks, because it may still be being written.
func Watch(ctx context.Context, loaded *File, clock clockwork.Clock, every time.Duration, changed func(*File, error)) {
	ticker := clock.NewTicker(every)
	defer ticker.Stop()

	last, pending := loaded.stamp, loaded.stamp

	for {
		select {
		case <-ticker.Chan():
		case <-ctx.Done():
			return
		}

		now, err := stampOf(loaded.stamp.path)
		if now == last || now != pending {
			pending = now

			continue
		}

		last = now

		if err != nil {
			changed(nil, err)

			continue
		}

		changed(Load(loaded.stamp.path))
	}
}
