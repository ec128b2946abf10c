package stream_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/stream"
	"tarsy.dev/tarsy/notebook"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const notesPath = "/api/v1/notes/events"

// patience is how long a test waits for something that must happen.
var patience = slowness.Scale(30 * time.Second)

// journals keeps sessions in memory. It signals when a tail ended, and can be made to fail.
type journals struct {
	mu        sync.Mutex
	byID      map[string]*journal.Memory[tarsy.Event]
	statuses  map[string]tarsy.SessionStatus
	tailEnded chan struct{}
	failure   error
}

func (j *journals) Journal(sessionID string) journal.Reader[tarsy.Event] {
	j.mu.Lock()
	defer j.mu.Unlock()

	return reader{memory: j.byID[sessionID], journals: j}
}

func (j *journals) Status(_ context.Context, sessionID string) (tarsy.SessionStatus, error) {
	j.mu.Lock()
	defer j.mu.Unlock()

	if j.byID[sessionID] == nil {
		return "", tarsy.Errorf(tarsy.CodeSessionNotFound, "there is no session with this id")
	}

	return j.statuses[sessionID], nil
}

// reader is the journal of a session, or of an unknown one.
type reader struct {
	memory   *journal.Memory[tarsy.Event]
	journals *journals
}

func (r reader) Head(ctx context.Context) (journal.Position, error) {
	if r.memory == nil {
		return 0, tarsy.Errorf(tarsy.CodeSessionNotFound, "there is no session with this id")
	}

	return r.memory.Head(ctx)
}

func (r reader) Tail(ctx context.Context, after journal.Position) iter.Seq2[journal.Record[tarsy.Event], error] {
	return func(yield func(journal.Record[tarsy.Event], error) bool) {
		defer func() {
			select {
			case r.journals.tailEnded <- struct{}{}:
			default:
			}
		}()

		if r.journals.failure != nil {
			yield(journal.Record[tarsy.Event]{}, r.journals.failure)

			return
		}

		r.memory.Tail(ctx, after)(yield)
	}
}

func (r reader) Backward(ctx context.Context, before journal.Position) iter.Seq2[journal.Record[tarsy.Event], error] {
	return r.memory.Backward(ctx, before)
}

// feed is one subscriber's view of a feed.
type feed struct {
	changes    chan stream.Change
	behind     chan struct{}
	subscribed chan struct{}
}

func (f *feed) Changes(int) (<-chan stream.Change, func() bool, func()) {
	f.subscribed <- struct{}{}

	return f.changes, func() bool {
		select {
		case <-f.behind:
			return true
		default:
			return false
		}
	}, func() {}
}

// hub is a Hub behind a real HTTP server.
type hub struct {
	*stream.Hub

	journals *journals
	notes    *journal.Memory[tarsy.Event]
	feed     *feed
	deltas   *stream.Deltas
	server   *httptest.Server
}

func newHub(t *testing.T, change ...func(*stream.Config)) *hub {
	t.Helper()

	return newHubOn(t, (*httptest.Server).Start, change...)
}

func newHubOn(t *testing.T, start func(*httptest.Server), change ...func(*stream.Config)) *hub {
	t.Helper()

	h := &hub{
		journals: &journals{
			byID: map[string]*journal.Memory[tarsy.Event]{}, statuses: map[string]tarsy.SessionStatus{}, tailEnded: make(chan struct{}, 64),
		},
		notes: journal.NewMemory[tarsy.Event](clockwork.NewRealClock()),
		feed: &feed{
			changes: make(chan stream.Change, 16), behind: make(chan struct{}, 1), subscribed: make(chan struct{}, 16),
		},
		deltas: stream.NewDeltas(stream.DeltasConfig{
			ServerID: "one", Clock: clockwork.NewRealClock(), Window: time.Nanosecond,
		}),
	}
	t.Cleanup(h.deltas.Close)

	cfg := stream.Config{
		Journals: h.journals, Notes: reader{memory: h.notes, journals: h.journals}, Feed: h.feed, Deltas: h.deltas, Logger: slog.New(slog.DiscardHandler),
	}
	for _, f := range change {
		f(&cfg)
	}

	h.Hub = stream.New(cfg)

	mux := http.NewServeMux()
	mux.Handle("/api/v1/ws", h.WebSocket())
	mux.Handle("/api/v1/sessions/{id}/events", h.SSE(func(r *http.Request) string { return r.PathValue("id") }))

	mux.Handle(notesPath, h.NotesSSE())

	h.server = httptest.NewUnstartedServer(mux)
	start(h.server)
	t.Cleanup(h.server.Close)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()

		require.NoError(t, h.Close(ctx))
	})

	return h
}

