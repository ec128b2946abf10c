package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/kit/slowness"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The session, the question, and the stage and the run that answer it.
const (
	sessionID = "session"
	stageID   = "stage"
	messageID = "message"
	runID     = "run"
)

// frame is something that a backend sends to the newest reader of its events: a journal entry or, without a number, something that is sent
// once. A frame without text ends the connection.
type frame struct {
	number int64
	text   string
	sent   bool
}

// backend is a server whose journal the test writes. It serves one finished session.
type backend struct {
	t *testing.T
	// asked receives each question, and accept releases its response.
	asked  chan string
	accept chan struct{}
	// cancelled receives one value per cancellation request.
	cancelled chan struct{}
	// aborted is how many requests for events fail before they are answered. busy is the response status for a question that is refused,
	// and refused for a cancellation that is refused; 0 means accepted.
	aborted, busy, refused atomic.Int64

	mu       sync.Mutex
	frames   []frame
	added    chan struct{} // closed when there are more frames
	reader   int           // the newest
	number   int64         // of the last entry of the journal
	stage    tarsy.StageDetail
	timeline []tarsy.TimelineEvent
}

func (b *backend) serve() http.Handler {
	mux := http.NewServeMux()
	reply := func(w http.ResponseWriter, value any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(value)
	}
	path := "/api/v1/sessions/" + sessionID

	mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		reply(w, tarsy.SessionDetail{
			Session: tarsy.Session{ID: sessionID, Status: tarsy.SessionCompleted}, Version: b.number, Stages: []tarsy.StageDetail{b.stage},
		})
	})
	mux.HandleFunc("GET "+path+"/timeline", func(w http.ResponseWriter, _ *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		reply(w, map[string]any{"events": b.timeline})
	})
	mux.HandleFunc("POST "+path+"/chat/messages", func(w http.ResponseWriter, r *http.Request) {
		var question struct {
			Content string `json:"content"`
		}
		_ = json.NewDecoder(r.Body).Decode(&question)
		b.asked <- question.Content
		<-b.accept

		if status := b.busy.Load(); status != 0 {
			http.Error(w, `{"detail":"another question is being answered"}`, int(status))

			return
		}

		reply(w, client.Asked{ChatID: "chat", MessageID: messageID, StageID: stageID})
	})
	mux.HandleFunc("POST "+path+"/cancel", func(w http.ResponseWriter, _ *http.Request) {
		if status := b.refused.Load(); status != 0 {
			http.Error(w, `{"detail":"it is impossible"}`, int(status))
		} else {
			reply(w, map[string]any{})
		}
		b.cancelled <- struct{}{}
	})
	mux.HandleFunc("GET "+path+"/events", b.events)

	return mux
}

func (b *backend) events(w http.ResponseWriter, r *http.Request) {
	if b.aborted.Add(-1) >= 0 {
		panic(http.ErrAbortHandler)
	}

	w.Header().Set("Content-Type", "text/event-stream")

	after, _ := strconv.ParseInt(r.Header.Get("Last-Event-ID"), 10, 64)

	b.mu.Lock()
	b.reader++
	reader := b.reader
	b.mu.Unlock()

	for {
		text, added, ok := b.take(reader, &after)
		if !ok {
			panic(http.ErrAbortHandler)
		}

		_, _ = fmt.Fprint(w, text)
		_ = http.NewResponseController(w).Flush()

		select {
		case <-r.Context().Done():
			return
		case <-added:
		}
	}
}

// take returns what a reader has not received yet. added is closed when there is more.
func (b *backend) take(reader int, after *int64) (text string, added <-chan struct{}, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()

	for i := range b.frames {
		f := &b.frames[i]
		if reader != b.reader || f.sent && f.number == 0 || f.number != 0 && f.number <= *after {
			continue
		}

		f.sent, *after = true, max(*after, f.number)

		if f.text == "" {
			return "", nil, false
		}

		text += f.text
	}

	return text, b.added, true
}

// add adds a frame. Only journal entries have numbers.
func (b *backend) add(text string, number int64) {
	b.frames = append(b.frames, frame{number: number, text: text})
	close(b.added)
	b.added = make(chan struct{})
}

// once sends something that is not in the journal.
func (b *backend) once(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.add(text, 0)
}

// drop closes the reader's connection.
func (b *backend) drop() { b.once("") }

// emit appends an event to the journal.
func (b *backend) emit(e tarsy.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.number++
	b.add(fmt.Sprintf("id: %d\nevent: %s\ndata: %s\n\n", b.number, e.Type, e.Payload), b.number)
}

// status sets the status of the stage that answers.
func (b *backend) status(status tarsy.Status) {
	b.mu.Lock()
	b.stage = tarsy.StageDetail{Stage: tarsy.Stage{
		ID: stageID, SessionID: sessionID, StageType: tarsy.StageChat, StageIndex: 2, Status: status, CreatedAt: time.Now(),
	}, Executions: []tarsy.ExecutionDetail{{Execution: tarsy.Execution{
		ID: runID, StageID: stageID, SessionID: sessionID, AgentName: "Chat", Status: status,
	}}}}
	stage := b.stage
	b.mu.Unlock()
	b.emit(tarsy.StageStatusChanged(stage.Stage, time.Now()))

	if status == tarsy.StatusActive {
		b.emit(tarsy.ExecutionStatusChanged(stage.Executions[0].Execution, time.Now()))
	}
}

// begin adds an event to the timeline.
func (b *backend) begin(id string, kind tarsy.EventType, status tarsy.EventStatus, content string, metadata tarsy.Metadata) {
	stage, run := stageID, runID
	event := tarsy.TimelineEvent{
		ID: id, SessionID: sessionID, StageID: &stage, ExecutionID: &run, EventType: kind, Status: status, Content: content,
		Metadata: metadata, CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}
	if status != tarsy.EventStreaming {
		event.CompletedAt = &event.CreatedAt
	}

	b.keep(event)
	b.emit(tarsy.TimelineCreated(event))
}

