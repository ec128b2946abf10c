package live

import (
	"encoding/json"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

// Session is the state of a session as a reader knows it.
type Session struct {
	ID        string
	AlertType string
	Facts     tarsy.AlertFacts
	Alert     *tarsy.AlertState // nil if the alert has no identity
	ChainID   string
	Author    string
	AlertData string
	CreatedAt time.Time

	Status         tarsy.SessionStatus
	ConcludedEarly string
	ErrorMessage   string
	StartedAt      time.Time
	EndedAt        time.Time
	// Verdict is nil until there is one. The journal contains only its outcome, cause and confidence; the reader has to load the rest.
	Verdict *tarsy.Verdict
	Items   []*Item

	agents map[string]*Agent // by execution
}

// NewSession starts with the server's detail of a session; the journal adds the rest.
func NewSession(detail tarsy.SessionDetail) *Session {
	s := &Session{
		ID: detail.ID, AlertType: detail.AlertType, Facts: detail.AlertFacts, Alert: detail.Alert, ChainID: detail.ChainID, Author: detail.Author,
		AlertData: detail.AlertData, CreatedAt: detail.CreatedAt, Status: detail.Status, ErrorMessage: detail.ErrorMessage,
		ConcludedEarly: detail.ConcludedEarly, Verdict: detail.Verdict, agents: map[string]*Agent{},
	}

	if detail.StartedAt != nil {
		s.StartedAt = *detail.StartedAt
	}

	if detail.CompletedAt != nil {
		s.EndedAt = *detail.CompletedAt
	}

	return s
}

// Apply applies one update. Unknown updates are ignored.
func (s *Session) Apply(update client.Update) {
	switch {
	case update.Event != nil:
		s.applyEvent(*update.Event)
	case update.Reloaded != nil:
		s.reload(*update.Reloaded)
	case update.Chunk != nil:
		s.applyChunk(*update.Chunk)
	case update.End != "":
		s.Status = update.End
	}
}

func (s *Session) applyEvent(event tarsy.Event) {
	switch event.Type {
	case tarsy.TypeSessionStatus:
		if p, ok := Decode[tarsy.SessionStatusPayload](event); ok {
			s.sessionStatus(p)
		}
	case tarsy.TypeSessionVerdict:
		if p, ok := Decode[tarsy.SessionVerdictPayload](event); ok && s.Verdict == nil {
			s.Verdict = &tarsy.Verdict{
				SessionID: p.SessionID, Outcome: p.Outcome, Cause: tarsy.Claim{Text: p.Cause}, Confidence: p.Confidence, CreatedAt: p.Timestamp,
			}
		}
	case tarsy.TypeStageStatus:
		if p, ok := Decode[tarsy.StageStatusPayload](event); ok {
			s.stageStatus(p)
		}
	case tarsy.TypeExecutionStatus:
		if p, ok := Decode[tarsy.ExecutionStatusPayload](event); ok {
			s.agentStatus(p)
		}
	case tarsy.TypeTimelineCreated:
		if p, ok := Decode[tarsy.TimelineCreatedPayload](event); ok {
			s.created(p)
		}
	case tarsy.TypeApprovalStatus:
		if p, ok := Decode[tarsy.ApprovalStatusPayload](event); ok {
			s.decided(p)
		}
	case tarsy.TypeTimelineCompleted:
		if p, ok := Decode[tarsy.TimelineCompletedPayload](event); ok {
			s.completed(p)
		}
	}
}

// Decode decodes the payload of an event. It returns false if the payload has another shape.
func Decode[P any](event tarsy.Event) (P, bool) {
	var payload P

	err := json.Unmarshal(event.Payload, &payload)

	return payload, err == nil
}

// sessionStatus applies a status. The journal is read from its beginning, so a session that was already over when it was loaded receives
// its earlier statuses again; it remains over.
func (s *Session) sessionStatus(p tarsy.SessionStatusPayload) {
	if p.Status == tarsy.SessionInProgress && s.StartedAt.IsZero() {
		s.StartedAt = p.Timestamp
	}

	if s.Status.Terminal() && !p.Status.Terminal() {
		return
	}

	s.Status, s.ErrorMessage, s.ConcludedEarly = p.Status, p.ErrorMessage, p.ConcludedEarly

	if p.Status.Terminal() {
		s.EndedAt = p.Timestamp
	}
}

func (s *Session) stageStatus(p tarsy.StageStatusPayload) {
	item := s.Find(p.StageID)
	if item == nil {
		item = &Item{IsStage: true, ID: p.StageID, Stage: p.StageName, StageType: p.StageType, Index: p.StageIndex, Began: p.Timestamp}
		s.addStage(item)
	}

	item.Status = string(p.Status)

	if tarsy.Status(p.Status).Terminal() {
		item.Ended = p.Timestamp
	}
}

// addStage adds a stage. Stages that answer questions are numbered separately.
func (s *Session) addStage(item *Item) {
	if item.StageType == tarsy.StageChat {
		item.Question = 1

		for _, other := range s.Items {
			if other.Question > 0 {
				item.Question++
			}
		}
	}

	s.Items = append(s.Items, item)
}

func (s *Session) agentStatus(p tarsy.ExecutionStatusPayload) {
	agent := s.agents[p.ExecutionID]
	if agent == nil {
		agent = &Agent{Name: p.AgentName, Began: p.Timestamp}
		s.agents[p.ExecutionID] = agent

		if stage := s.Find(p.StageID); stage != nil {
			agent.Parent = stage
			stage.Agents = append(stage.Agents, agent)
		}
	}

	agent.Status = string(p.Status)

	if tarsy.Status(p.Status).Terminal() {
		agent.Ended = p.Timestamp
	}
}

// Find returns a stage or a timeline event, or nil if there is none.
func (s *Session) Find(id string) *Item {
	at := slices.IndexFunc(s.Items, func(i *Item) bool { return i.ID == id || i.Former == id && id != "" })
	if at < 0 {
		return nil
	}

	return s.Items[at]
}

// Agent returns the agent of an execution, or nil if there is none.
func (s *Session) Agent(executionID string) *Agent { return s.agents[executionID] }

// StageStatus returns the status of a stage; empty if it has not begun.
func (s *Session) StageStatus(id string) tarsy.Status {
	if item := s.Find(id); item != nil {
		return tarsy.Status(item.Status)
	}

	return ""
}

// Refusal returns why an accepted question gets no answer; empty if it was not refused.
func (s *Session) Refusal(messageID string) string {
	for _, item := range s.Items {
		if item.Type == tarsy.EventError && messageID != "" && tarsy.MetadataAs[tarsy.ErrorMetadata](item.Metadata).MessageID == messageID {
			return item.Content
		}
	}

	return ""
}

// Answering reports whether a question is being answered.
func (s *Session) Answering() bool {
	return slices.ContainsFunc(s.Items, func(i *Item) bool {
		return i.Question > 0 && i.Ended.IsZero()
	})
}

// Busy reports whether there is anything to cancel.
func (s *Session) Busy() bool { return !s.Status.Terminal() || s.Answering() }

// Elapsed returns how long the session has been running.
func (s *Session) Elapsed(now time.Time) time.Duration {
	if s.StartedAt.IsZero() {
		return 0
	}

	if !s.EndedAt.IsZero() {
		return s.EndedAt.Sub(s.StartedAt)
	}

	return now.Sub(s.StartedAt)
}
