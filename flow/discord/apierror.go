package discord

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/disgoorg/disgo/rest"
)

// APIError is the error for a request that Discord rejected.
type APIError struct {
	// Status is the HTTP status.
	Status int
	// Code is Discord's error code, such as 50013 for missing permissions; zero if there was none.
	Code int
	// Message is Discord's description.
	Message string
}

func newAPIError(refused *rest.Error) *APIError {
	e := &APIError{Code: int(refused.Code), Message: refused.Message}
	if refused.Response != nil {
		e.Status = refused.Response.StatusCode
	}

	e.Message = cmp.Or(e.Message, http.StatusText(e.Status), "unknown error")

	return e
}

// Error implements error.
func (e *APIError) Error() string {
	if e.Code == 0 {
		return fmt.Sprintf("discord: %s (status %d)", e.Message, e.Status)
	}

	return fmt.Sprintf("discord: %s (status %d, code %d)", e.Message, e.Status, e.Code)
}

// Permanent reports whether the same request would be rejected again: every 4xx except 429.
func (e *APIError) Permanent() bool {
	return e.Status >= 400 && e.Status < 500 && e.Status != http.StatusTooManyRequests
}

// IsPermanent reports whether an error wraps a permanent APIError. Other errors may be temporary.
func IsPermanent(err error) bool {
	var refused *APIError

	return errors.As(err, &refused) && refused.Permanent()
}
