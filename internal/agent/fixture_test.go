package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	testwait "tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// firstCall is the line before the first result of the fixture's execution.
const firstCall = "[call 1.2.1]\n"

var errKilled = errors.New("the server was killed")

// ledger is a Recorder that stores what a database would.
type ledger struct {
	mu    sync.Mutex
	state progress.State
	steps []progress.Step
	// times are when the steps were recorded, if there is a clock.
	times []time.Time
	clock clockwork.Clock
	// left is how many steps it records before it is killed; negative means never.
	left     int
	sequence int64
	checks   int
	// refuse fails the n-th call to CheckLease, counted from one.
	refuse int
	// after is called with every recorded step.
	after func(step progress.Step)
}

func (l *ledger) take(step progress.Step) error {
	l.mu.Lock()

	if l.left == 0 {
		l.mu.Unlock()

		return errKilled
	}

	l.left--
	l.state.Apply(step)
	l.steps = append(l.steps, step)

	if l.clock != nil {
		l.times = append(l.times, l.clock.Now())
	}

	after := l.after
	l.mu.Unlock()

	if after != nil {
		after(step)
	}

	return nil
}

func (l *ledger) Commit(_ context.Context, step progress.Step) error { return l.take(step) }
func (l *ledger) Submit(step progress.Step)                          { _ = l.take(step) }

func (l *ledger) Sequence() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.sequence++

	return l.sequence
}

func (l *ledger) CheckLease(context.Context) error {
	l.mu.Lock()
	defer l.mu.Unlock()

	l.checks++
	if l.checks == l.refuse {
		return errKilled
	}

	return nil
}

// bench is one execution, its model and its tools.
type bench struct {
	t      require.TestingT
	clock  *clockwork.FakeClock
	model  *script.Script
	tools  *fakeTools
	ledger *ledger
	spec   Spec
	fence  int64
	yield  context.Context
	shown  *shown
	// task has the fields of Input that are not rows, for tests that need them.
	task Input
	// downAt is the number of answers after which the provider "test" fails permanently; nil means never.
	downAt *int
	// summary is the reply to every request to summarise a tool's result.
	summary script.Reply
}

func newBench(t require.TestingT) *bench {
	b := &bench{
		t: t, clock: clockwork.NewFakeClock(), model: script.New(script.Options{}), tools: &fakeTools{},
		ledger: newLedger(), fence: 1, yield: context.Background(), shown: &shown{},
		spec: Spec{Name: "Investigator", MaxIterations: 5, IterationTimeout: time.Minute, Provider: "test", Model: "m-1"},
	}
	b.ledger.clock = b.clock

	return b
}

func newLedger() *ledger {
	session := tarsy.Session{ID: "session", AlertType: "pod-crash", AlertData: "it hurts", Status: tarsy.SessionInProgress}
	execution := tarsy.Execution{ID: "execution", SessionID: "session", StageID: "stage", AgentName: "Investigator", AgentIndex: 2, Status: tarsy.StatusActive}

	return &ledger{left: -1, state: progress.State{
		Session: session, Executions: []tarsy.Execution{execution},
		Stages: []tarsy.Stage{{ID: "stage", SessionID: "session", StageName: "analysis", StageIndex: 1}},
	}}
}

// input returns what the engine passes in: copies of the database's rows.
func (b *bench) input() Input {
	state := b.ledger.state
	in := Input{
		Session: state.Session, Stage: state.Stages[0], Execution: state.Executions[0], Spec: b.spec,
		Earlier: b.task.Earlier, Runbook: b.task.Runbook, Investigations: b.task.Investigations, Question: b.task.Question, EarlierCalls: b.task.EarlierCalls,
		ConcludeAt: b.task.ConcludeAt, Deadline: b.task.Deadline,
		Messages: slices.Clone(state.Messages), Timeline: slices.Clone(state.Timeline),
		LLMInteractions: slices.Clone(state.LLMInteractions), MCPInteractions: slices.Clone(state.MCPInteractions),
		Recorder: b.ledger, Fence: b.fence, Yield: b.yield,
	}

	if b.tools != nil {
		in.OpenTools = func(context.Context) (Tools, error) {
			if b.tools.openErr != nil {
				return nil, b.tools.openErr
			}

			b.tools.opened++

			return b.tools, nil
		}
	}

	return in
}

func (b *bench) config() Config {
	return Config{LLM: b.model, Clock: b.clock, OpenStream: b.shown.open, Logger: slog.New(slog.DiscardHandler)}
}

func (b *bench) run(ctx context.Context) error { return Run(ctx, b.config(), b.input()) }

// finish runs the execution, which must complete.
func (b *bench) finish() tarsy.Execution {
	require.NoError(b.t, b.run(context.Background()))
	requireNoNUL(b.t, stored(b.ledger.steps))

	if b.tools != nil {
		require.Equal(b.t, b.tools.opened, b.tools.closed, "tools were left open")
	}

	execution := b.ledger.state.Executions[0]
	require.True(b.t, execution.Status.Terminal())
	require.NotNil(b.t, execution.CompletedAt)

	for _, e := range b.ledger.state.Timeline {
		require.NotEqual(b.t, tarsy.EventStreaming, e.Status, "%s is left streaming", e.EventType)
	}

	return execution
}

// stored returns the part of steps that the database stores.
func stored(steps []progress.Step) []progress.Step {
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].Prompts = nil
	}

	return steps
}

// events returns the timeline's events of a type.
func (b *bench) events(eventType tarsy.EventType) []tarsy.TimelineEvent {
	var events []tarsy.TimelineEvent

	for _, e := range b.ledger.state.Timeline {
		if e.EventType == eventType {
			events = append(events, e)
		}
	}

	return events
}

