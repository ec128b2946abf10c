package published

import (
	"net/http"
	"net/url"
	"time"

	"tarsy.dev/tarsy"
)

// spend is the usage of LLM calls.
type spend struct {
	InputTokens      int      `json:"input_tokens"`
	OutputTokens     int      `json:"output_tokens"`
	TotalTokens      int      `json:"total_tokens"`
	EstimatedCostUSD *float64 `json:"estimated_cost_usd,omitempty"`
	CostCompleteness string   `json:"cost_completeness,omitempty"`
}

// spendOf counts thinking as output, like the published TARSy.
func spendOf(u tarsy.Usage) spend {
	s := spend{
		InputTokens: u.InputTokens, OutputTokens: u.OutputTokens + u.ThinkingTokens, TotalTokens: u.TotalTokens,
		EstimatedCostUSD: &u.CostUSD, CostCompleteness: "complete",
	}

	switch {
	case u.UnpricedTokens == 0:
	case u.CostUSD == 0:
		s.EstimatedCostUSD, s.CostCompleteness = nil, "none"
	default:
		s.CostCompleteness = "partial"
	}

	return s
}

// unknown has fields about scores and reviews, which do not exist here.
type unknown struct {
	LatestScore           *int    `json:"latest_score"`
	ScoringStatus         *string `json:"scoring_status"`
	ReviewStatus          *string `json:"review_status"`
	QualityRating         *string `json:"quality_rating"`
	ActionTaken           *string `json:"action_taken"`
	InvestigationFeedback *string `json:"investigation_feedback"`
	FeedbackEdited        bool    `json:"feedback_edited"`
	FeedbackEditedBy      *string `json:"feedback_edited_by"`
	FeedbackEditedAt      *string `json:"feedback_edited_at"`
	HasActionStages       bool    `json:"has_action_stages"`
	ActionsExecuted       *bool   `json:"actions_executed"`
}

// summary has the common fields of lists and details.
type summary struct {
	ID                  string              `json:"id"`
	AlertType           string              `json:"alert_type"`
	ChainID             string              `json:"chain_id"`
	Status              tarsy.SessionStatus `json:"status"`
	Author              *string             `json:"author"`
	CreatedAt           time.Time           `json:"created_at"`
	StartedAt           *time.Time          `json:"started_at"`
	CompletedAt         *time.Time          `json:"completed_at"`
	DurationMs          *int64              `json:"duration_ms"`
	ErrorMessage        *string             `json:"error_message"`
	ExecutiveSummary    *string             `json:"executive_summary"`
	MCPInteractionCount int                 `json:"mcp_interaction_count"`
	TotalStages         int                 `json:"total_stages"`
	CurrentStageIndex   *int                `json:"current_stage_index"`
	Assignee            *string             `json:"assignee"`

	spend
	unknown
}

// item is a session in the list.
type item struct {
	summary

	MatchedInContent bool `json:"matched_in_content"`
}

func itemOf(s tarsy.SessionItem) item {
	i := item{
		summary: summary{
			ID: s.ID, AlertType: s.AlertType, ChainID: s.ChainID, Status: s.Status, Author: text(s.Author), CreatedAt: s.CreatedAt,
			StartedAt: s.StartedAt, CompletedAt: s.CompletedAt, DurationMs: duration(s.StartedAt, s.CompletedAt), ErrorMessage: text(s.ErrorMessage),
			ExecutiveSummary: text(s.ExecutiveSummary), MCPInteractionCount: s.ToolCalls, TotalStages: s.StageCount,
			Assignee: assignee(s.Handling), spend: spendOf(s.Usage),
		},
		MatchedInContent: s.Match != nil && (s.Match.Field == "alert_data" || s.Match.Field == "final_analysis"),
	}

	if s.CurrentStageIndex > 0 {
		i.CurrentStageIndex = &s.CurrentStageIndex
	}

	return i
}

// detailed is a session in detail.
type detailed struct {
	summary

	AlertData               string              `json:"alert_data"`
	FinalAnalysis           *string             `json:"final_analysis"`
	ExecutiveSummaryError   *string             `json:"executive_summary_error"`
	RunbookURL              *string             `json:"runbook_url"`
	SlackMessageFingerprint *string             `json:"slack_message_fingerprint,omitempty"`
	MCPSelection            *tarsy.MCPSelection `json:"mcp_selection,omitempty"`
	ChatID                  *string             `json:"chat_id"`
	CompletedStages         int                 `json:"completed_stages"`
	FailedStages            int                 `json:"failed_stages"`
	HasParallelStages       bool                `json:"has_parallel_stages"`
	CurrentStageID          *string             `json:"current_stage_id"`
	Stages                  []stage             `json:"stages"`
}

type stage struct {
	ID                 string              `json:"id"`
	StageName          string              `json:"stage_name"`
	StageIndex         int                 `json:"stage_index"`
	StageType          tarsy.StageType     `json:"stage_type"`
	Status             tarsy.Status        `json:"status"`
	ParallelType       *tarsy.ParallelType `json:"parallel_type"`
	ExpectedAgentCount int                 `json:"expected_agent_count"`
	StartedAt          *time.Time          `json:"started_at"`
	CompletedAt        *time.Time          `json:"completed_at"`
	Executions         []execution         `json:"executions,omitempty"`
}

