package eventschema_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/eventschema"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/notebook"
)

type message = map[string]any

// decoded returns a value as a reader receives it.
func decoded(t *testing.T, value any) message {
	t.Helper()

	raw, err := json.Marshal(value)
	require.NoError(t, err)

	var m message

	require.NoError(t, json.Unmarshal(raw, &m))

	return m
}

// samples returns messages of every kind, built as the server builds them.
func samples(t *testing.T) []message {
	t.Helper()

	session := tarsy.Session{ID: ident.New(), Status: tarsy.SessionInProgress}
	channel := tarsy.SessionChannel(session.ID)
	now := time.Now()

	var all []message

	for i, e := range events(session.ID, now) {
		m := decoded(t, e.Payload)
		m["db_event_id"], m["channel"] = float64(i+1), channel
		all = append(all, m)
	}

	for i, e := range noteEvents(session.ID, now) {
		m := decoded(t, e.Payload)
		m["db_event_id"], m["channel"] = float64(i+1), notebook.ChannelNotes
		all = append(all, m)
	}

	chunk := decoded(t, tarsy.StreamChunkPayload{
		Type: tarsy.TypeStreamChunk, SessionID: session.ID, EventID: ident.New(), EventType: tarsy.EventResponse,
		Delta: "The", Fence: 1, Timestamp: now.UTC(),
	})
	chunk["channel"] = channel

	changed := decoded(t, tarsy.SessionChangedPayload{Type: tarsy.TypeSessionChanged, SessionID: session.ID, Version: 3})
	changed["channel"] = tarsy.ChannelSessions

	return append(all, chunk, changed,
		message{"type": "session.changed", "behind": true, "channel": "sessions"},
		message{"type": "connection.established", "connection_id": ident.New()},
		message{"type": "subscription.confirmed", "channel": channel},
		message{"type": "subscription.confirmed", "channel": "sessions"},
		message{"type": "subscription.confirmed", "channel": "notes"},
		message{"type": "subscription.removed", "channel": channel},
		message{"type": "catchup.overflow", "channel": "notes", "head": 1001.0},
		message{"type": "catchup.overflow", "channel": channel, "head": 201.0},
		message{"type": "pong"},
		message{"type": "error", "code": "unknown_action", "message": "there is no such action"},
		message{"type": "error", "code": "unknown_channel", "message": "there is no such channel", "channel": "\u0000"},
		message{"type": "end", "status": "completed"},
		message{"type": "bye", "reason": "server is shutting down"},
	)
}

// events returns journal events of every type.
func events(sessionID string, now time.Time) []tarsy.Event {
	stage := tarsy.Stage{ID: ident.New(), SessionID: sessionID, StageName: "analysis", StageType: tarsy.StageSynthesis, StageIndex: 2, ExpectedAgentCount: 1, Status: tarsy.StatusActive}
	execution := tarsy.Execution{
		ID: ident.New(), SessionID: sessionID, StageID: stage.ID, AgentName: "Agent-2", AgentIndex: 2, Status: tarsy.StatusFailed,
		ErrorMessage: "no",
	}
	chat := tarsy.Chat{ID: ident.New(), SessionID: sessionID, CreatedBy: "me", CreatedAt: now}
	question := tarsy.ChatUserMessage{ID: ident.New(), ChatID: chat.ID, SessionID: sessionID, Author: "me", Content: "why?", CreatedAt: now}
	ended := tarsy.Session{ID: sessionID, Status: tarsy.SessionCompleted, ConcludedEarly: "deadline"}
	failed := tarsy.Session{ID: sessionID, Status: tarsy.SessionFailed, ErrorCode: "llm_error", ErrorMessage: "no"}

	verdict := tarsy.Verdict{
		SessionID: sessionID, Outcome: tarsy.OutcomeProbableCause, Cause: tarsy.Claim{Text: "web leaks memory"}, Confidence: tarsy.ConfidenceLow,
	}

	call := tarsy.MCPInteraction{
		ID: ident.New(), SessionID: sessionID, StageID: stage.ID, ExecutionID: execution.ID, TimelineEventID: ident.New(),
		ServerName: "s", ToolName: "t", ToolArguments: json.RawMessage(`{"a":1}`), Approval: &tarsy.Approval{
			Status: tarsy.ApprovalApproved, Scope: tarsy.ScopeCall, Rule: "approvals.rules[0]", ExpiresAt: now.UTC(), Arguments: json.RawMessage(`{"a":2}`),
			DecidedBy: "me", DecidedAt: &now, Reason: "fine",
		},
	}

	all := []tarsy.Event{
		tarsy.ApprovalChanged(call, now),
		tarsy.SessionVerdict(verdict, now), tarsy.SessionStatusChanged(ended, now), tarsy.SessionStatusChanged(failed, now), tarsy.StageStatusChanged(stage, now),
		tarsy.ExecutionStatusChanged(execution, now), tarsy.ChatCreated(chat), tarsy.ChatAsked(question, stage.ID),
	}

	for number, shown := range eventschema.Timeline() {
		e := tarsy.TimelineEvent{
			ID: ident.New(), SessionID: sessionID, StageID: &stage.ID, ExecutionID: &execution.ID, SequenceNumber: int64(number + 1),
			EventType: shown.Type, Status: tarsy.EventStreaming, Metadata: metadata()[shown.Type], CreatedAt: now, UpdatedAt: now,
		}
		all = append(all, tarsy.TimelineCreated(e))

		e.Status, e.Content = tarsy.EventCompleted, "done"
		if e.EventType == tarsy.EventToolCall {
			e.Metadata = e.Metadata.Merge(tarsy.NewMetadata(tarsy.ToolCallResult{IsError: true, Attempt: 2, ResultTokens: 12, Outcome: tarsy.OutcomeUnknown}))
		}

		all = append(all, tarsy.TimelineCompleted(e))
	}

	return all
}

