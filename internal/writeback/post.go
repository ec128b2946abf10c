package writeback

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
)

const (
	// maxWait is how long a target may ask to wait; a longer time is cut to it.
	maxWait = time.Hour
	// maxReason is how much of a refusal is kept, for people, and maxReply how much of a response is read.
	maxReason = 200
	maxReply  = 16 * maxReason
)

// refusal is an answer that is no success.
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

// permanent reports whether the same request would be refused again.
func (r *refusal) permanent() bool {
	return r.status < http.StatusInternalServerError && r.status != http.StatusRequestTimeout && r.status != http.StatusTooManyRequests
}

// request makes the request that tells a target of an event.
func (t Target) request(ctx context.Context, m message.Message, session tarsy.Session) (*http.Request, error) {
	body, err := t.Body.Render(m)
	if err != nil {
		return nil, err
	}

	to, header := t.URL, http.Header{}

	if t.PagerDuty != nil {
		if body, err = json.Marshal(map[string]any{"note": note{Content: string(body)}}); err != nil {
			return nil, err
		}

		to, header = t.PagerDuty.notes(session), t.PagerDuty.header()
	}

	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return nil, withoutURL(err)
	}

	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "tarsy")

	maps.Copy(header, t.Header)

	// A receiver recognizes a message that it got before by these, so nothing replaces them.
	header.Set("Idempotency-Key", m.ID)
	header.Set("X-Tarsy-Delivery", m.ID)
	header.Set("X-Tarsy-Event", string(m.Event))

	request.Header = header

	return request, nil
}

// do makes a request and returns the body of a success, as far as the limit.
func do(client *http.Client, request *http.Request, limit int64, now time.Time) ([]byte, error) {
	response, err := client.Do(request)
	if err != nil {
		return nil, withoutURL(err)
	}
	defer func() { _ = response.Body.Close() }()

	// What the target did does not depend on whether its response arrived whole.
	body, _ := io.ReadAll(io.LimitReader(response.Body, limit))

	if response.StatusCode >= 200 && response.StatusCode < 300 {
		return body, nil
	}

	return nil, &refusal{status: response.StatusCode, reason: oneLine(string(body)), wait: waitOf(response.Header, now)}
}

// withoutURL removes the address from an error: its path may be a secret.
func withoutURL(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("could not send: %w", failed.Err)
	}

	return err
}

// waitOf reads the header Retry-After: seconds, or a time.
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

func oneLine(text string) string {
	runes := []rune(strings.Join(strings.Fields(tarsy.CleanText(text)), " "))
	if len(runes) > maxReason {
		return string(runes[:maxReason]) + "…"
	}

	return string(runes)
}
