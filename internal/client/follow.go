package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/sse"
)

// Update is one thing that a reader of a session learns: exactly one of its fields is set.
type Update struct {
	// Event is an entry of the journal: all of them that are left come, each once and in order.
	Event *tarsy.Event
	// Reloaded is the session as it is now. It comes instead of entries that are gone from the journal; entries that
	// come after it are newer than its Detail, and may tell again what its Timeline shows already.
	Reloaded *Reloaded
	// Chunk is a piece of text in flight. Chunks may be lost; the event that completes the text never is.
	Chunk *tarsy.StreamChunkPayload
	// Lost says why the connection ended. Follow connects again.
	Lost error
	// Back says that the connection is there again; what was missed follows.
	Back bool
	// End is the session's last status.
	End tarsy.SessionStatus
}

// Reloaded is a session and its timeline.
type Reloaded struct {
	Detail   tarsy.SessionDetail
	Timeline []tarsy.TimelineEvent
}

const (
	longestWait = 5 * time.Second
	// eventLimit is the longest event of a stream; a tool's result of 32 KB may be larger once it is escaped.
	eventLimit = 16 << 20
)

var (
	errClosed = errors.New("the server closed the connection")
	errSilent = errors.New("the server has gone silent")
	errBye    = errors.New("the server ended the stream")
)

// Follow reads a session's journal after an event, and the text in flight, until the session is over or ctx is done.
// It uses server-sent events, not the WebSocket: one session, one direction, and no limit to what is replayed. When a
// connection that once worked is lost, it connects again and goes on after the last event that it has. Only a first
// connection that fails, or a refusal, is an error, and then the last thing that comes.
func (c *Client) Follow(ctx context.Context, sessionID string, after int64) iter.Seq2[Update, error] {
	return c.follow(ctx, sessionID, after, nil)
}

// FollowOn follows a session as Follow does, but also when it is over, for what is asked then. It ends when ctx is done or
// the caller has seen enough.
func (c *Client) FollowOn(ctx context.Context, sessionID string, after int64) iter.Seq2[Update, error] {
	return c.follow(ctx, sessionID, after, url.Values{"follow": {"true"}})
}

func (c *Client) follow(ctx context.Context, sessionID string, after int64, query url.Values) iter.Seq2[Update, error] {
	return func(yield func(Update, error) bool) {
		f := &follower{client: c, sessionID: sessionID, after: after, query: query, yield: func(u Update) bool { return yield(u, nil) }}
		wait := c.cfg.RetryWait

		for {
			err := f.read(ctx)

			switch {
			case f.over:
				return
			case ctx.Err() != nil:
				yield(Update{}, context.Cause(ctx))

				return
			case !f.connected || Refused(err):
				yield(Update{}, err)

				return
			}

			if f.worked {
				wait = c.cfg.RetryWait

				if !f.lost && !yield(Update{Lost: err}, nil) {
					return
				}

				f.lost, f.worked = true, false
			}

			select {
			case <-ctx.Done():
			case <-time.After(wait):
				wait = min(2*wait, longestWait)
			}
		}
	}
}

// follower is where one Follow stands.
type follower struct {
	client    *Client
	sessionID string
	after     int64
	query     url.Values
	yield     func(Update) bool

	connected bool // once, at least
	worked    bool // the last connection did
	lost      bool // the reader was told so
	over      bool // nothing more is to come, or nobody wants it
}

// read reads one connection to its end and returns why it ended.
func (f *follower) read(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)

	silence := time.AfterFunc(f.client.cfg.Silence, func() { cancel(errSilent) })
	defer silence.Stop()

	request, err := f.client.request(ctx, string(SessionEvents), []string{f.sessionID}, f.query, nil)
	if err != nil {
		return err
	}

	request.Header.Set("Accept", "text/event-stream")

	if f.after > 0 {
		request.Header.Set("Last-Event-ID", strconv.FormatInt(f.after, 10))
	}

	response, err := f.client.cfg.HTTP.Do(request)
	if err != nil {
		return &UnreachableError{Server: f.client.Server(), Err: err}
	}

	defer func() { _ = response.Body.Close() }()

	if response.StatusCode != http.StatusOK {
		return readProblem(response)
	}

	f.connected, f.worked = true, true

	if f.lost {
		f.lost = false

		if !f.yield(Update{Back: true}) {
			f.over = true

			return nil
		}
	}

	body := heardReader{response.Body, func() { silence.Reset(f.client.cfg.Silence) }}

	return f.readEvents(ctx, sse.NewReader(body, eventLimit))
}

// readEvents reads the stream to its end and returns why it ended.
func (f *follower) readEvents(ctx context.Context, events *sse.Reader) error {
	for {
		event, err := events.Next()

		switch {
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.Is(err, io.EOF):
			return errClosed
		case err != nil:
			return fmt.Errorf("read events: %w", err)
		case event.Name == "":
			continue
		}

		if err := f.take(ctx, event); err != nil || f.over {
			return err
		}
	}
}

// heardReader calls heard whenever something arrives, be it a comment that keeps the connection open.
type heardReader struct {
	io.Reader

	heard func()
}

func (r heardReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.heard()
	}

	return n, err
}

// take handles one event of the stream.
func (f *follower) take(ctx context.Context, event sse.Event) error {
	var update Update

	switch event.Name {
	case tarsy.TypeEnd:
		var end tarsy.EndFrame

		if err := json.Unmarshal(event.Data, &end); err != nil {
			return fmt.Errorf("read the end of the session: %w", err)
		}

		update.End = end.Status
	case tarsy.TypeBye:
		return errBye
	case tarsy.TypeOverflow:
		reloaded, err := f.reload(ctx)
		if err != nil {
			return err
		}

		update.Reloaded = reloaded
	case tarsy.TypeStreamChunk:
		update.Chunk = &tarsy.StreamChunkPayload{}
		if err := json.Unmarshal(event.Data, update.Chunk); err != nil {
			return fmt.Errorf("read a piece of text: %w", err)
		}
	default:
		seq, err := strconv.ParseInt(event.ID, 10, 64)
		if err != nil || seq <= f.after {
			return nil //nolint:nilerr // not an entry of the journal, or one that is here already
		}

		f.after = seq
		update.Event = &tarsy.Event{SessionID: f.sessionID, Seq: seq, Type: event.Name, Payload: bytes.Clone(event.Data)}
	}

	f.over = !f.yield(update) || update.End != ""

	return nil
}

// reload asks for the session itself where its journal cannot tell any more. The detail is asked for first, so that the
// timeline is not older, and the journal goes on after the detail.
func (f *follower) reload(ctx context.Context) (*Reloaded, error) {
	detail, err := f.client.Session(ctx, f.sessionID)
	if err != nil {
		return nil, err
	}

	timeline, err := f.client.Timeline(ctx, f.sessionID)
	if err != nil {
		return nil, err
	}

	f.after = detail.Version

	return &Reloaded{Detail: detail, Timeline: timeline.Events}, nil
}
