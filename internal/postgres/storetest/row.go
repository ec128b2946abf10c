package storetest

import (
	"encoding/json"
	"fmt"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

// NewSession returns a pending session.
func NewSession(at time.Time) tarsy.Session {
	return tarsy.Session{
		ID: ident.New(), AlertType: "test", AlertData: "disk full", ChainID: "chain", AgentType: "agent",
		Status: tarsy.SessionPending, Author: "somebody", CreatedAt: at,
		MCPSelection: &tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{{Name: "kubernetes-server", Tools: []string{"get"}}}},
		AlertFacts:   tarsy.AlertFacts{Labels: map[string]string{}, Links: []tarsy.AlertLink{}, Source: tarsy.SourceAPI},
	}
}

// NewStage returns a stage that has started.
func NewStage(sessionID string, index int, at time.Time) tarsy.Stage {
	return tarsy.Stage{
		ID: ident.New(), SessionID: sessionID, StageName: "stage", StageType: tarsy.StageInvestigation, StageIndex: index, ExpectedAgentCount: 1,
		Status: tarsy.StatusActive, CreatedAt: at, StartedAt: &at,
	}
}

// NewExecution returns an execution in a stage that has not started.
func NewExecution(stage tarsy.Stage, index int, at time.Time) tarsy.Execution {
	return tarsy.Execution{
		ID: ident.New(), SessionID: stage.SessionID, StageID: stage.ID, AgentName: "agent", AgentIndex: index,
		IterationStrategy: "native-thinking", Status: tarsy.StatusActive, CreatedAt: at,
	}
}

// NewMessage returns a message of a model with a tool call.
func NewMessage(execution tarsy.Execution, number int, content string, at time.Time) tarsy.Message {
	return tarsy.Message{
		ID: ident.New(), SessionID: execution.SessionID, StageID: execution.StageID, ExecutionID: execution.ID,
		SequenceNumber: number, Role: tarsy.RoleAssistant, Content: content, CreatedAt: at,
		ToolCalls: []tarsy.ToolCall{{ID: "call-1", Name: "server__tool", Arguments: `{"a":1}`}},
	}
}

// NewTimelineEvent returns an event that still streams.
func NewTimelineEvent(sessionID string, number int64, at time.Time) tarsy.TimelineEvent {
	return tarsy.TimelineEvent{
		ID: ident.New(), SessionID: sessionID, SequenceNumber: number, EventType: tarsy.EventResponse,
		Status: tarsy.EventStreaming, Content: "so far", Metadata: tarsy.Metadata(fmt.Sprintf(`{"number":%d}`, number)),
		CreatedAt: at, UpdatedAt: at,
	}
}

// DefaultCapabilities is what a server must have to run all sessions of newSession.
func DefaultCapabilities() []string { return []string{"chain:chain"} }

// NewEvents returns n events with distinct types.
func NewEvents(name string, n int) []tarsy.Event {
	events := make([]tarsy.Event, n)
	for i := range events {
		events[i] = tarsy.Event{
			Type: fmt.Sprintf("%s.%d", name, i+1), Payload: json.RawMessage(`{"text":"«` + name + `»"}`), CreatedAt: Epoch(),
		}
	}

	return events
}

// NewRequest returns an open request.
func NewRequest(sessionID string, kind tarsy.RequestKind, at time.Time) tarsy.Request {
	return tarsy.Request{ID: ident.New(), SessionID: sessionID, Kind: kind, Status: tarsy.RequestOpen, Author: "somebody", CreatedAt: at}
}

// Closed returns a copy of a request that was carried out.
func Closed(r tarsy.Request, at time.Time) tarsy.Request {
	r.Status, r.ClosedAt = tarsy.RequestDone, &at

	return r
}

// NewQuestion returns a question.
func NewQuestion() tarsy.Question {
	return tarsy.Question{ChatID: ident.New(), MessageID: ident.New(), StageID: ident.New(), Content: "why «so»?"}
}

