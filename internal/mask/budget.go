package mask

import (
	"errors"
	"runtime"
	"time"
)

// ErrTooSlow means that a text took more time than Config.Limit to check, so that not everything in it was looked at.
var ErrTooSlow = errors.New("checking the text for secrets took too long")

// defaultLimit is several times what the slowest text of a megabyte is known to take.
const defaultLimit = 3 * time.Second

// lookEvery is how many bytes are matched between two looks at the clock.
const lookEvery = 16 << 10

// budget bounds the processor time that one text takes. It belongs to the goroutine that masks the text, which stays on its
// thread meanwhile: the time is the thread's, so a busy machine does not make texts fail.
type budget struct {
	until time.Duration
	bytes int
	over  bool
}

// newBudget starts to measure; the caller calls stop in the same goroutine.
func newBudget(limit time.Duration) *budget {
	runtime.LockOSThread()

	return &budget{until: cpuTime() + limit}
}

func (b *budget) stop() { runtime.UnlockOSThread() }

// spend counts bytes that were matched, and says whether there is time for more.
func (b *budget) spend(bytes int) bool {
	if b.bytes += bytes; b.bytes >= lookEvery && !b.over {
		b.bytes = 0
		b.over = cpuTime() > b.until
	}

	return !b.over
}
