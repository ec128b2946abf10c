package mcpserver

import (
	"slices"
	"sync"
	"time"
)

const (
	// maxCalls is how many calls of a server are remembered: the last ones.
	maxCalls = 1000
	// maxArguments is how much of a call's arguments is.
	maxArguments = 64 << 10
)

// Outcomes beside those that are named as the field of the result is, or as its fault.
const (
	OutcomeText  = "text"
	OutcomeJSON  = "json"
	OutcomeError = "error"
	// OutcomeUnexpected is that of a call for which the script has no result.
	OutcomeUnexpected = "unexpected"
)

// Call is one call of a tool in a server's journal.
type Call struct {
	Number int64  `json:"number"`
	Server string `json:"server"`
	Tool   string `json:"tool"`
	// Arguments are those of the call; where they are very long, the beginning of their text.
	Arguments any `json:"arguments"`
	// Result is the place of the result in the tool's list, -1 if none fits.
	Result  int    `json:"result"`
	Outcome string `json:"outcome"`
	// Message is what the caller was told of an error.
	Message string `json:"message,omitempty"`
	// Done tells that the call is over, Cancelled that its caller left before.
	Done      bool          `json:"done"`
	Cancelled bool          `json:"cancelled"`
	Start     time.Time     `json:"start"`
	Duration  time.Duration `json:"duration_ns"`
}

// journal holds the last calls of a server, in the order in which they came.
type journal struct {
	mu    sync.Mutex
	count int64
	calls []*Call
}

func (j *journal) begin(call *Call) {
	j.mu.Lock()
	defer j.mu.Unlock()

	j.count++
	call.Number = j.count

	if len(j.calls) == maxCalls {
		j.calls = slices.Delete(j.calls, 0, 1)
	}

	j.calls = append(j.calls, call)
}

// change changes a call that others may be reading.
func (j *journal) change(by func()) {
	j.mu.Lock()
	defer j.mu.Unlock()

	by()
}

func (j *journal) list() []Call {
	j.mu.Lock()
	defer j.mu.Unlock()

	list := make([]Call, len(j.calls))
	for i, call := range j.calls {
		list[i] = *call
	}

	return list
}
