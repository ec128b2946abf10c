package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/llm"
)

// maxConsecutiveTimeouts is how many LLM calls in a row may run out of time before the execution fails.
const maxConsecutiveTimeouts = 2

// saveEvery is how often the text of a running stream is saved.
const saveEvery = time.Second

// errIterationTimeout is the cause of a context whose iteration ran out of time, errDeadline of one that was cut because the
// session's time is nearly up.
var (
	errIterationTimeout = errors.New("the iteration ran out of time")
	errDeadline         = errors.New("the call was cut off because the session's time is nearly up")
)

// Recorder writes what an execution did. The engine implements it over the lease of the session.
type Recorder interface {
	// Commit writes a step and waits until it is durable.
	Commit(ctx context.Context, step progress.Step) error
	// Submit writes a step without waiting. If it fails, the next Commit fails.
	Submit(step progress.Step)
	// Sequence returns the next sequence number of the session's timeline.
	Sequence() int64
	// CheckLease is called before every call to the outside. It fails when too little is left of the lease.
	CheckLease(ctx context.Context) error
}

// OpenStream begins to show the text of a timeline event while it grows, under the fence of the session's lease. The
// returned functions never wait.
type OpenStream func(event tarsy.TimelineEvent, fence int64) (add func(text string), end func())

// Config is what all executions share.
type Config struct {
	LLM llm.Client
	// Retry is how calls are made again that failed before an answer began.
	Retry llm.Retry
	// Price adds to what a call used what it cost; nil means that nothing is known of prices.
	Price func(model string, at time.Time, used tarsy.Usage) tarsy.Usage
	// Mask hides secrets in what providers say of errors; nil hides nothing.
	Mask       func(text string) string
	Clock      clockwork.Clock
	OpenStream OpenStream
	Logger     *slog.Logger
}

// Strategy is how an agent works.
type Strategy string

// The strategies.
const (
	// FunctionCalling binds tools as functions of the model.
	FunctionCalling Strategy = "function-calling"
	// React is the text protocol for models without functions.
	React Strategy = "react"
	// Synthesis is a single call without tools.
	Synthesis Strategy = "synthesis"
)

// Spec is what an agent is, after all levels of configuration have spoken.
type Spec struct {
	Name               string   `json:"name"`
	Strategy           Strategy `json:"strategy"`
	CustomInstructions string   `json:"custom_instructions,omitempty"`
	// ServerInstructions are those of the agent's MCP servers, in order.
	ServerInstructions []ServerInstructions `json:"-"`
	MaxIterations      int                  `json:"max_iterations"`
	IterationTimeout   time.Duration        `json:"iteration_timeout_ns"`
	Provider           string               `json:"provider"`
	Model              string               `json:"model"`
	Backend            string               `json:"backend"`
	// MaxResultTokens bounds, by an estimate, what the model is given of one tool result; zero means as much as any.
	MaxResultTokens int `json:"max_result_tokens,omitempty"`
	// RepeatedCalls say when the agent is told that it repeats itself, and when it must conclude.
	RepeatedCalls RepeatedCalls `json:"repeated_calls,omitzero"`
	// Approvals say which calls wait for a person.
	Approvals Approvals `json:"approvals,omitzero"`
	// NativeTools are used while no MCP tools are bound.
	NativeTools llm.NativeTools `json:"native_tools"`
	// Fallbacks go on, in this order, when the model fails.
	Fallbacks []Fallback `json:"fallbacks,omitempty"`
	// Digests say, by MCP server, when a result is shortened before the model reads it. A server without an entry
	// has its results passed on as they are.
	Digests map[string]Digest `json:"-"`
}

// Digest says when and how a server's long results are shortened by a model.
type Digest struct {
	// Threshold and MaxTokens are estimates, at four bytes a token.
	Threshold int    `json:"threshold"`
	MaxTokens int    `json:"max_tokens"`
	Provider  string `json:"provider,omitempty"`
	Model     string `json:"model,omitempty"`
	Backend   string `json:"backend,omitempty"`
}

