package exchange

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Entry is one request in the journal. It is the exchange's own until the exchange is over, and used again after that:
// whoever keeps an entry copies it.
type Entry struct {
	// Number counts the exchanges of a server from one, in the order in which they ended.
	Number int64  `json:"number"`
	Lane   string `json:"lane"`
	API    string `json:"api"`
	Method string `json:"method"`
	Path   string `json:"path"`
	// Header and Body are the request's, without keys. While the exchange lasts they are in the Exchange instead.
	Header map[string]string `json:"header"`
	// Body is JSON: what is none is a JSON string of it.
	Body   json.RawMessage `json:"body,omitempty"`
	Model  string          `json:"model"`
	Stream bool            `json:"stream"`
	// Route and Reply tell which part of the script answered; "" and -1 if none did.
	Route string `json:"route"`
	Reply int    `json:"reply"`
	// Status is that of the answer, zero if there was none; Chunks counts what the script passed on.
	Status int    `json:"status"`
	Chunks int    `json:"chunks"`
	Error  string `json:"error"`
	// Unexpected tells that nothing was planned for the request, or something else.
	Unexpected bool `json:"unexpected"`
	// Cancelled tells that the caller left before the end.
	Cancelled bool      `json:"cancelled"`
	Start     time.Time `json:"start"`
	// FirstByte and Duration count from Start.
	FirstByte time.Duration `json:"first_byte_ns"`
	Duration  time.Duration `json:"duration_ns"`
}

// seconds is a wait as Retry-After says it: whole seconds, none too few.
func seconds(d time.Duration) string { return strconv.Itoa(int(math.Ceil(d.Seconds()))) }