// noteEvents returns events of every type in the journal of notes.
func noteEvents(sessionID string, now time.Time) []tarsy.Event {
	var all []tarsy.Event

	for _, kind := range notebook.NoteEventTypes() {
		object, _, _ := strings.Cut(kind, ".")
		status := map[string]string{
			"note": string(notebook.NoteDone), "entity": string(notebook.EntityMerged), "review": string(notebook.ReviewObsolete), "project": notebook.StatusDeleted,
			"epic": notebook.StatusDeleted,
		}[object]

		all = append(all, notebook.NewNoteEvent(notebook.NotePayload{
			Type: kind, NoteID: ident.New(), EntityID: ident.New(), ReviewID: ident.New(), ProjectID: ident.New(), EpicID: ident.New(), Tag: "login",
			SessionID: sessionID, Status: status, EntityCount: 2, Error: "no", Author: "me", Timestamp: now,
		}))
	}

	return append(all, notebook.NewNoteEvent(notebook.NotePayload{Type: notebook.TypeNoteProcessed, NoteID: ident.New(), Timestamp: now}))
}

// metadata returns the metadata that timeline events are created with.
func metadata() map[tarsy.EventType]tarsy.Metadata {
	found := tarsy.NewMetadata(tarsy.GroundingMetadata{Queries: []string{"q"}, Sources: []tarsy.GroundingSource{{Title: "t", URL: "u"}}})

	return map[tarsy.EventType]tarsy.Metadata{
		tarsy.EventToolCall: tarsy.NewMetadata(tarsy.ToolCallMetadata{
			Call: "1.2.3", ServerName: "s", ToolName: "t", Arguments: json.RawMessage(`{"a":[1,null]}`),
		}),
		tarsy.EventToolSummary: tarsy.NewMetadata(tarsy.ToolSummaryMetadata{
			ServerName: "s", ToolName: "t", ToolCallEventID: ident.New(), OriginalTokens: 9000,
		}),
		tarsy.EventError:        tarsy.NewMetadata(tarsy.ErrorMetadata{Code: "llm_error"}),
		tarsy.EventUserQuestion: tarsy.NewMetadata(tarsy.QuestionMetadata{Author: "me", ChatID: ident.New(), MessageID: ident.New()}),
		tarsy.EventFinalAnalysis: tarsy.NewMetadata(tarsy.FinalAnalysisMetadata{
			ForcedConclusion: true, Reason: tarsy.ForcedIterations, MaxIterations: 3, CutOff: true,
			Citations: []tarsy.Citation{{Call: "1.2.3", EventID: ident.New()}}, UnknownCitations: []string{"9.9.9"},
		}),
		tarsy.EventCodeExecution:    tarsy.NewMetadata(tarsy.CodeExecutionMetadata{Code: "1+1"}),
		tarsy.EventGoogleSearch:     found,
		tarsy.EventURLContext:       found,
		tarsy.EventProviderFallback: tarsy.NewMetadata(tarsy.ProviderFallbackMetadata{From: "a", To: "b", Code: "llm_auth"}),
		tarsy.EventContextShortened: tarsy.NewMetadata(tarsy.ContextShortenedMetadata{Results: 1, Through: 5}),
	}
}
