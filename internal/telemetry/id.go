package telemetry

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/google/uuid"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// traceIDOf is the id of a session's trace: the session's own, so that all servers add to the same one and people find it. It is
// invalid if the id is not a UUID.
func traceIDOf(sessionID string) trace.TraceID {
	id, err := uuid.Parse(sessionID)
	if err != nil {
		return trace.TraceID{}
	}

	return trace.TraceID(id)
}

// spanIDOf is the id of a row's span: the last 8 bytes of the row's id, which are random in a UUIDv7. It is invalid if the id is not
// a UUID.
func spanIDOf(rowID string) trace.SpanID {
	id, err := uuid.Parse(rowID)
	if err != nil {
		return trace.SpanID{}
	}

	return trace.SpanID(id[8:])
}

// idKey is the key of the ids, in a context, that the next span gets.
type idKey struct{}

// idGenerator gives each span the ids that its context has.
type idGenerator struct{}

// NewIDs implements sdktrace.IDGenerator.
func (idGenerator) NewIDs(ctx context.Context) (trace.TraceID, trace.SpanID) {
	wanted, _ := ctx.Value(idKey{}).(trace.SpanContext)

	return wanted.TraceID(), wanted.SpanID()
}

// NewSpanID implements sdktrace.IDGenerator.
func (g idGenerator) NewSpanID(ctx context.Context, _ trace.TraceID) trace.SpanID {
	_, id := g.NewIDs(ctx)

	return id
}

// sampler selects a part of all traces by their id, so that every server selects the same ones. It looks at the last 56 bits, as
// W3C Trace Context says: the SDK's own sampler looks at the last 64, of which the first two are the same in every UUID.
type sampler struct{ least uint64 }

// idBits is the number of random bits at the end of a trace id.
const idBits = 56

func newSampler(ratio float64) sampler {
	return sampler{least: uint64(math.Round((1 - min(max(ratio, 0), 1)) * (1 << idBits)))}
}

func (s sampler) samples(id trace.TraceID) bool {
	return binary.BigEndian.Uint64(id[8:])&(1<<idBits-1) >= s.least
}

// ShouldSample implements sdktrace.Sampler.
func (s sampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	decision := sdktrace.Drop
	if s.samples(p.TraceID) {
		decision = sdktrace.RecordAndSample
	}

	return sdktrace.SamplingResult{Decision: decision, Tracestate: trace.SpanContextFromContext(p.ParentContext).TraceState()}
}

// Description implements sdktrace.Sampler.
func (sampler) Description() string { return "SessionRatio" }