// session adds a session without events.
func (h *hub) session() string {
	h.journals.mu.Lock()
	defer h.journals.mu.Unlock()

	id := ident.New()
	h.journals.byID[id] = journal.NewMemory[tarsy.Event](clockwork.NewRealClock())

	return id
}

func (h *hub) append(t require.TestingT, sessionID string, events ...tarsy.Event) {
	h.journals.mu.Lock()
	memory := h.journals.byID[sessionID]
	h.journals.mu.Unlock()

	_, err := memory.Append(context.Background(), events...)
	require.NoError(t, err)
}

// trim removes a session's events through a number.
func (h *hub) trim(sessionID string, through int64) {
	h.journals.mu.Lock()
	defer h.journals.mu.Unlock()

	h.journals.byID[sessionID].Trim(journal.Position(through))
}

// stages appends n arbitrary events.
func (h *hub) stages(t require.TestingT, sessionID string, n int) {
	for range n {
		h.append(t, sessionID, tarsy.NewEvent(sessionID, tarsy.TypeStageStatus,
			tarsy.StageStatusPayload{Type: tarsy.TypeStageStatus, SessionID: sessionID, Status: tarsy.StageStarted}, time.Now()))
	}
}

func (h *hub) status(t require.TestingT, sessionID string, status tarsy.SessionStatus) {
	h.journals.mu.Lock()
	h.journals.statuses[sessionID] = status
	h.journals.mu.Unlock()

	h.append(t, sessionID, tarsy.NewEvent(sessionID, tarsy.TypeSessionStatus,
		tarsy.SessionStatusPayload{Type: tarsy.TypeSessionStatus, SessionID: sessionID, Status: status}, time.Now()))
}

func (h *hub) created(t require.TestingT, sessionID, eventID string) {
	h.append(t, sessionID, tarsy.NewEvent(sessionID, tarsy.TypeTimelineCreated, tarsy.TimelineCreatedPayload{
		Type: tarsy.TypeTimelineCreated, SessionID: sessionID, EventID: eventID, Status: tarsy.EventStreaming,
	}, time.Now()))
}

func (h *hub) completed(t require.TestingT, sessionID, eventID string) {
	h.append(t, sessionID, tarsy.NewEvent(sessionID, tarsy.TypeTimelineCompleted, tarsy.TimelineCompletedPayload{
		Type: tarsy.TypeTimelineCompleted, SessionID: sessionID, EventID: eventID, Status: tarsy.EventCompleted,
	}, time.Now()))
}

// capture appends n events to the journal of notes.
func (h *hub) capture(t require.TestingT, n int) {
	for range n {
		_, err := h.notes.Append(context.Background(), notebook.NewNoteEvent(notebook.NotePayload{
			Type: notebook.TypeNoteCaptured, NoteID: ident.New(), Timestamp: time.Now(),
		}))
		require.NoError(t, err)
	}
}

// message is any message from the server.
type message struct {
	Type         string `json:"type"`
	ConnectionID string `json:"connection_id"`
	Channel      string `json:"channel"`
	ID           int64  `json:"db_event_id"`
	Head         int64  `json:"head"`
	SessionID    string `json:"session_id"`
	EventID      string `json:"event_id"`
	Status       string `json:"status"`
	Version      int64  `json:"version"`
	Behind       bool   `json:"behind"`
	Delta        string `json:"delta"`
	Offset       int    `json:"offset"`
	Fence        int64  `json:"fence"`
	Code         string `json:"code"`
	Message      string `json:"message"`
	Reason       string `json:"reason"`
}

// client is a WebSocket that has received its connection.established.
type client struct {
	*websocket.Conn

	t   require.TestingT
	ctx context.Context
}

func (h *hub) dial(t require.TestingT, ctx context.Context, options *websocket.DialOptions) *client { //nolint:revive // t first
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	context.AfterFunc(ctx, cancel)

	conn, response, err := websocket.Dial(ctx, h.server.URL+"/api/v1/ws", options)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
	conn.SetReadLimit(-1)

	c := &client{Conn: conn, t: t, ctx: ctx}
	hello := c.next()
	require.Equal(t, "connection.established", hello.Type)
	require.True(t, ident.Valid(hello.ConnectionID))

	return c
}

func (h *hub) connect(t *testing.T) *client {
	t.Helper()

	c := h.dial(t, t.Context(), nil)
	t.Cleanup(func() { _ = c.CloseNow() })

	return c
}

