package script

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"

	"tarsy.dev/tarsy/llm"
)

// FaultKind is what goes wrong on the way of an answer.
type FaultKind string

// The kinds of faults.
const (
	// FaultDrop closes the connection without an end.
	FaultDrop FaultKind = "drop"
	// FaultMalformed sends what makes no sense in the API's form, and ends.
	FaultMalformed FaultKind = "malformed"
	// FaultTruncate ends the stream in good order, but before the answer's end.
	FaultTruncate FaultKind = "truncate"
	// FaultRateLimit is the error of a provider that is asked too much: an *llm.Error that says when to come back.
	FaultRateLimit FaultKind = "429"
	// FaultServerError is the error of a provider in trouble: an *llm.Error too.
	FaultServerError FaultKind = "500"
)

// FaultKinds are all kinds of faults.
func FaultKinds() []FaultKind {
	return []FaultKind{FaultDrop, FaultMalformed, FaultTruncate, FaultRateLimit, FaultServerError}
}

// Fault is a planned failure. A virtual server shows it on the wire; within the process it is an error of a call that broke
// in flight.
type Fault struct { //nolint:errname // a plan in the first place
	Kind FaultKind
	// AfterChunks is how many chunks come before it; all of them if there are fewer.
	AfterChunks int
}

// Error implements error.
func (f *Fault) Error() string { return "scripted fault: " + string(f.Kind) }

// Unwrap makes a fault one that may be tried again.
func (f *Fault) Unwrap() error {
	return &llm.Error{Class: llm.ClassTransient, Retryable: true, Message: f.Error()}
}

// failure is the error of a call that meets with the fault.
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

// Faults befall calls at random: the same conversation with the same model meets with the same fate under the same seed,
// whatever other calls there are. A fault does not use a reply up, and whoever asks again after one meets with the next
// draw: the fate of a conversation is a row of faults, perhaps none, and then an answer.
type Faults struct {
	Seed uint64
	// Rate is the share of calls that fail, 0 to 1.
	Rate float64
	// Kinds are those to choose from; none means all.
	Kinds []FaultKind
}

// faults draws. Conversations in the middle of their row of faults are remembered.
type faults struct {
	Faults

	mu  sync.Mutex
	met map[uint64]uint64
}

// maxMet bounds what is remembered of callers that never came back.
const maxMet = 100_000

func newFaults(options Faults) *faults {
	if options.Rate <= 0 {
		return nil
	}

	if len(options.Kinds) == 0 {
		options.Kinds = FaultKinds()
	}

	return &faults{Faults: options, met: map[uint64]uint64{}}
}

// drawnFault is a drawn fault; the zero value is none.
type drawnFault struct {
	kind FaultKind
	// point chooses the place in the answer.
	point uint64
}

func (f *faults) draw(req *llm.Request) drawnFault {
	if f == nil {
		return drawnFault{}
	}

	id := hash(conversation(req), req.Model)

	f.mu.Lock()
	defer f.mu.Unlock()

	const spread = 0x9e3779b97f4a7c15 // Makes neighbouring numbers of attempts unlike each other.

	random := rand.New(rand.NewPCG(f.Seed, id+f.met[id]*spread)) //nolint:gosec // Only chooses faults; must repeat.
	if random.Float64() >= f.Rate {
		delete(f.met, id)

		return drawnFault{}
	}

	if len(f.met) < maxMet || f.met[id] > 0 {
		f.met[id]++
	}

	return drawnFault{kind: f.Kinds[random.IntN(len(f.Kinds))], point: random.Uint64()}
}

// atOnce tells that the fault comes in place of an answer.
func (f drawnFault) atOnce() bool { return f.kind == FaultRateLimit || f.kind == FaultServerError }

func (f drawnFault) route() string { return fmt.Sprintf("fault %s", f.kind) }
