package client

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"

	"tarsy.dev/tarsy"
)

const (
	// createAttempts is how often a request that creates something is sent at most.
	createAttempts = 3
	// createPause bounds the time between two attempts, whatever the server asks for.
	createPause = 5 * time.Second
)

// create makes a request that creates a session or a note. All of its attempts carry the same idempotency key, so they create one
// although an earlier attempt may have arrived.
func create[T any](ctx context.Context, c *Client, path, key string, in any) (T, error) {
	if key == "" {
		key = rand.Text()
	}

	for attempt := 1; ; attempt++ {
		created, err := createOnce[T](ctx, c, path, key, in)

		pause, again := c.pauseBefore(attempt, err)
		if !again {
			return created, err
		}

		select {
		case <-ctx.Done():
			return created, err
		case <-time.After(pause):
		}
	}
}

func createOnce[T any](ctx context.Context, c *Client, path, key string, in any) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()

	var created T

	request, err := c.request(ctx, http.MethodPost, path, nil, in)
	if err != nil {
		return created, err
	}

	request.Header.Set("Idempotency-Key", key)

	err = c.do(request, &created)

	return created, err
}

// pauseBefore reports whether to try again after an attempt, and when.
func (c *Client) pauseBefore(attempt int, err error) (pause time.Duration, again bool) {
	if err == nil || attempt == createAttempts {
		return 0, false
	}

	pause = c.cfg.RetryWait << (attempt - 1)

	if problem, ok := errors.AsType[*Problem](err); ok {
		// A pause lasts longer than anybody waits for a command.
		again = problem.Status == http.StatusServiceUnavailable && problem.Code != tarsy.CodeIntakePaused

		return min(max(pause, problem.RetryAfter), createPause), again
	}

	_, unreachable := errors.AsType[*UnreachableError](err)

	return min(pause, createPause), unreachable
}
