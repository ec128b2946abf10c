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

// Terminal reports whether the work is over.
func (s Status) Terminal() bool {
	switch s {
	case StatusCompleted, StatusFailed, StatusCancelled, StatusTimedOut:
		return true
	case StatusPending, StatusActive:
		return false
	}

	return false
}

// SuccessPolicy decides when a stage with several agents has succeeded.
type SuccessPolicy string

// The success policies.
const (
	PolicyAny SuccessPolicy = "any"
	PolicyAll SuccessPolicy = "all"
)

// ParallelType says why a stage has several executions.
type ParallelType string

// The kinds of parallel stages.
const (
	ParallelMultiAgent ParallelType = "multi_agent"
	ParallelReplica    ParallelType = "replica"
)

// StageType says what a stage is for.
type StageType string

// The kinds of stages. A synthesis follows every stage that several agents ran; a chat stage answers one question.
const (
	StageInvestigation StageType = "investigation"
	StageSynthesis     StageType = "synthesis"
	StageChat          StageType = "chat"
)

// StageTypes lists the kinds of stages.
func StageTypes() []StageType { return []StageType{StageInvestigation, StageSynthesis, StageChat} }

// Stage is one step of a session, as it ran. StageIndex counts from one over all kinds.
type Stage struct {
	ID                 string         `json:"id"`
	SessionID          string         `json:"session_id"`
	StageName          string         `json:"stage_name"`
	StageType          StageType      `json:"stage_type"`
	StageIndex         int            `json:"stage_index"`
	ExpectedAgentCount int            `json:"expected_agent_count"`
	ParallelType       *ParallelType  `json:"parallel_type"`
	SuccessPolicy      *SuccessPolicy `json:"success_policy"`
	ChatID             *string        `json:"chat_id"`
	ChatUserMessageID  *string        `json:"chat_user_message_id"`
	Status             Status         `json:"status"`
	ErrorMessage       string         `json:"error_message"`
	CreatedAt          time.Time      `json:"created_at"`
	StartedAt          *time.Time     `json:"started_at"`
	CompletedAt        *time.Time     `json:"completed_at"`
}

// ForcedConclusion says why an agent was told to conclude before it was done.
type ForcedConclusion string

// The reasons to conclude. The last two make the session one that concluded early.
const (
	NotForced        ForcedConclusion = ""
	ForcedIterations ForcedConclusion = "iterations"
	ForcedDeadline   ForcedConclusion = "deadline"
	ForcedBudget     ForcedConclusion = "budget"
)

// ForcedConclusions lists the reasons to conclude.
func ForcedConclusions() []ForcedConclusion {
	return []ForcedConclusion{ForcedIterations, ForcedDeadline, ForcedBudget}
}

// Early reports whether the session as a whole concluded early by it.
func (f ForcedConclusion) Early() bool { return f == ForcedDeadline || f == ForcedBudget }

// Execution is one agent's run inside a stage. Its state is its messages. AgentIndex counts from one.
type Execution struct {
	ID                string           `json:"id"`
	SessionID         string           `json:"session_id"`
	StageID           string           `json:"stage_id"`
	AgentName         string           `json:"agent_name"`
	AgentIndex        int              `json:"agent_index"`
	IterationStrategy string           `json:"iteration_strategy"`
	LLMProvider       string           `json:"llm_provider"`
	ForcedConclusion  ForcedConclusion `json:"forced_conclusion"`
	// ShortenedThrough is the number of the last message whose tool result the model is given shortened, because the
	// conversation had become too long for it.
	ShortenedThrough int        `json:"shortened_through"`
	Status           Status     `json:"status"`
	ErrorCode        string     `json:"error_code"`
	ErrorMessage     string     `json:"error_message"`
	CreatedAt        time.Time  `json:"created_at"`
	StartedAt        *time.Time `json:"started_at"`
	CompletedAt      *time.Time `json:"completed_at"`
}
