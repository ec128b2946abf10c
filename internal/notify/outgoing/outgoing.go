// Package outgoing has what deliveries to other systems share: what is delivered, how a failure is told, and requests over HTTP. Each kind of delivery
// is a package beside it, which renders and delivers; what is sent when, and again, is for internal/writeback.
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
	// Deliver makes one attempt, until ctx ends. Errors are those of this package, or else it is tried again.
	Deliver(ctx context.Context, p Parcel) error
}

// Parcel is one message to deliver.
type Parcel struct {
	Message message.Message
	Session tarsy.Session
	// CreatedAt is when the event happened, and DueAt when it may be told; Now is the time of this attempt.
	CreatedAt, DueAt, Now time.Time
	// Again means that an earlier attempt may have succeeded.
	Again bool
}

// UnsendableError is a message that cannot be made; trying again is pointless.
type UnsendableError struct{ Err error }

// Error implements error.
func (u *UnsendableError) Error() string { return u.Err.Error() }

// Unwrap is why it cannot be made.
func (u *UnsendableError) Unwrap() error { return u.Err }

// PartlyError is a message that was accepted, but not for everybody.
type PartlyError struct{ Reason string }

// Error implements error.
func (p *PartlyError) Error() string { return p.Reason }

// refused is a refusal by whoever was asked.
type refused interface {
	error
	// Permanent reports whether the same message would be refused again, and RetryAfter how long to wait; zero if that is not said.
	Permanent() bool
	RetryAfter() time.Duration
}

// Permanent reports whether trying again after an error is pointless.
func Permanent(err error) bool {
	if refusal, ok := errors.AsType[refused](err); ok {
		return refusal.Permanent()
	}

	_, broken := errors.AsType[*UnsendableError](err)

	return broken
}

// RetryAfter is how long a recipient asks to be left alone by an error; zero if it does not.
func RetryAfter(err error) time.Duration {
	if refusal, ok := errors.AsType[refused](err); ok {
		return refusal.RetryAfter()
	}

	return 0
}
