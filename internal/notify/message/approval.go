package message

import (
	"encoding/json"
	"time"
	"unicode"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/plaintext"
)

// Approval is a tool call that waits for a person, as in tarsy.ApprovalRequest.
type Approval struct {
	// ID of the approval.
	ID string `json:"id"`
	// Number of the call in its session, such as 1.2.3.
	Call string `json:"call"`
	// The agent that requests the call, and the tool to call.
	Agent  string `json:"agent"`
	Server string `json:"server"`
	Tool   string `json:"tool"`
	// The exact arguments. Invisible characters are escaped, as JSON allows.
	Arguments Arguments `json:"arguments"`
	// When the agent made the request, and when the request expires; RFC 3339 in UTC.
	RequestedAt string `json:"requested_at"`
	ExpiresAt   string `json:"expires_at"`
}

// Arguments is JSON: templates print it as text, and the function json as JSON.
type Arguments string

// MarshalJSON implements json.Marshaler.
func (a Arguments) MarshalJSON() ([]byte, error) {
	if a == "" {
		return []byte("null"), nil
	}

	if json.Valid([]byte(a)) {
		return []byte(a), nil
	}

	return json.Marshal(string(a))
}

// manyBlanks is how many consecutive blanks make people believe that a text has ended.
const manyBlanks = 40

// ShowsAll reports whether readers of what a channel shows have seen all arguments of a call: nothing is cut, and nothing is
// hidden behind blanks. Only then may they approve the call there.
func ShowsAll(shown, whole string) bool {
	blanks := 0

	for _, r := range whole {
		if !unicode.IsSpace(r) {
			blanks = 0
		} else if blanks++; blanks == manyBlanks {
			return false
		}
	}

	return shown == whole
}

// NewApproval returns the message of an announcement of a waiting call.
func NewApproval(a tarsy.Announcement, session tarsy.Session, call tarsy.ApprovalRequest, url string) Message {
	m := New(a, session, nil, url)
	m.Approval = Approval{
		ID: call.ID, Call: call.Call, Agent: call.AgentName, Server: call.ServerName, Tool: call.ToolName,
		Arguments:   Arguments(plaintext.EscapeInvisible(call.ToolArguments)),
		RequestedAt: call.CreatedAt.UTC().Format(time.RFC3339), ExpiresAt: call.Approval.ExpiresAt.UTC().Format(time.RFC3339),
	}

	return m
}
