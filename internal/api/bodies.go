package api

import (
	"cmp"
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/limit"
)

// BodyLimits bound the memory of request bodies from their first byte until the request is over. A network is the client's address, or
// for IPv6 its /64.
type BodyLimits struct {
	// Bytes is the limit for all bodies together; 256 MiB if zero.
	Bytes int
	// BytesPerNetwork is the limit for all bodies of one network; 128 MiB if zero.
	BytesPerNetwork int
	// UntrustedBytes is the limit for bodies whose senders are not authenticated yet; 64 MiB if zero.
	UntrustedBytes int
	// UntrustedBytesPerNetwork is the same for one network; 32 MiB if zero.
	UntrustedBytesPerNetwork int
}

// The defaults of BodyLimits. The largest body is a delivery of 8 MiB.
const (
	defaultBodyBytes                = 256 << 20
	defaultBodyBytesPerNetwork      = 128 << 20
	defaultUntrustedBytes           = 64 << 20
	defaultUntrustedBytesPerNetwork = 32 << 20
)

// bodies counts the memory of bodies. All requests share it.
type bodies struct {
	all       *limit.Count
	untrusted *limit.Count
	notice    *limit.Notice
}

func newBodies(limits BodyLimits, notice *limit.Notice) *bodies {
	return &bodies{
		all: limit.NewCount(cmp.Or(limits.BytesPerNetwork, defaultBodyBytesPerNetwork), cmp.Or(limits.Bytes, defaultBodyBytes)),
		untrusted: limit.NewCount(cmp.Or(limits.UntrustedBytesPerNetwork, defaultUntrustedBytesPerNetwork),
			cmp.Or(limits.UntrustedBytes, defaultUntrustedBytes)),
		notice: notice,
	}
}

// heldBody is how the body of one request is counted. It belongs to the request's goroutine.
type heldBody struct {
	network string
	trusted bool
	bytes   int
}

// hold reserves memory for a caller's body, or returns an error if a limit is reached.
func (b *bodies) hold(ctx context.Context, who *caller, bytes int) error {
	held := &who.held

	if !held.trusted {
		exceeded := b.untrusted.Acquire(held.network, bytes)
		if exceeded != limit.None {
			return b.refuse(ctx, who, exceeded)
		}
	}

	exceeded := b.all.Acquire(held.network, bytes)
	if exceeded != limit.None {
		if !held.trusted {
			b.untrusted.Release(held.network, bytes)
		}

		return b.refuse(ctx, who, exceeded)
	}

	held.bytes += bytes

	return nil
}

// refuse never answers 429, which Alertmanager would not retry.
func (b *bodies) refuse(ctx context.Context, who *caller, exceeded limit.Exceeded) error {
	if exceeded == limit.PerOwner {
		b.notice.Refused(ctx, "request refused, the bodies of one address need too much memory", "address", who.held.network)

		return tarsy.Errorf(tarsy.CodeOverloaded, "Too much request data is being received from this address. Try again later.")
	}

	b.notice.Refused(ctx, "request refused, the bodies of all requests need too much memory", "address", who.held.network)

	return tarsy.Errorf(tarsy.CodeOverloaded, "Too much request data is being received. Try again later.")
}

// trust records that the sender of a body is authenticated.
func (b *bodies) trust(who *caller) {
	if !who.held.trusted {
		b.untrusted.Release(who.held.network, who.held.bytes)
		who.held.trusted = true
	}
}

// drop releases part of the memory.
func (b *bodies) drop(who *caller, bytes int) {
	held := &who.held
	held.bytes -= bytes
	b.all.Release(held.network, bytes)

	if !held.trusted {
		b.untrusted.Release(held.network, bytes)
	}
}

// release releases all of it.
func (b *bodies) release(who *caller) { b.drop(who, who.held.bytes) }
