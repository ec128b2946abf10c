package live

import (
	"slices"
	"strings"

	"tarsy.dev/tarsy"
)

// created applies a timeline event that is new, or repeated after a reload.
func (s *Session) created(p tarsy.TimelineCreatedPayload) {
	var agent *Agent
	if p.ExecutionID != nil {
		agent = s.agents[*p.ExecutionID]
	}

	if p.EventType == tarsy.EventFinalAnalysis && s.promoteAnswer(agent, p) {
		return
	}

	item := s.Find(p.EventID)
	if item == nil {
		item = &Item{ID: p.EventID, Agent: agent, Type: p.EventType, Began: p.Timestamp}
		s.add(item, p)
	}

	if item.Former == p.EventID {
		return
	}

	item.Status, item.Metadata = string(p.Status), p.Metadata
	item.setText(p.Content)

	if p.Status != tarsy.EventStreaming {
		item.Ended = p.Timestamp
	}
}

// add inserts a new event below its stage and, if it summarises a result, links it to the call.
func (s *Session) add(item *Item, p tarsy.TimelineCreatedPayload) {
	switch {
	case p.StageID != nil:
		item.Parent = s.Find(*p.StageID)
	case item.Agent != nil:
		item.Parent = item.Agent.Parent
	}

	if p.EventType == tarsy.EventToolSummary {
		item.Call = s.Find(tarsy.MetadataAs[tarsy.ToolSummaryMetadata](p.Metadata).ToolCallEventID)
	}

	s.Items = append(s.Items, item)

	switch {
	case item.Call != nil:
		item.Call.Summary = item
	case item.Parent != nil:
		item.Parent.Events = append(item.Parent.Events, item)
	}
}

// promoteAnswer turns an agent's last response into its analysis: they have the same text, which should be shown once. In the text protocol
// the analysis is only the end of the response; the thought before it remains a response.
func (s *Session) promoteAnswer(agent *Agent, p tarsy.TimelineCreatedPayload) bool {
	last := s.lastOf(agent)
	if last == nil || last.Type != tarsy.EventResponse {
		return false
	}

	before, isEnd := strings.CutSuffix(strings.TrimSpace(last.Content), strings.TrimSpace(p.Content))
	if !isEnd {
		return false
	}

	if before != "" {
		if reply := SplitReply(last.Content); reply.Found && reply.Thought != "" {
			last.setText(headThought + " " + reply.Thought)

			return false
		}
	}

	last.Former, last.ID = last.ID, p.EventID
	last.Type, last.Metadata = p.EventType, p.Metadata
	last.setText(p.Content)

	return true
}

// completed applies the final content of a streaming timeline event.
func (s *Session) completed(p tarsy.TimelineCompletedPayload) {
	item := s.Find(p.EventID)
	if item == nil || item.Former == p.EventID {
		return
	}

	item.Status, item.Ended = string(p.Status), p.Timestamp
	item.setText(p.Content)

	if p.Metadata != nil {
		item.Metadata = item.Metadata.Merge(p.Metadata)
	}
}

func (s *Session) lastOf(agent *Agent) *Item {
	for _, item := range slices.Backward(s.Items) {
		if !item.IsStage && item.Agent == agent {
			return item
		}
	}

	return nil
}