// called returns the metadata of a tool call, counted from zero.
func (b *bench) called(n int) tarsy.ToolCallMetadata {
	return tarsy.MetadataAs[tarsy.ToolCallMetadata](b.events(tarsy.EventToolCall)[n].Metadata)
}

// fallback returns the metadata of the first change of provider.
func (b *bench) fallback() tarsy.ProviderFallbackMetadata {
	return tarsy.MetadataAs[tarsy.ProviderFallbackMetadata](b.events(tarsy.EventProviderFallback)[0].Metadata)
}

func (b *bench) analysis() string {
	events := b.events(tarsy.EventFinalAnalysis)
	require.Len(b.t, events, 1)

	return events[0].Content
}

// journalCount counts the journal events of a type for a timeline event.
func (b *bench) journalCount(eventID, eventType string) int {
	count := 0

	for _, step := range b.ledger.steps {
		for _, e := range step.Events {
			var about struct {
				EventID string `json:"event_id"`
			}

			require.NoError(b.t, json.Unmarshal(e.Payload, &about))

			if e.Type == eventType && about.EventID == eventID {
				count++
			}
		}
	}

	return count
}

// fakeTools has a read-only tool and some that write; their answers depend only on their arguments.
type fakeTools struct {
	mu             sync.Mutex
	calls          []Call
	opened, closed int
	list           []Tool
	unavailable    map[string]string
	missing        map[string]string
	openErr        error
	listErr        error
	during         func(ctx context.Context, call Call) (Result, error)
	whileListing   func()
}

func (f *fakeTools) List(context.Context) ([]Tool, error) {
	if f.whileListing != nil {
		f.whileListing()
	}

	if f.listErr != nil {
		return nil, f.listErr
	}

	if f.list != nil {
		return f.list, nil
	}

	return []Tool{
		{Server: "box", Name: "look", ReadOnly: true, Description: "looks", Schema: json.RawMessage(`{"type":"object"}`)},
		{Server: "box", Name: "change", Schema: json.RawMessage(`{}`)},
		{Server: "box", Name: "broken", Schema: json.RawMessage(`{}`)},
	}, nil
}

func (f *fakeTools) Call(ctx context.Context, call Call) (Result, error) {
	f.mu.Lock()
	f.calls = append(f.calls, call)
	during := f.during
	f.mu.Unlock()

	switch {
	case during != nil:
		return during(ctx, call)
	case strings.HasSuffix(call.Name, "broken"):
		return Result{}, errors.New("connection refused")
	default:
		return Result{Content: fmt.Sprintf("%s says %s", call.Name, call.Arguments), Attempts: 1}, nil
	}
}

func (f *fakeTools) Unavailable() map[string]string { return f.unavailable }
func (f *fakeTools) Missing() map[string]string     { return f.missing }

func (f *fakeTools) Close() error {
	f.closed++

	return nil
}

// shown records what streams showed.
type shown struct {
	mu     sync.Mutex
	opened []string
	began  []string
	fences []int64
	text   map[string]string
	ended  int
}

func (s *shown) open(event tarsy.TimelineEvent, fence int64) (add func(string), end func()) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.text == nil {
		s.text = map[string]string{}
	}

	s.opened, s.began, s.fences = append(s.opened, event.ID), append(s.began, event.Content), append(s.fences, fence)
	s.text[event.ID] = ""

	return func(text string) {
			s.mu.Lock()
			defer s.mu.Unlock()

			s.text[event.ID] += text
		}, func() {
			s.mu.Lock()
			defer s.mu.Unlock()

			s.ended++
		}
}

// requireNoNUL checks that every string of every row, even if it hides in JSON as an escape, is valid UTF-8 without NUL.
func requireNoNUL(t require.TestingT, steps []progress.Step) {
	for _, step := range steps {
		raw, err := json.Marshal(step)
		require.NoError(t, err)

		var value any

		require.NoError(t, json.Unmarshal(raw, &value))
		requireClean(t, value)
	}
}

func requireClean(t require.TestingT, value any) {
	switch v := value.(type) {
	case string:
		require.NotContains(t, v, "\x00")
	case []any:
		for _, e := range v {
			requireClean(t, e)
		}
	case map[string]any:
		for k, e := range v {
			require.NotContains(t, k, "\x00")
			requireClean(t, e)
		}
	}
}

func toolCall(id, name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: "box__" + name, Arguments: arguments}
}

// answers makes the model answer by the number of answers in the conversation, so that a repeated call gets the same answer. Time
// passes with every call.
func (b *bench) answers(replies ...script.Reply) {
	b.model.RouteFunc(func(*llm.Request) bool { return true }, func(r *llm.Request, _ int) script.Reply {
		b.clock.Advance(time.Millisecond)

		if r.Purpose == string(tarsy.InteractionSummarization) {
			return b.summary
		}

		answered := 0

		for _, m := range r.Messages {
			if m.Role == llm.RoleAssistant {
				answered++
			}
		}

		if b.downAt != nil && answered >= *b.downAt && r.Provider == "test" {
			return script.Reply{Text: "half a", Err: refused(), AfterChunks: 1}
		}

		return replies[min(answered, len(replies)-1)]
	})
}

// client is a model implemented by a function.
type client func(ctx context.Context, req *llm.Request, yield func(llm.Chunk, error) bool)

func (c client) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) { c(ctx, req, yield) }
}

// wait receives from a channel, with a time limit.
func wait[T any](t *testing.T, c <-chan T) T {
	t.Helper()

	return testwait.For(t, c, "a channel")
}
