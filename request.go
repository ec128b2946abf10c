package tarsy

import (
	"encoding/json"
	"time"
)

// RequestKind is what a request asks the holder of a session to do.
type RequestKind string

// The kinds of requests.
const (
	RequestCancel RequestKind = "cancel"
	RequestChat   RequestKind = "chat"
	// RequestApproval decides about one tool call.
	RequestApproval RequestKind = "approval"
)

// RequestStatus is the state of a request.
type RequestStatus string

// The statuses of requests. A request is refused if it comes too late, e.g. a cancellation of a session that has ended.
const (
	RequestOpen    RequestStatus = "open"
	RequestDone    RequestStatus = "done"
	RequestRefused RequestStatus = "refused"
)

// Request is how anyone but the holder of the lease changes a session: they add a request and the holder acts on it.
type Request struct {
	// UUIDv7, chosen at intake.
	ID string `json:"id"`
	// Has at most one open request of each kind, and one RequestApproval for each call.
	SessionID string `json:"session_id"`
	// Decides what Payload is.
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
