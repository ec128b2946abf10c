package llm

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Class is what an error means to the caller.
type Class string

// The classes of errors.
const (
	// ClassAuth: the key is missing, wrong or not allowed to use the model.
	ClassAuth Class = "auth"
	// ClassQuota: too many calls for now, or the budget is used up.
	ClassQuota Class = "quota"
	// ClassContextTooLong: the conversation exceeds the model's context.
	ClassContextTooLong Class = "context_too_long"
	// ClassSafety: the provider withheld the answer, or refused the question.
	ClassSafety Class = "safety"
	// ClassTransient: the provider, or the connection to it, has a problem; a retry may succeed.
	ClassTransient Class = "transient"
	// ClassInvalid: the provider does not understand the request, or does not know the model.
	ClassInvalid Class = "invalid_request"
	// ClassUnknown is every other error.
	ClassUnknown Class = "unknown"
)

// Classes lists every class but ClassUnknown.
func Classes() []Class {
	return []Class{ClassAuth, ClassQuota, ClassContextTooLong, ClassSafety, ClassTransient, ClassInvalid}
}

// Error is an error of a call to a provider.
type Error struct {
	Class Class
	// Status is the status of the HTTP response, zero if there was none; Code is the provider's error code.
	Status int
	Code   string
	// Message is the provider's message, or what happened.
	Message string
	// Hint is what the operator can do. Empty means the default hint of the class.
	Hint string
	// Retryable reports whether the same call may succeed later; RetryAfter is how long to wait, if the provider specified it.
	Retryable  bool
	RetryAfter time.Duration
	Err        error
}

// Error implements error: what happened, then what to do about it.
func (e *Error) Error() string {
	var text strings.Builder

	text.WriteString(strings.TrimSpace(e.Message))

	switch {
	case text.Len() > 0:
	case e.Err != nil:
		text.WriteString(e.Err.Error())
	default:
		text.WriteString("the call failed")
	}

	var details []string
	if e.Status != 0 {
		details = append(details, fmt.Sprintf("HTTP %d", e.Status))
	}

	if e.Code != "" {
		details = append(details, e.Code)
	}

	if len(details) > 0 {
		fmt.Fprintf(&text, " (%s)", strings.Join(details, ", "))
	}

	if hint := e.hint(); hint != "" {
		text.WriteString(": " + hint)
	}

	return text.String()
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) hint() string {
	if e.Hint != "" {
		return e.Hint
	}

	switch e.Class {
	case ClassAuth:
		return "check the provider's API key, and that it may use this model"
	case ClassQuota:
		return "wait, raise the provider's limits, or configure a fallback provider"
	case ClassContextTooLong:
		return "use a model with a larger context, or summarise long tool results"
	case ClassSafety:
		return "the provider withheld the answer; look at the alert's text, or configure a fallback provider"
	case ClassTransient:
		return "the provider is in trouble; try again later, or configure a fallback provider"
	case ClassInvalid:
		return "check the provider's model, base_url and settings"
	case ClassUnknown:
	}

	return ""
}

// AsError returns err as an Error; nil for nil. The end of the caller's context is of ClassUnknown and never retryable.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}

	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}

	if chunk, ok := errors.AsType[ErrorChunk](err); ok {
		e := &Error{Class: ClassUnknown, Code: chunk.Code, Message: chunk.Message, Retryable: chunk.Retryable, Err: err}
		if chunk.Retryable {
			e.Class = ClassTransient
		}

		return e
	}

	return &Error{Class: ClassUnknown, Message: err.Error(), Err: err}
}

// ErrorOfStatus returns the Error for an HTTP status. Clients refine its class based on the provider's body.
func ErrorOfStatus(status int, header http.Header, code, message string) *Error {
	e := &Error{Status: status, Code: code, Message: message, Class: ClassUnknown, RetryAfter: retryAfter(header)}

	switch {
	case status == http.StatusUnauthorized || status == http.StatusForbidden:
		e.Class = ClassAuth
	case status == http.StatusTooManyRequests:
		e.Class, e.Retryable = ClassQuota, true
	case status == http.StatusRequestTimeout || status == http.StatusConflict || status >= http.StatusInternalServerError:
		e.Class, e.Retryable = ClassTransient, true
	case status == http.StatusRequestEntityTooLarge:
		e.Class = ClassContextTooLong
	case status >= http.StatusBadRequest:
		e.Class = ClassInvalid
	}

	// Messages about keys and rate limits mention tokens too.
	if e.Class != ClassAuth && e.Class != ClassQuota && (tooLong(message) || tooLong(code)) {
		e.Class, e.Retryable = ClassContextTooLong, false
	}

	// Some providers report explicitly whether to retry.
	if header.Get("X-Should-Retry") == "false" {
		e.Retryable = false
	}

	return e
}

// Transient returns the Error of a call that failed in flight: no connection, or a stream that was cut off or is malformed. If
// the caller's context has ended, it returns the cause of that.
func Transient(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return &Error{Class: ClassTransient, Retryable: true, Message: err.Error(), Err: err}
}
