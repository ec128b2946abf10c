package mcpserver

import (
	"slices"
	"sync"
	"time"
)

const (
	// maxCalls is how many of a server's latest calls are kept.
	maxCalls = 1000
	// maxArguments is how many bytes of a call's arguments are kept.
	maxArguments = 64 << 10
)

// Outcomes named after the field of the result. The outcome of a fault is the name of the fault.
const (
	OutcomeText  = "text"
	OutcomeJSON  = "json"
	OutcomeError = "error"
	// OutcomeUnexpected is the outcome of a call that the script has no result for.
	OutcomeUnexpected = "unexpected"
)

// Call is one call of a tool in a server's journal.
type Call struct {
	Number int64  `json:"number"`
	Server string `json:"server"`
	Tool   string `json:"tool"`
	// Arguments are the arguments of the call; if they are very long, the beginning of their text.
	Arguments any `json:"arguments"`
	// Result is the index of the result in the tool's list, -1 if none matches.
	Result  int    `json:"result"`
	Outcome string `json:"outcome"`
	// Message is the error message that the caller received.
	Message string `json:"message,omitempty"`
	// Done means that the call is over, Cancelled that its caller left before.
	Done      bool          `json:"done"`
	Cancelled bool          `json:"cancelled"`
	Start     time.Time     `json:"start"`
	Duration  time.Duration `json:"duration_ns"`
}

// journal has the last calls of a server, in the order in which they arrived.
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

// change modifies a call that other goroutines may be reading.
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