func (c *client) sayf(format string, args ...any) {
	require.NoError(c.t, c.Write(c.ctx, websocket.MessageText, fmt.Appendf(nil, format, args...)))
}

func (c *client) next() message {
	_, data, err := c.Read(c.ctx)
	require.NoError(c.t, err)

	var m message
	require.NoError(c.t, json.Unmarshal(data, &m), string(data))

	return m
}

func (c *client) subscribe(sessionID string, after int64) { c.subscribeTo("session:"+sessionID, after) }

func (c *client) subscribeTo(channel string, after int64) {
	c.sayf(`{"action":"subscribe","channel":%q,"last_event_id":%d}`, channel, after)
	require.Equal(c.t, message{Type: "subscription.confirmed", Channel: channel}, c.next())
}

// expect reads the events of a session with the numbers first to last.
func (c *client) expect(sessionID string, first, last int64) {
	c.expectFrom("session:"+sessionID, first, last)
}

func (c *client) expectFrom(channel string, first, last int64) {
	for id := first; id <= last; id++ {
		m := c.next()
		require.Equal(c.t, id, m.ID, m.Type)
		require.Equal(c.t, channel, m.Channel)
	}
}

// pong checks that nothing else is in flight, and that the connection is alive.
func (c *client) pong() {
	c.sayf(`{"action":"ping"}`)
	require.Equal(c.t, message{Type: "pong"}, c.next())
}

// sse is an item of an event stream.
type sse struct {
	ID, Event, Comment, Retry string
	Data                      message
}

// events is an open event stream.
type events struct {
	*http.Response

	t     require.TestingT
	lines *bufio.Reader
	leave context.CancelFunc
}

func (h *hub) open(t require.TestingT, ctx context.Context, sessionID, query string, headers ...string) *events { //nolint:revive // t first
	return h.openPath(t, ctx, "/api/v1/sessions/"+sessionID+"/events"+query, headers...)
}

func (h *hub) openPath(t require.TestingT, ctx context.Context, path string, headers ...string) *events { //nolint:revive // t first
	ctx, cancel := context.WithTimeout(ctx, 2*patience)

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, h.server.URL+path, nil)
	require.NoError(t, err)

	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}

	response, err := h.server.Client().Do(request)
	require.NoError(t, err)

	e := &events{Response: response, t: t, lines: bufio.NewReader(response.Body)}
	e.leave = func() {
		cancel()

		_ = response.Body.Close()
	}

	return e
}

func (h *hub) watch(t *testing.T, sessionID, query string, headers ...string) *events {
	t.Helper()

	return h.watchPath(t, "/api/v1/sessions/"+sessionID+"/events"+query, headers...)
}

func (h *hub) watchNotes(t *testing.T, query string, headers ...string) *events {
	t.Helper()

	return h.watchPath(t, notesPath+query, headers...)
}

func (h *hub) watchPath(t *testing.T, path string, headers ...string) *events {
	t.Helper()

	e := h.openPath(t, t.Context(), path, headers...)
	t.Cleanup(e.leave)
	require.Equal(t, http.StatusOK, e.StatusCode)
	require.Equal(t, sse{Retry: "2000"}, e.next())

	return e
}

func (e *events) next() sse {
	item, err := e.read()
	require.NoError(e.t, err)

	return item
}

func (e *events) read() (sse, error) {
	var item sse

	for {
		line, err := e.lines.ReadString('\n')
		if err != nil {
			return item, err
		}

		field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		value = strings.TrimPrefix(value, " ")

		switch field {
		case "":
			if value == "" {
				return item, nil
			}

			item.Comment = value
		case "id":
			item.ID = value
		case "event":
			item.Event = value
		case "retry":
			item.Retry = value
		case "data":
			err = json.Unmarshal([]byte(value), &item.Data)
			if err != nil {
				return item, err
			}
		}
	}
}

// event returns the next event, skipping comments, which can come between any two events on a slow machine.
func (e *events) event() sse {
	for {
		if item := e.next(); item.Comment == "" {
			return item
		}
	}
}

func (e *events) expect(first, last int64) {
	for id := first; id <= last; id++ {
		item := e.event()
		require.Equal(e.t, strconv.FormatInt(id, 10), item.ID)
		require.Equal(e.t, id, item.Data.ID)
		require.Equal(e.t, item.Data.Type, item.Event)
	}
}

func (e *events) over() {
	_, err := e.read()
	require.ErrorIs(e.t, err, io.EOF)
}