// NewChat returns the rows that a server stores when it begins to answer a question.
func NewChat(sessionID string, q tarsy.Question, index int, at time.Time) (tarsy.Chat, tarsy.ChatUserMessage, tarsy.Stage) {
	stage := NewStage(sessionID, index, at)
	stage.ID, stage.StageType, stage.ChatID, stage.ChatUserMessageID = q.StageID, tarsy.StageChat, &q.ChatID, &q.MessageID

	return tarsy.Chat{ID: q.ChatID, SessionID: sessionID, CreatedBy: "somebody", CreatedAt: at, LastInteractionAt: &at},
		tarsy.ChatUserMessage{ID: q.MessageID, ChatID: q.ChatID, SessionID: sessionID, Author: "somebody", Content: q.Content, CreatedAt: at},
		stage
}

// Ended returns a completed copy of a stage.
func Ended(stage tarsy.Stage, at time.Time) tarsy.Stage {
	stage.Status, stage.CompletedAt = tarsy.StatusCompleted, &at

	return stage
}

// NewAnnouncement returns a pending announcement of the end of a session.
func NewAnnouncement(sessionID string, at time.Time) tarsy.Announcement {
	return tarsy.Announcement{
		ID: ident.New(), SessionID: sessionID, Channel: tarsy.ChannelDiscord, Subject: tarsy.SubjectEnd, Target: "1100",
		State: tarsy.AnnouncementPending, DueAt: at, CreatedAt: at,
	}
}

// NewKey returns a key.
func NewKey(name string, scopes ...tarsy.Scope) tarsy.APIKey {
	return tarsy.APIKey{ID: ident.New(), Name: name, Prefix: "tarsy_" + name, Scopes: scopes, CreatedAt: Epoch()}
}

// NewLLMInteraction is a call of an execution; without one it is the session's own.
func NewLLMInteraction(sessionID string, of *tarsy.Execution, usage tarsy.Usage, minute int) tarsy.LLMInteraction {
	call := tarsy.LLMInteraction{
		ID: ident.New(), SessionID: sessionID, InteractionType: tarsy.InteractionIteration, Provider: "google", ModelName: "gemini",
		MessageCount: minute, LLMResponse: json.RawMessage(`{"text":"So.","tool_calls":[]}`), ThinkingContent: "hm", Usage: usage,
		DurationMs: 1200, CreatedAt: Epoch().Add(time.Duration(minute) * time.Minute),
	}
	if of != nil {
		call.StageID, call.ExecutionID = &of.StageID, &of.ID
	}

	return call
}

func NewMCPInteraction(of tarsy.Execution, call string, minute int) tarsy.MCPInteraction {
	at := Epoch().Add(time.Duration(minute) * time.Minute)

	return tarsy.MCPInteraction{
		ID: ident.New(), SessionID: of.SessionID, StageID: of.StageID, ExecutionID: of.ID, TimelineEventID: ident.New(),
		ToolCallID: call, ServerName: "kubernetes", ToolName: "get_pods", ToolArguments: json.RawMessage(`{"namespace":"shop"}`),
		ToolResult: "a long list", Summary: "web-1 is down", AvailableTools: []string{"get_pods", "get_logs"}, ReadOnly: true, Attempt: 2,
		Status: tarsy.CallCompleted, DurationMs: 42, CreatedAt: at, CompletedAt: new(at.Add(time.Second)),
	}
}

// WaitingCall is a tool call that waits for an approval, with the event that its step stores.
func WaitingCall(execution tarsy.Execution, call string, at, expires time.Time) (tarsy.MCPInteraction, tarsy.TimelineEvent) {
	approval := tarsy.Approval{Status: tarsy.ApprovalWaiting, Scope: tarsy.ScopeCall, Rule: "approvals.rules[0]", ExpiresAt: expires}

	event := NewTimelineEvent(execution.SessionID, 1, at)
	event.StageID, event.ExecutionID, event.EventType = &execution.StageID, &execution.ID, tarsy.EventToolCall

	interaction := NewMCPInteraction(execution, call, 1)
	interaction.Status, interaction.Approval, interaction.CreatedAt, interaction.CompletedAt = tarsy.CallWaiting, &approval, at, nil
	interaction.TimelineEventID, interaction.ToolArguments = event.ID, json.RawMessage(`{"replicas": 3, "id": 12345678901234567890}`)

	event.Metadata = tarsy.NewMetadata(tarsy.ToolCallMetadata{
		Call: call, ServerName: interaction.ServerName, ToolName: interaction.ToolName, Arguments: interaction.ToolArguments,
		ApprovalID: interaction.ID, Approval: &approval,
	})

	return interaction, event
}