// keep stores an event without a journal entry.
func (b *backend) keep(event tarsy.TimelineEvent) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.timeline = append(b.timeline, event)
}

// complete ends a timeline event with its full content.
func (b *backend) complete(id, content string) {
	b.mu.Lock()

	var event tarsy.TimelineEvent

	for i := range b.timeline {
		if e := &b.timeline[i]; e.ID == id {
			now := time.Now()
			e.Status, e.Content, e.CompletedAt = tarsy.EventCompleted, content, &now
			event = *e
		}
	}
	b.mu.Unlock()
	b.emit(tarsy.TimelineCompleted(event))
}

// chunk sends a piece of a text that is being written.
func (b *backend) chunk(id, text string, offset int, fence int64) {
	data, err := json.Marshal(tarsy.StreamChunkPayload{Type: tarsy.TypeStreamChunk, EventID: id, Delta: text, Offset: offset, Fence: fence})
	require.NoError(b.t, err)
	b.once(fmt.Sprintf("event: %s\ndata: %s\n\n", tarsy.TypeStreamChunk, data))
}

// overflow reports that the journal no longer contains the requested events.
func (b *backend) overflow() {
	b.once(fmt.Sprintf("event: %s\ndata: {}\n\n", tarsy.TypeOverflow))
}

// talk is a running chat and what it produces.
type talk struct {
	*backend

	chat     *Chat
	ctx      context.Context // limits the test
	question flow.Out[string]
	next     func() (journal.Record[flow.Entry], error, bool)
}

var errSlow = errors.New("timed out")

// newTalk runs a chat with paragraphs of at most 40 characters.
func newTalk(t *testing.T) *talk {
	t.Helper()

	b := &backend{
		t: t, added: make(chan struct{}), asked: make(chan string, 10), accept: make(chan struct{}, 10), cancelled: make(chan struct{}, 10),
		stage: tarsy.StageDetail{Stage: tarsy.Stage{ID: "earlier", StageType: tarsy.StageInvestigation, Status: tarsy.StatusCompleted}},
	}
	server := httptest.NewServer(b.serve())
	connection, err := client.New(client.Config{Server: server.URL, HTTP: server.Client(), RetryWait: time.Millisecond})
	require.NoError(t, err)

	people := flow.NewBranch("people")
	k := &talk{backend: b, question: flow.Produces[string](people)}
	k.chat = New(Config{
		Client: connection, SessionID: sessionID, Window: Paragraphs(40),
		Explain: func(err error) string { return "explained: " + err.Error() },
	})
	built, err := flow.Build([]*flow.Branch{people, k.chat.Branch},
		flow.Route(k.question, k.chat.Questions, func(_ context.Context, text string) (Question, error) { return Question{Text: text}, nil }),
		flow.Terminal(k.chat.Texts), flow.Terminal(k.chat.Tools), flow.Terminal(k.chat.Notices), flow.Terminal(k.chat.Ends), flow.Terminal(k.chat.Refusals))
	require.NoError(t, err)

	ctx, cancel := context.WithTimeoutCause(t.Context(), slowness.Scale(time.Minute), errSlow)
	k.ctx = ctx
	require.NoError(t, built.Start(ctx))

	next, stop := iter.Pull2(k.chat.Journal().Tail(ctx, 0))
	k.next = next

	t.Cleanup(func() {
		stop()
		cancel()
		require.NoError(t, built.Stop(context.WithoutCancel(t.Context())))
		connection.Close()
		server.Close()
	})

	return k
}

// ask asks a question that the server accepts.
func (k *talk) ask(text string) {
	k.t.Helper()
	k.send(text)
	k.accept <- struct{}{}
}

// send asks a question and returns once the server has received it.
func (k *talk) send(text string) {
	k.t.Helper()
	require.NoError(k.t, k.question.Send(k.t.Context(), text))
	require.Equal(k.t, text, receive(k, k.asked))
}

// receive waits for something that the server received.
func receive[A any](k *talk, from <-chan A) (received A) {
	k.t.Helper()

	select {
	case received = <-from:
	case <-k.ctx.Done():
		require.Fail(k.t, "the server got nothing")
	}

	return received
}

// expect checks what the chat produces next.
func (k *talk) expect(wanted ...string) {
	k.t.Helper()

	for _, want := range wanted {
		for {
			record, err, ok := k.next()
			require.NoError(k.t, err, "waiting for %q", want)
			require.True(k.t, ok)

			if got := describe(k.t, record.Entry); got != "" {
				require.Equal(k.t, want, got)

				break
			}
		}
	}
}

// describe returns an output of the chat as text; empty for an input.
func describe(t *testing.T, entry flow.Entry) string {
	t.Helper()

	switch {
	case flow.Is[Text](entry):
		text := as[Text](t, entry)

		return fmt.Sprintf("%d: %s", text.Block, text.Text)
	case flow.Is[Notice](entry):
		return "! " + as[Notice](t, entry).Text
	case flow.Is[Tool](entry):
		tool := as[Tool](t, entry)

		return "→ " + tool.Name + " " + tool.Result
	case flow.Is[Ended](entry):
		ended := as[Ended](t, entry)

		return fmt.Sprintf("%s: %s", ended.Stage.Status, ended.Answer.Answer)
	case flow.Is[Refused](entry):
		return "refused: " + as[Refused](t, entry).Reason
	}

	return ""
}

func as[A any](t *testing.T, entry flow.Entry) A {
	t.Helper()

	value, err := flow.As[A](entry)
	require.NoError(t, err)

	return value
}
