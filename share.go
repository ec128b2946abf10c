package tarsy

import "time"

// How long a share may be used, and how many a session can have that may be used.
const (
	DefaultShareLife = 7 * 24 * time.Hour
	MaxShareLife     = 90 * 24 * time.Hour
	MaxShares        = 100
)

// Share lets anybody who has its secret read one session until it expires. The secret is shown once, when the share is created.
type Share struct {
	// UUIDv7.
	ID string `json:"id"`
	// The session that can be read.
	SessionID string `json:"session_id"`
	// Who created it.
	Author string `json:"author"`
	// When it was created and when it ends.
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	// Nil unless somebody revoked it.
	RevokedAt *time.Time `json:"revoked_at"`
	// When it was used last; nil if it was never used.
	LastUsedAt *time.Time `json:"last_used_at"`
	// How often it was used.
	Uses int64 `json:"uses"`
}

// SharedSession is what a share shows of a session. It has neither its prompts, nor its alert's text, nor what it cost, nor its chat.
type SharedSession struct {
	// Same as in Session.
	ID        string `json:"id"`
	AlertType string `json:"alert_type"`
	AlertFacts
	// Chain and status when it was read.
	ChainID string        `json:"chain_id"`
	Status  SessionStatus `json:"status"`
	// The conclusion, as in Session.
	FinalAnalysis    string  `json:"final_analysis"`
	ExecutiveSummary string  `json:"executive_summary"`
	Outcome          Outcome `json:"outcome"`
	// Nil if there is none.
	Verdict *Verdict `json:"verdict"`
	// Why there is no conclusion, or an early one, as in Session.
	ErrorCode      string `json:"error_code"`
	ErrorMessage   string `json:"error_message"`
	ConcludedEarly string `json:"concluded_early"`
	// Same as in Session.
	CreatedAt   time.Time  `json:"created_at"`
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	// Those of the investigation, ordered by StageIndex; empty, not nil.
	Stages []SharedStage `json:"stages"`
}

// SharedStage is what a share shows of a stage.
type SharedStage struct {
	// Same as in Stage.
	ID        string    `json:"id"`
	StageName string    `json:"stage_name"`
	StageType StageType `json:"stage_type"`
	// Position in the session and state.
	StageIndex int    `json:"stage_index"`
	Status     Status `json:"status"`
	// Nil until it has started and ended.
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	// Ordered by AgentIndex; empty, not nil.
	Executions []SharedExecution `json:"executions"`
}

// SharedExecution is what a share shows of an execution.
type SharedExecution struct {
	// Same as in Execution.
	ID         string `json:"id"`
	AgentName  string `json:"agent_name"`
	AgentIndex int    `json:"agent_index"`
	// State when it was read.
	Status Status `json:"status"`
}

// Shared returns what a share shows of the session.
func (d SessionDetail) Shared() SharedSession {
	shared := SharedSession{
		ID: d.ID, AlertType: d.AlertType, AlertFacts: d.AlertFacts, ChainID: d.ChainID, Status: d.Status,
		FinalAnalysis: d.FinalAnalysis, ExecutiveSummary: d.ExecutiveSummary, Outcome: d.Outcome, Verdict: d.Verdict,
		ErrorCode: d.ErrorCode, ErrorMessage: d.ErrorMessage, ConcludedEarly: d.ConcludedEarly,
		CreatedAt: d.CreatedAt, StartedAt: d.StartedAt, CompletedAt: d.CompletedAt, Stages: []SharedStage{},
	}

	for _, stage := range d.Stages {
		if stage.StageType == StageChat {
			continue
		}

		s := SharedStage{
			ID: stage.ID, StageName: stage.StageName, StageType: stage.StageType, StageIndex: stage.StageIndex, Status: stage.Status,
			StartedAt: stage.StartedAt, CompletedAt: stage.CompletedAt, Executions: []SharedExecution{},
		}
		for _, e := range stage.Executions {
			s.Executions = append(s.Executions, SharedExecution{ID: e.ID, AgentName: e.AgentName, AgentIndex: e.AgentIndex, Status: e.Status})
		}

		shared.Stages = append(shared.Stages, s)
	}

	return shared
}

// Shows reports whether a share of the session shows a timeline event: those of the investigation, and those of no stage.
func (s SharedSession) Shows(event TimelineEvent) bool {
	if event.StageID == nil {
		return event.EventType != EventUserQuestion
	}

	for _, stage := range s.Stages {
		if stage.ID == *event.StageID {
			return true
		}
	}

	return false
}