type execution struct {
	ExecutionID  string       `json:"execution_id"`
	AgentName    string       `json:"agent_name"`
	AgentIndex   int          `json:"agent_index"`
	Status       tarsy.Status `json:"status"`
	LLMProvider  *string      `json:"llm_provider"`
	StartedAt    *time.Time   `json:"started_at"`
	CompletedAt  *time.Time   `json:"completed_at"`
	DurationMs   *int64       `json:"duration_ms"`
	ErrorMessage *string      `json:"error_message"`

	spend
}

// detail handles GET /sessions/{id}.
func detail(c call) (int, any, error) {
	var s tarsy.SessionDetail
	if err := c.get(c.session(), nil, &s); err != nil {
		return 0, nil, err
	}

	return http.StatusOK, detailOf(s), nil
}

func detailOf(s tarsy.SessionDetail) detailed {
	d := detailed{
		summary: itemOf(tarsy.SessionItem{
			ID: s.ID, AlertType: s.AlertType, ChainID: s.ChainID, Status: s.Status, Author: s.Author, CreatedAt: s.CreatedAt, StartedAt: s.StartedAt,
			CompletedAt: s.CompletedAt, ErrorMessage: s.ErrorMessage, ExecutiveSummary: s.ExecutiveSummary, ToolCalls: s.ToolCalls, Usage: s.Usage,
			StageCount: s.StageCount, CurrentStageIndex: s.CurrentStageIndex, Handling: s.Handling,
		}).summary,
		AlertData: s.AlertData, FinalAnalysis: text(s.FinalAnalysis), ExecutiveSummaryError: text(s.ExecutiveSummaryError), RunbookURL: text(s.RunbookURL),
		SlackMessageFingerprint: text(s.SlackMessageFingerprint), MCPSelection: s.MCPSelection, CurrentStageID: s.CurrentStageID, Stages: []stage{},
	}

	if s.Chat != nil {
		d.ChatID = &s.Chat.ID
	}

	for _, st := range s.Stages {
		d.add(st)
	}

	return d
}

// add adds a stage and counts it.
func (d *detailed) add(s tarsy.StageDetail) {
	converted := stage{
		ID: s.ID, StageName: s.StageName, StageIndex: s.StageIndex, StageType: s.StageType, Status: s.Status, ParallelType: s.ParallelType,
		ExpectedAgentCount: s.ExpectedAgentCount, StartedAt: s.StartedAt, CompletedAt: s.CompletedAt,
	}

	for _, e := range s.Executions {
		converted.Executions = append(converted.Executions, execution{
			ExecutionID: e.ID, AgentName: e.AgentName, AgentIndex: e.AgentIndex, Status: e.Status, LLMProvider: text(e.LLMProvider), StartedAt: e.StartedAt,
			CompletedAt: e.CompletedAt, DurationMs: duration(e.StartedAt, e.CompletedAt), ErrorMessage: text(e.ErrorMessage), spend: spendOf(e.Usage),
		})
	}

	d.Stages = append(d.Stages, converted)
	d.HasParallelStages = d.HasParallelStages || s.ParallelType != nil

	switch s.Status {
	case tarsy.StatusCompleted:
		d.CompletedStages++
	case tarsy.StatusFailed, tarsy.StatusTimedOut:
		d.FailedStages++
	case tarsy.StatusPending, tarsy.StatusActive, tarsy.StatusCancelled:
	}
}

// state is the response of GET /sessions/{id}/status.
type state struct {
	ID               string              `json:"id"`
	Status           tarsy.SessionStatus `json:"status"`
	FinalAnalysis    *string             `json:"final_analysis"`
	ExecutiveSummary *string             `json:"executive_summary"`
	ErrorMessage     *string             `json:"error_message"`
}

func status(c call) (int, any, error) {
	_, body, err := detail(c)
	if err != nil {
		return 0, nil, err
	}

	d := body.(detailed) //nolint:forcetypeassert // what detail returns

	return http.StatusOK, state{d.ID, d.Status, d.FinalAnalysis, d.ExecutiveSummary, d.ErrorMessage}, nil
}

// timeline handles GET /sessions/{id}/timeline with all events at once.
func timeline(c call) (int, any, error) {
	events, query := []tarsy.TimelineEvent{}, url.Values{}

	for {
		var page struct {
			Events     []tarsy.TimelineEvent `json:"events"`
			NextCursor string                `json:"next_cursor"`
		}

		if err := c.get(c.session()+"/timeline", query, &page); err != nil {
			return 0, nil, err
		}

		events = append(events, page.Events...)

		if page.NextCursor == "" {
			return http.StatusOK, events, nil
		}

		query.Set("cursor", page.NextCursor)
	}
}

// text returns nil for an empty string, which is encoded as null.
func text(s string) *string {
	if s == "" {
		return nil
	}

	return &s
}

func duration(from, to *time.Time) *int64 {
	if from == nil || to == nil {
		return nil
	}

	ms := to.Sub(*from).Milliseconds()

	return &ms
}

func assignee(h *tarsy.Handling) *string {
	if h == nil {
		return nil
	}

	return text(h.Assignee)
}
