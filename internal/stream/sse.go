package stream

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/problem"
)

// sseReplayLimit is how many events an event stream replays. It exceeds that of a WebSocket, because many SSE readers have no other source.
const sseReplayLimit = 1000

// retryAfter is how long a browser waits before it reconnects.
const retryAfter = 2 * time.Second

// errOver ends the stream of a session that has ended.
var errOver = errors.New("the session is over")

// SSE serves the journal of one session as server-sent events.
//
// Each event has its number as id, its type as event and the same JSON as on a WebSocket as data. A reader that reconnects sends the number
// as Last-Event-ID, or as the parameter last_event_id, and misses nothing. Deltas are events of type "stream.chunk" without an id. If
// requested events are gone, or if there are more than 1,000, "catchup.overflow" asks the reader to load the session over REST, and the
// events after "head" follow; the parameter replay=all lifts the limit. When the session is over, the last event is "end" with the final
// status, and the response ends; the parameter follow=true keeps it open, for sessions that continue with a chat. "bye" means that the
// server is shutting down or could not read the journal, and the reader can reconnect, or that the reader's login ended and it gets 401
// when it does.
func (h *Hub) SSE(sessionID func(*http.Request) string) http.Handler {
	return h.eventStream(func(r *http.Request) (channel, error) { return h.sessionChannel(sessionID(r)) })
}

// NotesSSE serves the journal of notes in the same way. It has no "end", so the parameter follow has no effect.
func (h *Hub) NotesSSE() http.Handler {
	return h.eventStream(func(r *http.Request) (channel, error) { return h.notesChannel(h.visible(r)), nil })
}

// eventStream serves the channel that find returns for a request.
func (h *Hub) eventStream(find func(*http.Request) (channel, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !h.admit(w, r) {
			return
		}
		defer h.release(r)

		request, err := readSSERequest(r, find)
		if err != nil {
			problem.Write(w, r, h.logger, err)

			return
		}

		header := w.Header()
		header.Set("Content-Type", "text/event-stream")
		header.Set("Cache-Control", "no-store")
		header.Set("X-Accel-Buffering", "no")

		if r.Method == http.MethodHead {
			return
		}

		h.eventStreams.Add(1)
		defer h.eventStreams.Add(-1)

		out := &sseWriter{w: w, control: http.NewResponseController(w), limit: h.writeLimit}
		// The server's read timeout would end the response. Not every ResponseWriter supports deadlines, so ignore the error. A request
		// with a body keeps the timeout, because the server would wait for the body at the end.
		if r.ContentLength == 0 {
			_ = out.control.SetReadDeadline(time.Time{})
		}

		request.loginEnded = h.loginEnded(r)
		cause := h.serveSSE(r.Context(), out, request)
		h.logger.DebugContext(r.Context(), "event stream closed", "channel", request.channel.name, "cause", cause)
	})
}

// sseRequest is the request of a reader.
type sseRequest struct {
	channel     channel
	after, head journal.Position
	// follow keeps the stream open after the session has ended.
	follow bool
	// replayAll lifts the limit on replayed events.
	replayAll bool
	// loginEnded is closed when the reader may no longer read.
	loginEnded <-chan struct{}
}

// tooMany reports whether the reader has to load the current state over REST instead.
func (r sseRequest) tooMany() bool { return !r.replayAll && r.head-r.after > sseReplayLimit }

func readSSERequest(r *http.Request, find func(*http.Request) (channel, error)) (sseRequest, error) {
	request, err := parseSSERequest(r)
	if err != nil {
		return request, err
	}

	request.channel, err = find(r)
	if err != nil {
		return request, err
	}

	// Only sessions end.
	request.follow = request.follow || request.channel.sessionID == ""

	request.head, err = request.channel.journal.Head(r.Context())
	if err != nil {
		return request, fmt.Errorf("find the end of the journal: %w", err)
	}

	if request.after > request.head {
		return request, tarsy.FieldErrorf(tarsy.CodeInvalidParameter, "last_event_id",
			"the last event id must be the number of an event; the last one is %d", request.head)
	}

	return request, nil
}

