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

// Update is one update for a reader of a session. Exactly one of its fields is set.
type Update struct {
	// Event is a journal entry. All entries that the journal still contains are delivered, once each and in order.
	Event *tarsy.Event
	// Reloaded is the current state of the session, in place of entries that the journal no longer contains. Later entries are newer than
	// its Detail, but can repeat what its Timeline already contains.
	Reloaded *Reloaded
	// Chunk is a piece of text in flight. Chunks can be lost; the event that completes the text is not.
	Chunk *tarsy.StreamChunkPayload
	// Lost is why the connection ended. Follow reconnects.
	Lost error
	// Back means that the connection is restored. Missed entries follow.
	Back bool
	// End is the final status of the session.
	End tarsy.SessionStatus
}

// Reloaded is a session and its timeline.
type Reloaded struct {
	Detail   tarsy.SessionDetail
	Timeline []tarsy.TimelineEvent
}

const (
	longestWait = 5 * time.Second
	// eventLimit is the longest event of a stream; a 32 KB tool result can grow when it is escaped.
	eventLimit = 16 << 20
)

var (
	errClosed = errors.New("the server closed the connection")
	errSilent = errors.New("the server has gone silent")
	errBye    = errors.New("the server ended the stream")
)

// Follow reads a session's journal after an event, and the text in flight, until the session is over or ctx is done. It uses server-sent
// events instead of the WebSocket: one session, one direction, and no limit on the replay. If an established connection is lost, it
// reconnects and continues after the last event that it received. The errors are a failure of the first connection, a refusal, and the
// cause of ctx; an error ends the iteration.
func (c *Client) Follow(ctx context.Context, sessionID string, after int64) iter.Seq2[Update, error] {
	return c.follow(ctx, sessionID, after, nil)
}

// FollowOn is Follow, but continues after the session is over, for later questions. It ends when ctx is done or the
// caller stops the iteration.
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

// follower is the state of one Follow.
type follower struct {
	client    *Client
	sessionID string
	after     int64
	query     url.Values
	yield     func(Update) bool

	connected bool // at least once
	worked    bool // the last connection was established
	lost      bool // Lost was reported
	over      bool // nothing follows, or the caller stopped the iteration
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

	body := activityReader{response.Body, func() { silence.Reset(f.client.cfg.Silence) }}

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

// activityReader calls active whenever data arrives, including keep-alive comments.
type activityReader struct {
	io.Reader

	active func()
}

func (r activityReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.active()
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

// reload loads the session itself when its journal is incomplete. It loads the detail first, so that the timeline is not older. The journal
// continues after the detail.
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
