package tarsy

import (
	"encoding/json"
	"time"
)

// RequestKind is what somebody asks of a session's holder.
type RequestKind string

// The kinds of requests.
const (
	RequestCancel RequestKind = "cancel"
	RequestChat   RequestKind = "chat"
)

// RequestStatus is the state of a request.
type RequestStatus string

// The statuses of requests.
const (
	RequestOpen    RequestStatus = "open"
	RequestDone    RequestStatus = "done"
	RequestRefused RequestStatus = "refused"
)

// Request is how everybody but the holder changes a session: they ask, the holder acts.
type Request struct {
	ID        string          `json:"id"`
	SessionID string          `json:"session_id"`
	Kind      RequestKind     `json:"kind"`
	Status    RequestStatus   `json:"status"`
	Author    string          `json:"author"`
	Payload   json.RawMessage `json:"payload"`
	CreatedAt time.Time       `json:"created_at"`
	ClosedAt  *time.Time      `json:"closed_at"`
}