// parseSSERequest parses the parameters, which are the same for all channels.
func parseSSERequest(r *http.Request) (sseRequest, error) {
	var request sseRequest

	query := r.URL.Query()

	// The header takes precedence: a browser that reconnects keeps the original URL, with an older parameter.
	last := r.Header.Get("Last-Event-ID")
	if last == "" {
		last = query.Get("last_event_id")
	}

	if last != "" {
		after, err := strconv.ParseInt(last, 10, 64)
		if err != nil || after < 0 {
			return request, tarsy.FieldErrorf(tarsy.CodeInvalidParameter, "last_event_id",
				"the last event id must be the number of an event")
		}

		request.after = journal.Position(after)
	}

	if follow := query.Get("follow"); follow != "" {
		value, err := strconv.ParseBool(follow)
		if err != nil {
			return request, tarsy.FieldErrorf(tarsy.CodeInvalidParameter, "follow", "follow must be true or false")
		}

		request.follow = value
	}

	switch query.Get("replay") {
	case "":
	case "all":
		request.replayAll = true
	default:
		return request, tarsy.FieldErrorf(tarsy.CodeInvalidParameter, "replay", "replay must be all, or left out")
	}

	return request, nil
}

// serveSSE writes until the session has ended, the reader leaves or the hub closes, and returns the reason.
func (h *Hub) serveSSE(parent context.Context, out *sseWriter, request sseRequest) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer context.AfterFunc(h.ctx, func() { cancel(errShuttingDown) })()

	// The overflow frame is sent first, then the events after the head.
	overflow := request.tooMany()
	if overflow {
		request.after = request.head
	}

	box := newOutbox()
	reader := h.subscribe(request.channel, request.after, out, box)
	failed := make(chan error, 1)

	var running sync.WaitGroup

	running.Go(func() {
		if overflow {
			reader.outbox.put(ctx, func() error { return out.overflow(reader.channel, request.head) })
		}

		failed <- h.runSSE(ctx, reader, out, request)
	})

	err := h.writeSSE(ctx, out, box, request.loginEnded, failed)
	cancel(err)
	running.Wait()

	return err
}

// runSSE produces the output of the stream.
func (h *Hub) runSSE(ctx context.Context, reader *subscription, out *sseWriter, request sseRequest) error {
	defer reader.close()

	// If events are gone, send all that are left, which are fewer than requested.
	reader.resume = func(_ context.Context, first journal.Position) (journal.Position, error) { return first - 1, nil }

	if request.follow {
		return reader.run(ctx)
	}

	over := &finish{
		journal: reader.journal, start: request.after, target: request.head,
		ask: func(ctx context.Context) (tarsy.SessionStatus, error) {
			return h.journals.Status(ctx, request.channel.sessionID)
		},
	}
	// The end is written after everything else that is queued.
	end := func(isOver bool, err error) error {
		if err != nil || !isOver {
			return err
		}

		reader.outbox.put(ctx, func() error { return out.end(over.status) })

		return errOver
	}

	reader.passed = func(ctx context.Context, record journal.Record[tarsy.Event]) error {
		return end(over.sent(ctx, record))
	}

	reader.resumed = func(ctx context.Context, after journal.Position) error {
		over.start = after

		return end(over.reached(ctx, after))
	}

	err := end(over.reached(ctx, request.after))
	if err != nil {
		return err
	}

	return reader.run(ctx)
}

func (h *Hub) writeSSE(ctx context.Context, out *sseWriter, box *outbox, loginEnded <-chan struct{}, failed <-chan error) error {
	ticker := time.NewTicker(h.commentEvery)
	defer ticker.Stop()

	err := out.write("retry: " + strconv.FormatInt(retryAfter.Milliseconds(), 10) + "\n\n")

	for err == nil {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-h.closing:
			err = out.bye(errShuttingDown)
		case <-loginEnded:
			err = out.bye(errLoggedOut)
		case err = <-failed:
			if ctx.Err() == nil {
				h.logger.WarnContext(ctx, "event stream failed", "error", err)

				err = out.bye(errSubscription)
			}
		case task := <-box.tasks:
			err = task()
		case <-box.wake:
			err = box.drain()
		case <-ticker.C:
			err = out.write(": keep-alive\n\n")
		}
	}

	return err
}
