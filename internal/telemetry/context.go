package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Traceparent is the name of what carries a trace to others: a header of HTTP, and a key in the _meta of MCP requests.
const Traceparent = "traceparent"

// Context returns a context for work on a row of a session, such as an execution: lines that are logged with it name the row's span,
// and MCP servers are told of it.
func (t *Tracer) Context(ctx context.Context, sessionID, rowID string) context.Context {
	if t == nil {
		return ctx
	}

	return trace.ContextWithSpanContext(ctx, t.spanContext(sessionID, rowID))
}

func (t *Tracer) spanContext(sessionID, rowID string) trace.SpanContext {
	traceID := traceIDOf(sessionID)

	var flags trace.TraceFlags

	return trace.NewSpanContext(trace.SpanContextConfig{
		TraceID: traceID, SpanID: spanIDOf(rowID), TraceFlags: flags.WithSampled(t.sampler.samples(traceID)),
	})
}

// WithRow returns the context of a row that belongs to the same session as the row of ctx. It is ctx if that has none.
func WithRow(ctx context.Context, rowID string) context.Context {
	current, id := trace.SpanContextFromContext(ctx), spanIDOf(rowID)
	if !current.IsValid() || !id.IsValid() {
		return ctx
	}

	return trace.ContextWithSpanContext(ctx, current.WithSpanID(id))
}

// TraceparentOf is the row of ctx as the value of Traceparent; empty if there is none.
func TraceparentOf(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)

	return carrier[Traceparent]
}
