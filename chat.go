package tarsy

import (
	"encoding/json"
	"time"
)

// MaxQuestionBytes is the largest question that a chat accepts.
const MaxQuestionBytes = 32 << 10

// Chat is the follow-up conversation of a session. A session has at most one.
type Chat struct {
	// UUIDv7, chosen when the first question is submitted.
	ID string `json:"id"`
	// Unique across chats.
	SessionID string `json:"session_id"`
	// Author of the first question.
	CreatedBy string `json:"created_by"`
	// When a server picked up the first question.
	CreatedAt time.Time `json:"created_at"`
	// When a question was last picked up or its answer last ended.
	LastInteractionAt *time.Time `json:"last_interaction_at"`
}

// ChatUserMessage is one question. The stage that answers it refers to it by ChatUserMessageID.
type ChatUserMessage struct {
	// UUIDv7, chosen when the question is submitted.
	ID string `json:"id"`
	// The chat, and the session the chat belongs to.
	ChatID    string `json:"chat_id"`
	SessionID string `json:"session_id"`
	// Same rules as Session.Author.
	Author string `json:"author"`
	// Markdown with secrets masked, at most MaxQuestionBytes when submitted.
	Content string `json:"content"`
	// When a server picked the question up, not when it was submitted.
	CreatedAt time.Time `json:"created_at"`
}

// Question is the payload of a chat request. Intake chooses the IDs in advance, so that it can return them to the caller
// before the rows exist.
type Question struct {
	// The existing chat of the session, or the ID of the one to create.
	ChatID string `json:"chat_id"`
	// ID that the ChatUserMessage will have.
	MessageID string `json:"message_id"`
	// ID that the answering stage will have.
	StageID string `json:"stage_id"`
	// The question with secrets masked.
	Content string `json:"content"`
}

// RequestKind is what a request asks the holder of a session to do.
type RequestKind string

// The kinds of requests.
const (
	RequestCancel RequestKind = "cancel"
	RequestChat   RequestKind = "chat"
	// RequestApproval approves or rejects one tool call.
	RequestApproval RequestKind = "approval"
)

// RequestStatus is the state of a request.
type RequestStatus string

// The statuses of requests. A request is refused if it arrives too late, e.g. a cancellation of a session that has ended.
const (
	RequestOpen    RequestStatus = "open"
	RequestDone    RequestStatus = "done"
	RequestRefused RequestStatus = "refused"
)

// Request is how anyone but the holder of the lease changes a session: they add a request and the holder acts on it.
type Request struct {
	// UUIDv7, chosen at intake.
	ID string `json:"id"`
	// A session has at most one open request of each kind, except that it can have one RequestApproval for each call.
	SessionID string `json:"session_id"`
	// Determines the type of Payload.
	Kind RequestKind `json:"kind"`
	// RequestOpen until the holder has acted on it.
	Status RequestStatus `json:"status"`
	// Same rules as Session.Author.
	Author string `json:"author"`
	// A Question for RequestChat, an ApprovalDecision for RequestApproval, nil for RequestCancel.
	Payload json.RawMessage `json:"payload"`
	// When intake accepted it.
	CreatedAt time.Time `json:"created_at"`
	// Nil while open.
	ClosedAt *time.Time `json:"closed_at"`
}
