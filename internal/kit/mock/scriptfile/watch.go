package scriptfile

import (
	"context"
	"time"

	"github.com/jonboulle/clockwork"
)

// Watch looks every so often whether the file that was loaded has changed, and returns when ctx is over. It tells changed of
// what the file holds then, or what is wrong with it: whoever is told of an error keeps what it has. A file is known to
// have changed by its time of modification and its size, and is read when it stayed the same from one look to the next: whoever writes
// it may be in the middle.
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
