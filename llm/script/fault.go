package script

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"

	"tarsy.dev/tarsy/llm"
)

// FaultKind is what goes wrong while an answer is sent.
type FaultKind string

// The kinds of faults.
const (
	// FaultDrop closes the connection without ending the answer.
	FaultDrop FaultKind = "drop"
	// FaultMalformed sends data that is invalid in the API's form, and ends.
	FaultMalformed FaultKind = "malformed"
	// FaultTruncate ends the stream properly, but before the answer's end.
	FaultTruncate FaultKind = "truncate"
	// FaultRateLimit is a provider's rate limit error: an *llm.Error with a RetryAfter.
	FaultRateLimit FaultKind = "429"
	// FaultServerError is a provider's internal error: an *llm.Error too.
	FaultServerError FaultKind = "500"
)

// FaultKinds returns all kinds of faults.
func FaultKinds() []FaultKind {
	return []FaultKind{FaultDrop, FaultMalformed, FaultTruncate, FaultRateLimit, FaultServerError}
}

// Fault is a planned failure. A virtual server reproduces it on the wire; within the process it is the error of a call that
// failed in flight.
type Fault struct { //nolint:errname // a plan in the first place
	Kind FaultKind
	// AfterChunks is how many chunks precede the fault; all of them if there are fewer.
	AfterChunks int
}

// Error implements error.
func (f *Fault) Error() string { return "scripted fault: " + string(f.Kind) }

// Unwrap makes a fault retryable.
func (f *Fault) Unwrap() error {
	return &llm.Error{Class: llm.ClassTransient, Retryable: true, Message: f.Error()}
}

// failure returns the error of a call with this fault.
func (f *Fault) failure() error {
	switch f.Kind {
	case FaultRateLimit:
		const wait = 1

		header := http.Header{"Retry-After": {strconv.Itoa(wait)}}

		return llm.ErrorOfStatus(http.StatusTooManyRequests, header, "rate_limit_exceeded", f.Error())
	case FaultServerError:
		return llm.ErrorOfStatus(http.StatusInternalServerError, nil, "internal_error", f.Error())
	case FaultDrop, FaultMalformed, FaultTruncate:
	}

	return f
}

// Faults affect calls at random: with the same seed, the same conversation with the same model gets the same faults, whatever
// other calls there are. A fault does not use up a reply, and a retry after a fault gets the next draw: each conversation gets
// a sequence of faults, possibly empty, and then an answer.
type Faults struct {
	Seed uint64
	// Rate is the share of calls that fail, 0 to 1.
	Rate float64
	// Kinds are those to choose from; none means all.
	Kinds []FaultKind
}

// faults draws faults. It remembers conversations in the middle of their sequence of faults.
type faults struct {
	Faults

	mu sync.Mutex
	// series counts the faults in the current sequence of each conversation.
	series map[uint64]uint64
}

// maxSeries bounds the memory for callers that never retried.
const maxSeries = 100_000

func newFaults(options Faults) *faults {
	if options.Rate <= 0 {
		return nil
	}

	if len(options.Kinds) == 0 {
		options.Kinds = FaultKinds()
	}

	return &faults{Faults: options, series: map[uint64]uint64{}}
}

// drawnFault is a drawn fault; the zero value is none.
type drawnFault struct {
	kind FaultKind
	// point determines the place in the answer.
	point uint64
}

func (f *faults) draw(req *llm.Request) drawnFault {
	if f == nil {
		return drawnFault{}
	}

	id := hash(conversation(req), req.Model)

	f.mu.Lock()
	defer f.mu.Unlock()

	const spread = 0x9e3779b97f4a7c15 // makes consecutive attempts differ

	random := rand.New(rand.NewPCG(f.Seed, id+f.series[id]*spread)) //nolint:gosec // Only chooses faults; must repeat.
	if random.Float64() >= f.Rate {
		delete(f.series, id)

		return drawnFault{}
	}

	if len(f.series) < maxSeries || f.series[id] > 0 {
		f.series[id]++
	}

	return drawnFault{kind: f.Kinds[random.IntN(len(f.Kinds))], point: random.Uint64()}
}

// atOnce reports whether the fault replaces the answer.
func (f drawnFault) atOnce() bool { return f.kind == FaultRateLimit || f.kind == FaultServerError }

func (f drawnFault) route() string { return fmt.Sprintf("fault %s", f.kind) }
