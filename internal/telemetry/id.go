package telemetry

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/google/uuid"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// traceIDOf returns the ID of a session's trace: the session's own ID, so that all servers add to the same trace and people can
// find it. It is invalid if sessionID is not a UUID.
func traceIDOf(sessionID string) trace.TraceID {
	id, err := uuid.Parse(sessionID)
	if err != nil {
		return trace.TraceID{}
	}

	return trace.TraceID(id)
}

// spanIDOf returns the ID of a row's span: the last 8 bytes of the row's ID, which are random in a UUIDv7. It is invalid if
// rowID is not a UUID.
func spanIDOf(rowID string) trace.SpanID {
	id, err := uuid.Parse(rowID)
	if err != nil {
		return trace.SpanID{}
	}

	return trace.SpanID(id[8:])
}

// idKey is the context key for the IDs of the next span.
type idKey struct{}

// idGenerator gives each span the IDs in its context.
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

// sampler selects a fraction of all traces by ID, so that every server selects the same ones. It uses the last 56 bits, as W3C
// Trace Context specifies: the SDK's own sampler uses the last 64, of which the first two are the same in every UUID.
type sampler struct{ least uint64 }

// idBits is the number of random bits at the end of a trace ID.
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
