package stream

import (
	"context"
	"net/http"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/limit"
)

// Limits bound what readers may hold; zero means no limit. An event stream is a connection; what it
// follows is not counted as a subscription.
type Limits struct {
	Connections, ConnectionsPerOwner     int
	Subscriptions, SubscriptionsPerOwner int
}

// holdings count what readers hold.
type holdings struct {
	// owner names who a request's holdings are counted for; empty means nobody in particular.
	owner         func(*http.Request) string
	connections   *limit.Count
	subscriptions *limit.Count
	notice        *limit.Notice
}

// connect counts a connection, or says why it may not be.
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

// subscribe counts a subscription, or says why it may not be.
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
