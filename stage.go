package tarsy

import "time"

// Status is the state of a stage or an execution.
type Status string

// The statuses of stages and executions.
const (
	StatusPending   Status = "pending"
	StatusActive    Status = "active"
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
	StatusTimedOut  Status = "timed_out"
)

// Terminal reports whether the work has ended.
func (s Status) Terminal() bool {
	switch s {
	case StatusCompleted, StatusFailed, StatusCancelled, StatusTimedOut:
		return true
	case StatusPending, StatusActive:
		return false
	}

	return false
}

// SuccessPolicy decides whether a stage with several agents has succeeded: if any of them has, or only if all have.
type SuccessPolicy string

// The success policies.
const (
	PolicyAny SuccessPolicy = "any"
	PolicyAll SuccessPolicy = "all"
)

// ParallelType is the reason why a stage has several executions.
type ParallelType string

// The kinds of parallel stages.
const (
	ParallelMultiAgent ParallelType = "multi_agent"
	ParallelReplica    ParallelType = "replica"
)

// StageType is the purpose of a stage.
type StageType string

// The types of stages. A synthesis follows every stage with several agents; a chat stage answers one question.
const (
	StageInvestigation StageType = "investigation"
	StageSynthesis     StageType = "synthesis"
	StageChat          StageType = "chat"
)

// StageTypes lists the types of stages.
func StageTypes() []StageType { return []StageType{StageInvestigation, StageSynthesis, StageChat} }

// Stage is one step of a session as it ran.
type Stage struct {
	// UUIDv7. For chat stages chosen at intake, otherwise by the server that starts the stage.
	ID string `json:"id"`
	// Unique together with StageIndex.
	SessionID string `json:"session_id"`
	// Name in the chain's configuration; syntheses and chat stages have a generated one.
	StageName string `json:"stage_name"`
	// Determines which agent of the chain runs, and its input.
	StageType StageType `json:"stage_type"`
	// Counts from one in the session, over all types.
	StageIndex int `json:"stage_index"`
	// Number of executions; they are created together with the stage.
	ExpectedAgentCount int `json:"expected_agent_count"`
	// Both nil unless the stage has several agents.
	ParallelType  *ParallelType  `json:"parallel_type"`
	SuccessPolicy *SuccessPolicy `json:"success_policy"`
	// The question that a chat stage answers; both nil for other types.
	ChatID            *string `json:"chat_id"`
	ChatUserMessageID *string `json:"chat_user_message_id"`
	// Terminal once all executions have ended.
	Status Status `json:"status"`
	// Error of the agent, or one line per failed agent. Empty if the stage succeeded.
	ErrorMessage string `json:"error_message"`
	// StartedAt equals CreatedAt: stages start when they are created. CompletedAt is nil until the stage ends.
	CreatedAt   time.Time  `json:"created_at"`
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
}

// ForcedConclusion is the reason why an agent was forced to conclude before it was done.
type ForcedConclusion string

// The reasons to conclude.
const (
	NotForced        ForcedConclusion = ""
	ForcedIterations ForcedConclusion = "iterations"
	ForcedDeadline   ForcedConclusion = "deadline"
	ForcedBudget     ForcedConclusion = "budget"
	// ForcedResolved means that the session's alert was resolved during the investigation.
	ForcedResolved ForcedConclusion = "resolved"
	// ForcedRepeatedCalls means that the agent kept repeating the same tool call.
	ForcedRepeatedCalls ForcedConclusion = "repeated_calls"
)

// ForcedConclusions lists the reasons to conclude.
func ForcedConclusions() []ForcedConclusion {
	return []ForcedConclusion{ForcedIterations, ForcedDeadline, ForcedBudget, ForcedResolved, ForcedRepeatedCalls}
}

// Early reports whether the reason makes the session count as concluded early.
func (f ForcedConclusion) Early() bool {
	return f == ForcedDeadline || f == ForcedBudget || f == ForcedResolved || f == ForcedRepeatedCalls
}

// Execution is one agent's run inside a stage. Its state is entirely in the database, mostly in its messages, so any server can continue
// it.
type Execution struct {
	// UUIDv7, chosen by the server that starts the stage.
	ID string `json:"id"`
	// The stage that the execution belongs to, and its session.
	SessionID string `json:"session_id"`
	StageID   string `json:"stage_id"`
	// Name in the configuration; replicas have a number appended ("agent-2").
	AgentName string `json:"agent_name"`
	// Counts from one in the stage.
	AgentIndex int `json:"agent_index"`
	// One of agent.Strategy. Empty for a chat whose chain no longer takes questions.
	IterationStrategy string `json:"iteration_strategy"`
	// Key of the provider in the configuration. Changes when a fallback takes over.
	LLMProvider string `json:"llm_provider"`
	// NotForced unless the agent was forced to conclude.
	ForcedConclusion ForcedConclusion `json:"forced_conclusion"`
	// Tool results up to the message with this sequence number are sent to the model shortened, because the conversation became too long.
	// Zero if none are.
	ShortenedThrough int `json:"shortened_through"`
	// Active from the start. An execution is never pending.
	Status Status `json:"status"`
	// Both empty on success. The code is stable, the message is for users.
	ErrorCode    string `json:"error_code"`
	ErrorMessage string `json:"error_message"`
	// StartedAt equals CreatedAt. CompletedAt is nil until the execution ends.
	CreatedAt   time.Time  `json:"created_at"`
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
}
