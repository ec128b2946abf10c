package limit

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// noticeEvery is how often one kind of refusal is logged.
const noticeEvery = 10 * time.Second

// Notice logs refusals. Whoever exceeds a limit tends to do it often, so each message is logged at once and then at
// most every ten seconds, with the number of refusals since the start.
type Notice struct {
	logger *slog.Logger
	clock  clockwork.Clock

	mu    sync.Mutex
	kinds map[string]*refusals
}

type refusals struct {
	count  int64
	logged time.Time
}

// NewNotice returns a Notice that writes warnings.
func NewNotice(logger *slog.Logger, clock clockwork.Clock) *Notice {
	return &Notice{logger: logger, clock: clock, kinds: map[string]*refusals{}}
}

// Refused notes one refusal. The message is a constant: there is one counter for each.
func (n *Notice) Refused(ctx context.Context, message string, args ...any) {
	count, due := n.note(message)
	if due {
		n.logger.WarnContext(ctx, message, append(args, "refused_total", count)...)
	}
}

func (n *Notice) note(message string) (count int64, due bool) {
	n.mu.Lock()
	defer n.mu.Unlock()

	kind, ok := n.kinds[message]
	if !ok {
		kind = &refusals{}
		n.kinds[message] = kind
	}

	kind.count++

	now := n.clock.Now()
	if ok && now.Sub(kind.logged) < noticeEvery {
		return kind.count, false
	}

	kind.logged = now

	return kind.count, true
}
