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

// maxConsecutiveTimeouts is how many LLM calls in a row can time out before the execution fails.
const maxConsecutiveTimeouts = 2

// saveEvery is how often the text of a running stream is saved.
const saveEvery = time.Second

// errIterationTimeout is the cause of a context whose iteration timed out, errDeadline that of a context cancelled because the
// session's time is nearly up.
var (
	errIterationTimeout = errors.New("the iteration ran out of time")
	errDeadline         = errors.New("the call was cut off because the session's time is nearly up")
)

// Recorder records what an execution did. The engine implements it on top of the session's lease.
type Recorder interface {
	// Commit writes a step and waits until it is durable.
	Commit(ctx context.Context, step progress.Step) error
	// Submit writes a step without waiting. If it fails, the next Commit fails.
	Submit(step progress.Step)
	// Sequence returns the next sequence number of the session's timeline.
	Sequence() int64
	// CheckLease is called before every external call. It fails when too little of the lease is left.
	CheckLease(ctx context.Context) error
}

// OpenStream starts to show the growing text of a timeline event, under the fencing token of the session's lease. The returned
// functions never block.
type OpenStream func(event tarsy.TimelineEvent, fence int64) (add func(text string), end func())

// Config is shared by all executions.
type Config struct {
	LLM llm.Client
	// Retry configures retries of calls that failed before an answer began.
	Retry llm.Retry
	// Price adds the cost to the usage of a call; nil means that prices are unknown.
	Price func(model string, at time.Time, used tarsy.Usage) tarsy.Usage
	// Mask masks secrets in the error messages of providers; nil masks nothing.
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

// Spec describes an agent, after all levels of configuration are merged.
type Spec struct {
	Name               string   `json:"name"`
	Strategy           Strategy `json:"strategy"`
	CustomInstructions string   `json:"custom_instructions,omitempty"`
	// ServerInstructions are the instructions of the agent's MCP servers, in order.
	ServerInstructions []ServerInstructions `json:"-"`
	MaxIterations      int                  `json:"max_iterations"`
	IterationTimeout   time.Duration        `json:"iteration_timeout_ns"`
	Provider           string               `json:"provider"`
	Model              string               `json:"model"`
	Backend            string               `json:"backend"`
	// MaxResultTokens is the estimated limit of each tool result for the model; zero means the general limit.
	MaxResultTokens int `json:"max_result_tokens,omitempty"`
	// RepeatedCalls configures when the agent is warned about repeated calls, and when it must conclude.
	RepeatedCalls RepeatedCalls `json:"repeated_calls,omitzero"`
	// Approvals configures which calls need a person's approval.
	Approvals Approvals `json:"approvals,omitzero"`
	// NativeTools are used while no MCP tools are bound.
	NativeTools llm.NativeTools `json:"native_tools"`
	// Fallbacks take over, in this order, when the model fails.
	Fallbacks []Fallback `json:"fallbacks,omitempty"`
	// Digests configures, by MCP server, when a result is summarised before the model reads it. Results of servers without an entry are
	// passed on unchanged.
	Digests map[string]Digest `json:"-"`
}

// Digest configures when and how a model summarises a server's long results.
type Digest struct {
	// Threshold and MaxTokens are estimates, at four bytes per token.
	Threshold int    `json:"threshold"`
	MaxTokens int    `json:"max_tokens"`
	Provider  string `json:"provider,omitempty"`
	Model     string `json:"model,omitempty"`
	Backend   string `json:"backend,omitempty"`
}

// ServerInstructions explains how to use the tools of an MCP server.
type ServerInstructions struct {
	Server string
	Text   string
}

// StageResult is the result of an earlier stage.
type StageResult struct {
	StageName     string
	FinalAnalysis string
}

// Investigation is the work of one agent of a stage, as input for a synthesis.
type Investigation struct {
	Execution tarsy.Execution
	// Timeline are the events of this execution, in order.
	Timeline []tarsy.TimelineEvent
}

// Question is a user's question after the investigation.
type Question struct {
	Content string
	// Stages and Timeline cover the whole session: the investigation, and earlier questions and answers. The question itself is the
	// last event.
	Stages     []tarsy.Stage
	Executions []tarsy.Execution
	Timeline   []tarsy.TimelineEvent
}

// Input is an execution and its state in the database.
type Input struct {
	Session   tarsy.Session
	Stage     tarsy.Stage
	Execution tarsy.Execution
	Spec      Spec
	Earlier   []StageResult
	Runbook   string
	// Past are similar sessions for the prompt; empty if the chain does not use them.
	Past []tarsy.SimilarSession
	// Investigations are the input of a synthesis; Question is set if the execution answers one.
	Investigations []Investigation
	Question       *Question
	// EarlierCalls are the tool calls of earlier stages, which an analysis can cite in addition to the execution's own.
	EarlierCalls []tarsy.Citation
	// ConcludeAt is when the agent must conclude because the session's time is nearly up.
	ConcludeAt time.Time
	// Deadline is when the session's time is up; calls are cut short so that a conclusion fits before it. Zero means never.
	Deadline time.Time
	// ConcludeReason returns why the agent must conclude before ConcludeAt, if it must, and for a budget which of its limits is
	// reached. Nil means that there is no other reason.
	ConcludeReason func(ctx context.Context) (why tarsy.ForcedConclusion, detail string)

	Messages        []tarsy.Message
	Timeline        []tarsy.TimelineEvent
	LLMInteractions []tarsy.LLMInteraction
	MCPInteractions []tarsy.MCPInteraction

	// OpenTools connects the execution's tools; nil means that it has none.
	OpenTools func(ctx context.Context) (Tools, error)
	Recorder  Recorder
	// Fence is the fencing token of the lease under which the execution runs.
	Fence int64
	// Yield is cancelled when the execution should stop at the next safe point: an LLM call is cancelled, a tool call is allowed to
	// finish.
	Yield context.Context //nolint:containedctx // a second reason to stop, beside the one that is passed along
}

// Run continues an execution until it is over and its end is committed. It returns an error only when it cannot continue: it was
// cancelled or asked to yield, the lease was lost or a commit failed. The caller then decides, based on the database.
func Run(ctx context.Context, cfg Config, in Input) error {
	in.Spec = in.Spec.using(in.Execution.LLMProvider)
	r := &run{execution: execution{Config: cfg, Input: in}}

	return r.loop(ctx)
}

// run is an execution in progress. It belongs to one goroutine.
type run struct {
	execution

	tools toolset
	// started are the tool calls that this run recorded itself: other calls of Input.MCPInteractions that are started were interrupted.
	started   map[string]bool
	canonical canonicalTexts
	// closing is set if this run opened no tools because it was time to conclude. It then concludes, even if a new day with a new
	// budget has begun.
	closing       tarsy.ForcedConclusion
	closingDetail string
}

// elapsed returns a duration in milliseconds, never negative: the clock may have been set back.
func elapsed(from, to time.Time) int64 { return max(to.Sub(from).Milliseconds(), 0) }

// withLimit returns a context that is cancelled with cause after d on the injected clock.
func withLimit(ctx context.Context, clock clockwork.Clock, d time.Duration, cause error) (context.Context, context.CancelFunc) {
	limited, cancel := context.WithCancelCause(ctx)
	timer := clock.AfterFunc(d, func() { cancel(cause) })

	return limited, func() {
		timer.Stop()
		cancel(context.Canceled)
	}
}
