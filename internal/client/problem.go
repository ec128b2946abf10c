package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"tarsy.dev/tarsy"
)

// problemLimit limits how much of an error's body is read.
const problemLimit = 64 << 10

// Problem is an error response from a server: an RFC 9457 body whose detail is written for people.
type Problem struct { //nolint:errname // what RFC 9457 calls it
	Status int        `json:"status"`
	Code   tarsy.Code `json:"code"`
	Title  string     `json:"title"`
	Detail string     `json:"detail"`
	Field  string     `json:"field"`

	// RetryAfter is how long to wait before the next attempt; zero if the server does not specify it.
	RetryAfter time.Duration `json:"-"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// UnreachableError reports that there was no response.
type UnreachableError struct {
	Server string
	Err    error
}

// Error implements error.
func (e *UnreachableError) Error() string { return fmt.Sprintf("cannot reach %s: %v", e.Server, e.Err) }

// Unwrap returns the cause.
func (e *UnreachableError) Unwrap() error { return e.Err }

// readProblem reads the body of an error response. A body that is not a problem comes from something else, such as a
// proxy or another program on the port.
func readProblem(response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, problemLimit))
	problem := &Problem{}

	if err != nil || json.Unmarshal(body, problem) != nil || problem.Detail == "" {
		problem.Detail = "the server answered " + response.Status + " without an explanation"
	}

	problem.Status = response.StatusCode

	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && seconds > 0 {
		problem.RetryAfter = time.Duration(seconds) * time.Second
	}

	return problem
}

// Refused reports whether the server itself refused the request, so that a retry is pointless.
func Refused(err error) bool {
	problem, ok := errors.AsType[*Problem](err)

	return ok && problem.Status < http.StatusInternalServerError && problem.Status != http.StatusTooManyRequests
}
