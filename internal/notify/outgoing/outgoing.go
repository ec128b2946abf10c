// Package outgoing is the common part of deliveries to other systems: what is delivered, how failures are reported, and HTTP
// requests. Each kind of delivery is a sibling package that renders and delivers; scheduling and retries are in
// internal/writeback.
package outgoing

import (
	"context"
	"errors"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
)

// Delivery delivers messages to one recipient.
type Delivery interface {
	// Concerns reports whether messages about a session can be delivered at all.
	Concerns(session tarsy.Session) bool
	// Deliver makes one attempt, until ctx is done. Errors other than those of this package are retried.
	Deliver(ctx context.Context, p Parcel) error
}

// Parcel is one message to deliver.
type Parcel struct {
	Message message.Message
	Session tarsy.Session
	// CreatedAt is when the event happened, DueAt when it may be delivered, and Now the time of this attempt.
	CreatedAt, DueAt, Now time.Time
	// Again means that an earlier attempt may have succeeded.
	Again bool
}

// UnsendableError means that the message cannot be created; a retry is pointless.
type UnsendableError struct{ Err error }

// Error implements error.
func (u *UnsendableError) Error() string { return u.Err.Error() }

// Unwrap returns the cause.
func (u *UnsendableError) Unwrap() error { return u.Err }

// PartlyError means that the message was accepted, but not for all recipients.
type PartlyError struct{ Reason string }

// Error implements error.
func (p *PartlyError) Error() string { return p.Reason }

// refused is a refusal by the recipient.
type refused interface {
	error
	// Permanent reports whether the same message would be refused again, and RetryAfter how long to wait; zero if unknown.
	Permanent() bool
	RetryAfter() time.Duration
}

// Permanent reports whether a retry after this error is pointless.
func Permanent(err error) bool {
	if refusal, ok := errors.AsType[refused](err); ok {
		return refusal.Permanent()
	}

	_, broken := errors.AsType[*UnsendableError](err)

	return broken
}

// RetryAfter returns how long a recipient asks to wait; zero if it does not.
func RetryAfter(err error) time.Duration {
	if refusal, ok := errors.AsType[refused](err); ok {
		return refusal.RetryAfter()
	}

	return 0
}
