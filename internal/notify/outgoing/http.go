package outgoing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	// maxWait is the longest time that a target can ask to wait; longer times are reduced to it.
	maxWait = time.Hour
	// maxReason is how much of the reason for a refusal is kept for people.
	maxReason = 200
	// MaxReply is how much is read of a response whose content is not needed.
	MaxReply = 16 * maxReason
)

// refusal is a response other than a success.
type refusal struct {
	status int
	reason string
	// wait is how long the target asks to wait; zero if it does not.
	wait time.Duration
}

// Error implements error.
func (r *refusal) Error() string {
	text := fmt.Sprintf("the target responded with %d %s", r.status, http.StatusText(r.status))

	if r.status >= 300 && r.status < 400 {
		text += "; redirects are not followed"
	}

	if r.reason != "" {
		text += ": " + r.reason
	}

	return text
}

// RetryAfter returns how long the target asks to wait.
func (r *refusal) RetryAfter() time.Duration { return r.wait }

// Permanent reports whether the same request would be refused again.
func (r *refusal) Permanent() bool {
	return r.status < http.StatusInternalServerError && r.status != http.StatusRequestTimeout && r.status != http.StatusTooManyRequests
}

// perTarget is how many idle connections are kept per host.
const perTarget = 4

// NewClient returns the client for all deliveries; close its idle connections after the last delivery.
func NewClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // documented
	transport.MaxIdleConnsPerHost = perTarget

	return &http.Client{
		Transport: transport,
		// A redirect would send headers and the body to a host that is not configured.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// NewRequest creates a request that posts JSON. It sets no Idempotency-Key: with one, net/http retries the request itself after
// a broken connection, even if the recipient does not support the key.
func NewRequest(ctx context.Context, to string, p Parcel, body []byte) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, &UnsendableError{withoutURL(err)}
	}

	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "tarsy")
	request.Header.Set("X-Tarsy-Delivery", p.Message.ID)
	request.Header.Set("X-Tarsy-Event", string(p.Message.Event))

	return request, nil
}

// SetHeaders sets configured headers. They cannot replace those by which a receiver recognizes a message.
func SetHeaders(request *http.Request, configured http.Header) {
	for name, values := range configured {
		if name != "Idempotency-Key" && name != "X-Tarsy-Delivery" && name != "X-Tarsy-Event" {
			request.Header[name] = values
		}
	}
}

// Post posts JSON.
func Post(ctx context.Context, client *http.Client, to string, configured http.Header, p Parcel, body []byte) error {
	request, err := NewRequest(ctx, to, p, body)
	if err != nil {
		return err
	}

	SetHeaders(request, configured)

	_, err = Do(client, request, MaxReply, p.Now)

	return err
}

// Do sends a request and returns the body of a successful response, up to the limit.
func Do(client *http.Client, request *http.Request, limit int64, now time.Time) ([]byte, error) {
	response, err := client.Do(request) //nolint:gosec // the configuration says where
	if err != nil {
		return nil, withoutURL(err)
	}
	defer func() { _ = response.Body.Close() }()

	// The target's action does not depend on whether its response arrives completely.
	body, _ := io.ReadAll(io.LimitReader(response.Body, limit))

	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return body, nil
	}

	return nil, &refusal{status: response.StatusCode, reason: OneLine(string(body)), wait: waitOf(response.Header, now)}
}

// withoutURL removes the URL from an error: its path may be a secret.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("could not send: %w", failed.Err)
	}

	return err
}

// waitOf parses the Retry-After header: seconds, or a time.
func waitOf(header http.Header, now time.Time) time.Duration {
	value := header.Get("Retry-After")

	wait := time.Duration(0)
	if seconds, err := strconv.Atoi(value); err == nil {
		wait = time.Duration(min(seconds, int(maxWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}

	return min(max(wait, 0), maxWait)
}

// OneLine reduces a recipient's error text to one short line.
func OneLine(text string) string {
	runes := []rune(strings.Join(strings.Fields(plaintext.Clean(text)), " "))
	if len(runes) > maxReason {
		return string(runes[:maxReason]) + "…"
	}

	return string(runes)
}
