package tarsy

import "time"

// TimelineCreated is the journal event of a new timeline event.
func TimelineCreated(e TimelineEvent) Event {
	return NewEvent(e.SessionID, TypeTimelineCreated, TimelineCreatedPayload{
		Type: TypeTimelineCreated, EventID: e.ID, SessionID: e.SessionID, StageID: e.StageID, ExecutionID: e.ExecutionID,
		SequenceNumber: e.SequenceNumber, EventType: e.EventType, Status: e.Status, Content: e.Content,
		Metadata: e.Metadata, Timestamp: e.CreatedAt,
	}, e.CreatedAt)
}

// TimelineCompleted is the journal event of a timeline event whose content is final.
func TimelineCompleted(e TimelineEvent) Event {
	return NewEvent(e.SessionID, TypeTimelineCompleted, TimelineCompletedPayload{
		Type: TypeTimelineCompleted, EventID: e.ID, SessionID: e.SessionID, EventType: e.EventType, Status: e.Status,
		Content: e.Content, Metadata: e.Metadata, Timestamp: e.UpdatedAt,
	}, e.UpdatedAt)
}

// ApprovalChanged is the journal event of an approval that was requested or decided.
func ApprovalChanged(c MCPInteraction, at time.Time) Event {
	return NewEvent(c.SessionID, TypeApprovalStatus, ApprovalStatusPayload{
		Type: TypeApprovalStatus, SessionID: c.SessionID, StageID: c.StageID, ExecutionID: c.ExecutionID, EventID: c.TimelineEventID, ApprovalID: c.ID,
		ServerName: c.ServerName, ToolName: c.ToolName, Arguments: c.ToolArguments, Approval: *c.Approval, Timestamp: at,
	}, at)
}

// SessionStatusChanged is the journal event of a session whose status changed.
func SessionStatusChanged(s Session, at time.Time) Event {
	return NewEvent(s.ID, TypeSessionStatus, SessionStatusPayload{
		Type: TypeSessionStatus, SessionID: s.ID, Status: s.Status, ConcludedEarly: s.ConcludedEarly, ErrorCode: s.ErrorCode, ErrorMessage: s.ErrorMessage,
		Timestamp: at,
	}, at)
}

// SessionVerdict is the journal event of a verdict.
func SessionVerdict(v Verdict, at time.Time) Event {
	return NewEvent(v.SessionID, TypeSessionVerdict, SessionVerdictPayload{
		Type: TypeSessionVerdict, SessionID: v.SessionID, Outcome: v.Outcome, Cause: v.Cause.Text, Confidence: v.Confidence, Timestamp: at,
	}, at)
}

// StageStatusChanged is the journal event of a stage that started or ended.
func StageStatusChanged(s Stage, at time.Time) Event {
	return NewEvent(s.SessionID, TypeStageStatus, StageStatusPayload{
		Type: TypeStageStatus, SessionID: s.SessionID, StageID: s.ID, StageName: s.StageName, StageType: s.StageType, StageIndex: s.StageIndex,
		ExpectedAgentCount: s.ExpectedAgentCount, Status: workStatus(s.Status), Timestamp: at,
	}, at)
}

// ExecutionStatusChanged is the journal event of an agent that started or ended.
func ExecutionStatusChanged(e Execution, at time.Time) Event {
	return NewEvent(e.SessionID, TypeExecutionStatus, ExecutionStatusPayload{
		Type: TypeExecutionStatus, SessionID: e.SessionID, StageID: e.StageID, ExecutionID: e.ID, AgentName: e.AgentName,
		AgentIndex: e.AgentIndex, Status: workStatus(e.Status), ErrorMessage: e.ErrorMessage, Timestamp: at,
	}, at)
}

// ChatCreated is the journal event of a session's first question.
func ChatCreated(c Chat) Event {
	return NewEvent(c.SessionID, TypeChatCreated, ChatCreatedPayload{
		Type: TypeChatCreated, SessionID: c.SessionID, ChatID: c.ID, CreatedBy: c.CreatedBy, Timestamp: c.CreatedAt,
	}, c.CreatedAt)
}

// ChatAsked is the journal event of a question that a stage answers.
func ChatAsked(m ChatUserMessage, stageID string) Event {
	return NewEvent(m.SessionID, TypeChatUserMessage, ChatUserMessagePayload{
		Type: TypeChatUserMessage, SessionID: m.SessionID, ChatID: m.ChatID, MessageID: m.ID, StageID: stageID, Author: m.Author,
		Content: m.Content, Timestamp: m.CreatedAt,
	}, m.CreatedAt)
}

func workStatus(s Status) WorkStatus {
	if s == StatusActive {
		return StageStarted
	}

	return WorkStatus(s)
}
