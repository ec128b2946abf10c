package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"tarsy.dev/tarsy/internal/sse"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/internal/wire"
)

// errDone ends the reading of a stream: everything relevant has arrived.
var errDone = errors.New("the answer is complete")

// post makes a request and passes each event of the response to each, until that returns an error. complete reports whether the
// server signalled the end of the stream. The error is nil if the stream just ended; an error of each is returned unchanged,
// errDone as nil.
func (c *Client) post(ctx context.Context, path string, body any, each func(data []byte) error) (complete bool, failure error) {
	call, cancel := context.WithCancel(ctx)
	defer cancel()

	answer, err := wire.Post(call, c.http, c.address(path), c.header, body)
	if err != nil {
		return false, c.connection(ctx, err)
	}

	defer func() { _ = answer.Body.Close() }()

	events := sse.NewReader(answer.Body, 0) // an answer's body is bounded

	for {
		event, err := events.Next()

		switch {
		case errors.Is(err, io.EOF) && ctx.Err() == nil:
			return false, nil
		case err != nil:
			return false, llm.Transient(ctx, fmt.Errorf("read the answer's stream: %w", err))
		case event.Data == nil:
			continue
		}

		complete, err := c.take(bytes.TrimSpace(event.Data), each)
		if complete {
			drain(answer.Body, cancel)
		}

		if complete || err != nil {
			return complete, err
		}
	}
}

// take passes an event to each. complete reports whether it was the last relevant one.
func (c *Client) take(data []byte, each func(data []byte) error) (complete bool, failure error) {
	if bytes.Equal(data, []byte("[DONE]")) {
		return true, nil
	}

	err := c.reported(data)
	if err == nil {
		err = each(data)
	}

	if errors.Is(err, errDone) {
		return true, nil
	}

	return false, err
}

// drain reads the end of a stream, so that its connection can be reused, but does not wait for a server that does not send the end.
func drain(body io.Reader, cancel func()) {
	const (
		patience = 100 * time.Millisecond
		most     = 64 << 10
	)

	timer := time.AfterFunc(patience, cancel)
	defer timer.Stop()

	_, _ = io.CopyN(io.Discard, body, most)
}

// reported returns the error in an event that contains one instead of a part of the answer.
func (c *Client) reported(data []byte) error {
	if !bytes.Contains(data, []byte(`"error"`)) {
		return nil
	}

	var event struct {
		Error json.RawMessage `json:"error"`
	}

	// Invalid JSON is reported when the event is decoded; some servers send null if there is no error.
	_ = json.Unmarshal(data, &event)
	if len(event.Error) == 0 || bytes.Equal(event.Error, []byte("null")) {
		return nil
	}

	return c.streamError(readError(data))
}

// malformed returns the error for an invalid event.
func malformed(ctx context.Context, err error) error {
	return llm.Transient(ctx, fmt.Errorf("invalid event in the answer's stream: %w", err))
}

// cut returns the error for a stream that ended before the answer did.
func cut(ctx context.Context) error {
	return llm.Transient(ctx, errors.New("the stream ended before the answer did"))
}

// connection converts the error of a request that got no response, or an error response.
func (c *Client) connection(ctx context.Context, err error) error {
	if status, ok := errors.AsType[*wire.StatusError](err); ok && ctx.Err() == nil {
		return c.statusError(status)
	}

	// The address may contain secrets.
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}

	return llm.Transient(ctx, fmt.Errorf("reach the provider: %s", c.hide(err.Error())))
}
