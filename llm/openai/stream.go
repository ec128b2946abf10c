package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/ssestream"

	"tarsy.dev/tarsy/llm"
)

// errDone ends the reading of a stream: all that matters has come.
var errDone = errors.New("the answer is complete")

// post makes a request and hands each event of its answer to each, until that returns an error. Complete reports whether the
// server said that the stream is at its end. The error is nil if the stream just ended; each's own error is returned as
// it is, errDone as nil.
func (c *Client) post(ctx context.Context, path string, params any, each func(data []byte) error) (complete bool, failure error) {
	call, cancel := context.WithCancel(ctx)
	defer cancel()

	var answer *http.Response
	if err := c.sdk.Post(call, path, params, &answer, option.WithJSONSet("stream", true)); err != nil {
		return false, c.connection(ctx, err)
	}

	defer func() { _ = answer.Body.Close() }()

	events := ssestream.NewDecoder(answer)

	for events.Next() {
		data := bytes.TrimSpace(events.Event().Data)
		if bytes.Equal(data, []byte("[DONE]")) {
			drain(answer.Body, cancel)

			return true, nil
		}

		err := c.reported(data)
		if err == nil {
			err = each(data)
		}

		switch {
		case errors.Is(err, errDone):
			drain(answer.Body, cancel)

			return true, nil
		case err != nil:
			return false, err
		}
	}

	if err := events.Err(); err != nil || ctx.Err() != nil {
		return false, llm.Transient(ctx, fmt.Errorf("read the answer's stream: %w", err))
	}

	return false, nil
}

// drain reads the end of a stream, so that its connection can be used again; but does not wait for a server that does not
// send it.
func drain(body io.Reader, cancel func()) {
	const (
		patience = 100 * time.Millisecond
		most     = 64 << 10
	)

	timer := time.AfterFunc(patience, cancel)
	defer timer.Stop()

	_, _ = io.CopyN(io.Discard, body, most)
}

// reported is the error that an event carries instead of a part of the answer.
func (c *Client) reported(data []byte) error {
	if !bytes.Contains(data, []byte(`"error"`)) {
		return nil
	}

	var event struct {
		Error json.RawMessage `json:"error"`
	}

	// What does not parse is met by whoever reads the event; null is how some servers say that there is none.
	_ = json.Unmarshal(data, &event)
	if len(event.Error) == 0 || bytes.Equal(event.Error, []byte("null")) {
		return nil
	}

	return c.streamError(readError(data))
}

// malformed is the error of an event that makes no sense.
func malformed(ctx context.Context, err error) error {
	return llm.Transient(ctx, fmt.Errorf("invalid event in the answer's stream: %w", err))
}

// cut is the error of a stream that ended before the answer did.
func cut(ctx context.Context) error {
	return llm.Transient(ctx, errors.New("the stream ended before the answer did"))
}

// connection is the error of a request that got no answer, or one that is an error.
func (c *Client) connection(ctx context.Context, err error) error {
	if known, ok := errors.AsType[*llm.Error](err); ok && ctx.Err() == nil {
		return known
	}

	// The address may carry what nobody should read.
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}

	return llm.Transient(ctx, fmt.Errorf("reach the provider: %s", c.hide(err.Error())))
}

// exchange is what each request passes through in flight. It takes out what the library tells of this machine, and makes
// errors of answers that are none, because the library reads all of them, however long.
func (c *Client) exchange(request *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	for name := range request.Header {
		if strings.HasPrefix(name, "X-Stainless-") {
			request.Header.Del(name)
		}
	}

	request.Header.Set("Accept", "text/event-stream")

	answer, err := next(request)
	if err != nil {
		return answer, err
	}

	llm.BoundBody(answer)

	if answer.StatusCode < http.StatusBadRequest {
		return answer, nil
	}

	defer func() { _ = answer.Body.Close() }()

	// What could be read says more than that the rest could not.
	body, _ := io.ReadAll(answer.Body)

	return nil, c.statusError(answer, body)
}
