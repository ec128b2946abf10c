package watch

import (
	"encoding/json"
	"maps"
	"slices"
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

	Status       tarsy.SessionStatus
	ErrorMessage string
	StartedAt    time.Time
	EndedAt      time.Time
	Items        []*Item

	agents map[string]string // names by execution
}

// kind says what an item is.
type kind int

const (
	kindStage kind = iota
	kindEvent
)

// Item is one thing on the screen: a stage, or a timeline event.
type Item struct {
	ID      string
	Agent   string
	Type    tarsy.EventType
	Status  string
	Content string
	Began   time.Time
	Ended   time.Time
	// Stage and its number, of a stage.
	Stage string
	Index int

	kind        kind
	executionID string
	metadata    map[string]any
	repeats     bool  // an analysis whose text was there already, as the agent's last answer
	units       int   // the length of Content in UTF-16 units, while it comes in pieces
	fence       int64 // of the newest piece
	revision    int   // counts changes, for caches
}

// NewSession begins with what the server tells of a session; its journal brings the rest.
func NewSession(detail tarsy.SessionDetail) *Session {
	s := &Session{
		ID: detail.ID, AlertType: detail.AlertType, ChainID: detail.ChainID, Author: detail.Author,
		AlertData: detail.AlertData, CreatedAt: detail.CreatedAt, Status: detail.Status, ErrorMessage: detail.ErrorMessage,
		agents: map[string]string{},
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
			s.agents[p.ExecutionID] = p.AgentName
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
	s.Status = p.Status
	s.ErrorMessage = p.ErrorMessage

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
		item = &Item{kind: kindStage, ID: p.StageID, Stage: p.StageName, Index: p.StageIndex, Began: p.Timestamp}
		s.Items = append(s.Items, item)
	}

	item.Status = p.Status
	item.revision++

	if tarsy.Status(p.Status).Terminal() {
		item.Ended = p.Timestamp
	}
}

func (s *Session) created(p tarsy.TimelineCreatedPayload) {
	execution := ""
	if p.ExecutionID != nil {
		execution = *p.ExecutionID
	}

	// The agent's last answer becomes the analysis: it is the same text, and nobody wants to read it twice.
	if p.EventType == tarsy.EventFinalAnalysis {
		if last := s.lastOf(execution); last != nil && last.Type == tarsy.EventResponse && last.Content == p.Content {
			last.ID, last.Type, last.metadata, last.repeats = p.EventID, p.EventType, p.Metadata, true
			last.revision++

			return
		}
	}

	item := s.find(p.EventID)
	if item == nil {
		item = &Item{kind: kindEvent, ID: p.EventID, executionID: execution, Agent: s.agents[execution], Type: p.EventType, Began: p.Timestamp}
		s.Items = append(s.Items, item)
	}

	item.Status, item.metadata = string(p.Status), p.Metadata
	item.setText(p.Content)

	if p.Status != tarsy.EventStreaming {
		item.Ended = p.Timestamp
	}
}

func (s *Session) completed(p tarsy.TimelineCompletedPayload) {
	item := s.find(p.EventID)
	if item == nil {
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

// gap stands where pieces of text were lost; the whole text comes when it is complete.
const gap = " […] "

func (s *Session) applyChunk(chunk tarsy.StreamChunkPayload) {
	item := s.find(chunk.EventID)
	if item == nil || item.Status != string(tarsy.EventStreaming) || chunk.Fence < item.fence {
		return
	}

	if chunk.Fence > item.fence {
		item.fence = chunk.Fence
		item.setText("")
	}

	switch {
	case chunk.Offset < item.units:
		// Sent again, to be sure: only what is new counts.
		head := cutUnits(item.Content, chunk.Offset)
		item.setText(head + chunk.Delta)
	case chunk.Offset == item.units:
		item.setText(item.Content + chunk.Delta)
	default:
		item.setText(item.Content + gap + chunk.Delta)
		item.units = chunk.Offset + units(chunk.Delta)
	}
}

func (i *Item) setText(text string) {
	i.Content, i.units = text, units(text)
	i.revision++
}

func (s *Session) find(id string) *Item {
	at := slices.IndexFunc(s.Items, func(i *Item) bool { return i.ID == id })
	if at < 0 {
		return nil
	}

	return s.Items[at]
}

func (s *Session) lastOf(execution string) *Item {
	for _, item := range slices.Backward(s.Items) {
		if item.kind == kindEvent && item.executionID == execution {
			return item
		}
	}

	return nil
}

// units is the length of text as the wire counts it, in UTF-16.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += unitsOf(r)
	}

	return n
}

func unitsOf(r rune) int {
	if r > 0xffff {
		return 2
	}

	return 1
}

// cutUnits returns the first n units of text.
func cutUnits(text string, n int) string {
	for i, r := range text {
		if n <= 0 {
			return text[:i]
		}

		n -= unitsOf(r)
	}

	return text
}

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
