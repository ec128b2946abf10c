package mask

import (
	"errors"
	"runtime"
	"time"
)

// ErrTooSlow means that checking a text took more time than Config.Limit, so that the text was not checked completely.
var ErrTooSlow = errors.New("checking the text for secrets took too long")

// defaultLimit is several times what the slowest known text of a megabyte takes.
const defaultLimit = 3 * time.Second

// lookEvery is how many bytes are matched between two checks of the clock.
const lookEvery = 16 << 10

// budget limits the processor time for one text. It belongs to the goroutine that masks the text, which is locked to its thread: the
// time is the thread's, so texts do not fail on a busy machine.
type budget struct {
	until time.Duration
	bytes int
	over  bool
}

// newBudget starts measuring; the caller calls stop in the same goroutine.
func newBudget(limit time.Duration) *budget {
	runtime.LockOSThread()

	return &budget{until: cpuTime() + limit}
}

func (b *budget) stop() { runtime.UnlockOSThread() }

// spend counts matched bytes, and reports whether there is time for more.
func (b *budget) spend(bytes int) bool {
	if b.bytes += bytes; b.bytes >= lookEvery && !b.over {
		b.bytes = 0
		b.over = cpuTime() > b.until
	}

	return !b.over
}
