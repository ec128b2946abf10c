package exchange

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Entry is one request in the journal. It belongs to its exchange, which reuses it for another request once it is over:
// copy an entry to keep it.
type Entry struct {
	// Number counts the exchanges of a server from one, in the order in which they ended.
	Number int64  `json:"number"`
	Lane   string `json:"lane"`
	API    string `json:"api"`
	Method string `json:"method"`
	Path   string `json:"path"`
	// Header and Body are the request's, without keys. During the exchange they are in the Exchange instead.
	Header map[string]string `json:"header"`
	// Body is JSON; a body that is not JSON becomes a JSON string.
	Body   json.RawMessage `json:"body,omitempty"`
	Model  string          `json:"model"`
	Stream bool            `json:"stream"`
	// Route and Reply identify the part of the script that answered; "" and -1 if none did.
	Route string `json:"route"`
	Reply int    `json:"reply"`
	// Status is the status of the answer, zero if there was none; Chunks counts the chunks from the script.
	Status int    `json:"status"`
	Chunks int    `json:"chunks"`
	Error  string `json:"error"`
	// Unexpected means that no reply was planned for the request, or that another request was expected.
	Unexpected bool `json:"unexpected"`
	// Cancelled means that the caller left before the end.
	Cancelled bool      `json:"cancelled"`
	Start     time.Time `json:"start"`
	// FirstByte and Duration are relative to Start.
	FirstByte time.Duration `json:"first_byte_ns"`
	Duration  time.Duration `json:"duration_ns"`
}

// seconds formats a wait for Retry-After: whole seconds, rounded up.
func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }
