package watch

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

// Session is what a reader knows of a session.
type Session struct {
	ID        string
	AlertType string
	ChainID   string
	Author    string
	AlertData string
	CreatedAt time.Time

	Status         tarsy.SessionStatus
	ConcludedEarly string
	ErrorMessage   string
	StartedAt      time.Time
	EndedAt        time.Time
	Items          []*Item

	agents map[string]*Agent // by execution
}

// NewSession begins with what the server tells of a session; its journal brings the rest.
func NewSession(detail tarsy.SessionDetail) *Session {
	s := &Session{
		ID: detail.ID, AlertType: detail.AlertType, ChainID: detail.ChainID, Author: detail.Author,
		AlertData: detail.AlertData, CreatedAt: detail.CreatedAt, Status: detail.Status, ErrorMessage: detail.ErrorMessage,
		ConcludedEarly: detail.ConcludedEarly, agents: map[string]*Agent{},
	}

	if detail.StartedAt != nil {
		s.StartedAt = *detail.StartedAt
	}

	if detail.CompletedAt != nil {
		s.EndedAt = *detail.CompletedAt
	}

	return s
}

// Apply takes one update. Updates that this version does not know change nothing.
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
		if p, ok := decode[tarsy.SessionStatusPayload](event); ok {
			s.sessionStatus(p)
		}
	case tarsy.TypeStageStatus:
		if p, ok := decode[tarsy.StageStatusPayload](event); ok {
			s.stageStatus(p)
		}
	case tarsy.TypeExecutionStatus:
		if p, ok := decode[tarsy.ExecutionStatusPayload](event); ok {
			s.agentStatus(p)
		}
	case tarsy.TypeTimelineCreated:
		if p, ok := decode[tarsy.TimelineCreatedPayload](event); ok {
			s.created(p)
		}
	case tarsy.TypeTimelineCompleted:
		if p, ok := decode[tarsy.TimelineCompletedPayload](event); ok {
			s.completed(p)
		}
	}
}

func decode[P any](event tarsy.Event) (P, bool) {
	var payload P

	err := json.Unmarshal(event.Payload, &payload)

	return payload, err == nil
}

func (s *Session) sessionStatus(p tarsy.SessionStatusPayload) {
	s.Status, s.ErrorMessage, s.ConcludedEarly = p.Status, p.ErrorMessage, p.ConcludedEarly

	if p.Status == tarsy.SessionInProgress && s.StartedAt.IsZero() {
		s.StartedAt = p.Timestamp
	}

	if p.Status.Terminal() {
		s.EndedAt = p.Timestamp
	}
}

func (s *Session) stageStatus(p tarsy.StageStatusPayload) {
	item := s.find(p.StageID)
	if item == nil {
		item = &Item{kind: kindStage, ID: p.StageID, Stage: p.StageName, StageType: p.StageType, Index: p.StageIndex, Began: p.Timestamp}
		s.addStage(item)
	}

	item.Status = p.Status

	if tarsy.Status(p.Status).Terminal() {
		item.Ended = p.Timestamp
	}
}

// addStage adds a stage; questions are counted apart.
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

		if stage := s.find(p.StageID); stage != nil {
			agent.stage = stage
			stage.agents = append(stage.agents, agent)
		}
	}

	agent.Status = p.Status

	if tarsy.Status(p.Status).Terminal() {
		agent.Ended = p.Timestamp
	}
}

func (s *Session) created(p tarsy.TimelineCreatedPayload) {
	var agent *Agent
	if p.ExecutionID != nil {
		agent = s.agents[*p.ExecutionID]
	}

	if p.EventType == tarsy.EventFinalAnalysis && s.becomes(agent, p) {
		return
	}

	item := s.find(p.EventID)
	if item == nil {
		item = &Item{kind: kindEvent, ID: p.EventID, agent: agent, Type: p.EventType, Began: p.Timestamp}
		s.add(item, p)
	}

	if item.former == p.EventID {
		return
	}

	item.Status, item.metadata = string(p.Status), p.Metadata
	item.setText(p.Content)

	if p.Status != tarsy.EventStreaming {
		item.Ended = p.Timestamp
	}
}

// add puts a new event where it belongs: below its stage and, if it is the summary of a result, below the call.
func (s *Session) add(item *Item, p tarsy.TimelineCreatedPayload) {
	switch {
	case p.StageID != nil:
		item.stage = s.find(*p.StageID)
	case item.agent != nil:
		item.stage = item.agent.stage
	}

	if p.EventType == tarsy.EventToolSummary {
		if id, _ := p.Metadata["tool_call_event_id"].(string); id != "" {
			item.call = s.find(id)
		}
	}

	s.Items = append(s.Items, item)

	switch {
	case item.call != nil:
		item.call.summary = item
	case item.stage != nil:
		item.stage.events = append(item.stage.events, item)
	}
}

// becomes makes the analysis of an agent's last answer: it is the same text, and nobody wants to read it twice. In the
// text protocol the analysis is only the end of it, and what came before is kept.
func (s *Session) becomes(agent *Agent, p tarsy.TimelineCreatedPayload) bool {
	last := s.lastOf(agent)
	if last == nil || last.Type != tarsy.EventResponse {
		return false
	}

	before, isEnd := strings.CutSuffix(strings.TrimSpace(last.Content), strings.TrimSpace(p.Content))
	if !isEnd {
		return false
	}

	if before != "" {
		if said := splitReply(last.Content); said.found && said.thought != "" {
			last.setText(headThought + " " + said.thought)

			return false
		}
	}

	last.former, last.ID = last.ID, p.EventID
	last.Type, last.metadata = p.EventType, p.Metadata
	last.setText(p.Content)

	return true
}

func (s *Session) completed(p tarsy.TimelineCompletedPayload) {
	item := s.find(p.EventID)
	if item == nil || item.former == p.EventID {
		return
	}

	item.Status, item.Ended = string(p.Status), p.Timestamp
	item.setText(p.Content)

	if p.Metadata != nil {
		merged := maps.Clone(item.metadata)
		if merged == nil {
			merged = map[string]any{}
		}

		maps.Copy(merged, p.Metadata)
		item.metadata = merged
	}
}

func (s *Session) find(id string) *Item {
	at := slices.IndexFunc(s.Items, func(i *Item) bool { return i.ID == id || i.former == id && id != "" })
	if at < 0 {
		return nil
	}

	return s.Items[at]
}

func (s *Session) lastOf(agent *Agent) *Item {
	for _, item := range slices.Backward(s.Items) {
		if item.kind == kindEvent && item.agent == agent {
			return item
		}
	}

	return nil
}

// StageStatus is where a stage stands; empty if it has not begun.
func (s *Session) StageStatus(id string) tarsy.Status {
	if item := s.find(id); item != nil {
		return tarsy.Status(item.Status)
	}

	return ""
}

// Answering tells whether a question is being answered.
func (s *Session) Answering() bool {
	return slices.ContainsFunc(s.Items, func(i *Item) bool {
		return i.Question > 0 && i.Ended.IsZero()
	})
}

// Busy tells whether there is anything to be cancelled.
func (s *Session) Busy() bool { return !s.Status.Terminal() || s.Answering() }

// Elapsed is how long the session has been worked on.
func (s *Session) Elapsed(now time.Time) time.Duration {
	if s.StartedAt.IsZero() {
		return 0
	}

	if !s.EndedAt.IsZero() {
		return s.EndedAt.Sub(s.StartedAt)
	}

	return now.Sub(s.StartedAt)
}
