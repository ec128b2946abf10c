package limit

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// noticeEvery is the logging interval for one kind of refusal.
const noticeEvery = 10 * time.Second

// Notice logs refusals. A client that exceeds a limit tends to do so often, so each message is logged immediately and then at
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

// NewNotice returns a Notice that logs warnings.
func NewNotice(logger *slog.Logger, clock clockwork.Clock) *Notice {
	return &Notice{logger: logger, clock: clock, kinds: map[string]*refusals{}}
}

// Refused records one refusal. The message must be a constant: there is one counter per message.
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
