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

// sseReplayLimit is how many events an event stream replays. It is higher than a WebSocket's: many readers of a stream
// have nothing else.
const sseReplayLimit = 1000

// retryAfter is how long a browser waits before it connects again.
const retryAfter = 2 * time.Second

// errOver ends a stream that has nothing more to say.
var errOver = errors.New("the session is over")

// SSE serves the journal of one session as server-sent events.
//
// Each event has its number as id, its type as event and the same JSON as on a WebSocket as data. A reader that
// comes back sends the number as Last-Event-ID, or as the parameter last_event_id, and misses nothing. Deltas are
// events of type "stream.chunk" without an id. If events that the reader asks for are gone, or if it asks for more than
// 1,000, it is told by "catchup.overflow" to load the session by REST, and gets what comes after "head"; the parameter
// replay=all lifts the limit. When the session is over, the last event is "end" with the final
// status, and the response ends; the parameter follow=true keeps it open, for sessions that go on with a chat.
// "bye" means that the server shuts down or could not read the journal, and the reader may come back, or that its login
// ended and it gets 401.
func (h *Hub) SSE(sessionID func(*http.Request) string) http.Handler {
	return h.eventStream(func(r *http.Request) (channel, error) { return h.sessionChannel(sessionID(r)) })
}

// NotesSSE serves the journal of notes in the same way. It has no "end": the parameter follow is not looked at.
func (h *Hub) NotesSSE() http.Handler {
	return h.eventStream(func(r *http.Request) (channel, error) { return h.notesChannel(h.visible(r)), nil })
}

// eventStream serves the channel that a request asks for.
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
		// A server's limit for reading requests would end the response; not every writer knows of it. A request with a
		// body keeps the limit: the server would wait for the body at the end.
		if r.ContentLength == 0 {
			_ = out.control.SetReadDeadline(time.Time{})
		}

		request.loginEnded = h.loginEnded(r)
		cause := h.serveSSE(r.Context(), out, request)
		h.logger.DebugContext(r.Context(), "event stream closed", "channel", request.channel.name, "cause", cause)
	})
}

// sseRequest is what a reader asks for.
type sseRequest struct {
	channel     channel
	after, head journal.Position
	// follow keeps the stream open when the session is over.
	follow bool
	// replayAll lifts the limit on what is replayed.
	replayAll bool
	// loginEnded is closed when the reader may not read any more.
	loginEnded <-chan struct{}
}

// tooMany reports whether the reader has to load the present state by REST instead.
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

	// Only a session ends.
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

// parseSSERequest reads the parameters, which all channels have in common.
func parseSSERequest(r *http.Request) (sseRequest, error) {
	var request sseRequest

	query := r.URL.Query()

	// The header is newer: a browser that comes back keeps the address it began with.
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

// serveSSE writes until the session is over, the reader leaves or the hub closes, and returns which it was.
func (h *Hub) serveSSE(parent context.Context, out *sseWriter, request sseRequest) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer context.AfterFunc(h.ctx, func() { cancel(errShuttingDown) })()

	// The reader is told first, then it gets what comes after the head.
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

// runSSE finds what is to be written.
func (h *Hub) runSSE(ctx context.Context, reader *subscription, out *sseWriter, request sseRequest) error {
	defer reader.close()

	// Where events are gone, all that is left follows: it is less than was asked for.
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
	// The end is written after everything else that waits.
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
