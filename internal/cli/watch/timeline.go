package watch

import (
	"slices"
	"strings"

	"tarsy.dev/tarsy"
)

// created takes a timeline event that is new, or that is told again after a reload.
func (s *Session) created(p tarsy.TimelineCreatedPayload) {
	var agent *Agent
	if p.ExecutionID != nil {
		agent = s.agents[*p.ExecutionID]
	}

	if p.EventType == tarsy.EventFinalAnalysis && s.promoteAnswer(agent, p) {
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
		item.call = s.find(tarsy.MetadataAs[tarsy.ToolSummaryMetadata](p.Metadata).ToolCallEventID)
	}

	s.Items = append(s.Items, item)

	switch {
	case item.call != nil:
		item.call.summary = item
	case item.stage != nil:
		item.stage.events = append(item.stage.events, item)
	}
}

// promoteAnswer turns an agent's last answer into its analysis: it is the same text, and nobody wants to read it twice. In the
// text protocol the analysis is only the end of the answer; the thought before it stays, as an answer of its own.
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

// completed takes the final content of a timeline event that was streaming.
func (s *Session) completed(p tarsy.TimelineCompletedPayload) {
	item := s.find(p.EventID)
	if item == nil || item.former == p.EventID {
		return
	}

	item.Status, item.Ended = string(p.Status), p.Timestamp
	item.setText(p.Content)

	if p.Metadata != nil {
		item.metadata = item.metadata.Merge(p.Metadata)
	}
}

func (s *Session) lastOf(agent *Agent) *Item {
	for _, item := range slices.Backward(s.Items) {
		if item.kind == kindEvent && item.agent == agent {
			return item
		}
	}

	return nil
}
