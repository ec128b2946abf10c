package client

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"time"
)

const (
	// createAttempts is how often a request that creates a session is sent at most.
	createAttempts = 3
	// createPause bounds the time between two attempts, whatever the server asks for.
	createPause = 5 * time.Second
)

// create makes a request that creates a session. All of its attempts carry the same idempotency key, so they create one session
// although an earlier attempt may have arrived.
func (c *Client) create(ctx context.Context, path, key string, in any) (Accepted, error) {
	if key == "" {
		key = rand.Text()
	}

	for attempt := 1; ; attempt++ {
		accepted, err := c.createOnce(ctx, path, key, in)

		pause, again := c.pauseBefore(attempt, err)
		if !again {
			return accepted, err
		}

		select {
		case <-ctx.Done():
			return accepted, err
		case <-time.After(pause):
		}
	}
}

func (c *Client) createOnce(ctx context.Context, path, key string, in any) (Accepted, error) {
	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()

	var accepted Accepted

	request, err := c.request(ctx, http.MethodPost, path, nil, in)
	if err != nil {
		return accepted, err
	}

	request.Header.Set("Idempotency-Key", key)

	err = c.do(request, &accepted)

	return accepted, err
}

// pauseBefore reports whether to try again after an attempt, and when.
func (c *Client) pauseBefore(attempt int, err error) (pause time.Duration, again bool) {
	if err == nil || attempt == createAttempts {
		return 0, false
	}

	pause = c.cfg.RetryWait << (attempt - 1)

	if problem, ok := errors.AsType[*Problem](err); ok {
		return min(max(pause, problem.RetryAfter), createPause), problem.Status == http.StatusServiceUnavailable
	}

	_, unreachable := errors.AsType[*UnreachableError](err)

	return min(pause, createPause), unreachable
}