// ServerInstructions is how to use the tools of one MCP server.
type ServerInstructions struct {
	Server string
	Text   string
}

// StageResult is what an earlier stage found.
type StageResult struct {
	StageName     string
	FinalAnalysis string
}

// Investigation is what one agent of a stage did, for the agent that makes one analysis of several.
type Investigation struct {
	Execution tarsy.Execution
	// Timeline are the events of this execution, in order.
	Timeline []tarsy.TimelineEvent
}

// Question is what somebody asked after the investigation.
type Question struct {
	Content string
	// Stages and Timeline are the whole session's: the investigation, and what was asked and answered before. The
	// question itself is the last event.
	Stages     []tarsy.Stage
	Executions []tarsy.Execution
	Timeline   []tarsy.TimelineEvent
}

// Input is one execution and what the database holds of it.
type Input struct {
	Session   tarsy.Session
	Stage     tarsy.Stage
	Execution tarsy.Execution
	Spec      Spec
	Earlier   []StageResult
	Runbook   string
	// Past are similar sessions that the prompt shows; empty if the chain does not ask for them.
	Past []tarsy.SimilarSession
	// Investigations are what a synthesis works on; Question is set when the execution answers one.
	Investigations []Investigation
	Question       *Question
	// EarlierCalls are the tool calls of earlier stages, which an analysis may cite beside the execution's own.
	EarlierCalls []tarsy.Citation
	// ConcludeAt is when the agent is told to conclude because the session's time is nearly up.
	ConcludeAt time.Time
	// Deadline is when the session's time is up; calls are cut so that a conclusion fits before it. Zero means never.
	Deadline time.Time
	// ConcludeReason returns why the agent must conclude before that, if so, and for a budget which cap of it is reached. Nil means
	// that there is no other reason.
	ConcludeReason func(ctx context.Context) (why tarsy.ForcedConclusion, detail string)

	Messages        []tarsy.Message
	Timeline        []tarsy.TimelineEvent
	LLMInteractions []tarsy.LLMInteraction
	MCPInteractions []tarsy.MCPInteraction

	// OpenTools connects the execution's tools; nil means that it has none.
	OpenTools func(ctx context.Context) (Tools, error)
	Recorder  Recorder
	// Fence is that of the lease under which the execution runs.
	Fence int64
	// Yield is cancelled when the execution should stop at the next safe point: an LLM call is cut off, a tool call
	// may finish.
	Yield context.Context //nolint:containedctx // a second reason to stop, beside the one that is passed along
}

// Run goes on with an execution until it is over and its end is committed. It returns an error only when it could
// not go on: it was cancelled or asked to yield, the lease was lost or a commit failed. Then the caller decides, from what
// the database holds.
func Run(ctx context.Context, cfg Config, in Input) error {
	in.Spec = in.Spec.using(in.Execution.LLMProvider)
	r := &run{execution: execution{Config: cfg, Input: in}}

	return r.loop(ctx)
}

// run is one execution under way. It belongs to one goroutine.
type run struct {
	execution

	tools toolset
	// started are the tool calls that this run wrote down itself: those of Input.MCPInteractions that are started
	// and not in here were cut off.
	started map[string]bool
	// closing is why this run has opened no tools, if it was time to conclude; then it concludes, though a new day may have
	// begun with a budget of its own.
	closing       tarsy.ForcedConclusion
	closingDetail string
}

// elapsed is how long something took, in milliseconds: at least none, for a clock may be set back meanwhile.
func elapsed(from, to time.Time) int64 { return max(to.Sub(from).Milliseconds(), 0) }

// withLimit returns a context that is cancelled with cause after d by the injected clock.
func withLimit(ctx context.Context, clock clockwork.Clock, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancelCause(ctx)
	timer := clock.AfterFunc(d, func() { cancel(cause) })

	return limited, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}
