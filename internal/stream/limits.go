package stream

import (
	"context"
	"net/http"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/limit"
)

// Limits limits the connections and subscriptions of readers; zero means no limit. An event stream counts as a connection but not as a
// subscription.
type Limits struct {
	Connections, ConnectionsPerOwner     int
	Subscriptions, SubscriptionsPerOwner int
}

// holdings counts the connections and subscriptions of readers.
type holdings struct {
	// owner returns the owner that a request is counted for; if it is empty, only the totals apply.
	owner         func(*http.Request) string
	connections   *limit.Count
	subscriptions *limit.Count
	notice        *limit.Notice
}

// connect counts a connection, or returns an error if a limit is reached.
func (h *holdings) connect(ctx context.Context, owner string) error {
	switch h.connections.Acquire(owner, 1) {
	case limit.Total:
		h.notice.Refused(ctx, "stream refused, system.streams.max_connections reached", "key_id", owner)

		return tarsy.Errorf(tarsy.CodeOverloaded, "The server has reached its limit of open streams. Try again later.")
	case limit.PerOwner:
		h.notice.Refused(ctx, "stream refused, system.streams.max_connections_per_key reached", "key_id", owner)

		return tarsy.Errorf(tarsy.CodeTooManyStreams, "This API key has reached its limit of open streams. Close one first.")
	default:
		return nil
	}
}

// subscribe counts a subscription, or returns an error if a limit is reached.
func (h *holdings) subscribe(ctx context.Context, owner string) error {
	switch h.subscriptions.Acquire(owner, 1) {
	case limit.Total:
		h.notice.Refused(ctx, "subscription refused, system.streams.max_subscriptions reached", "key_id", owner)

		return tarsy.Errorf(codeTooManySubscriptions, "the server has reached its limit of subscriptions, try again later")
	case limit.PerOwner:
		h.notice.Refused(ctx, "subscription refused, system.streams.max_subscriptions_per_key reached", "key_id", owner)

		return tarsy.Errorf(codeTooManySubscriptions, "this API key has reached its limit of subscriptions, unsubscribe from one first")
	default:
		return nil
	}
}
