package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Traceparent is the name under which a trace is propagated: an HTTP header, and a key in the _meta of MCP requests.
const Traceparent = "traceparent"

// Context returns a context for work on a row of a session, such as an execution: log records with this context name the row's
// span, and it is propagated to MCP servers.
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

// WithRow returns ctx for another row of the same session. It returns ctx unchanged if that has no row.
func WithRow(ctx context.Context, rowID string) context.Context {
	current, id := trace.SpanContextFromContext(ctx), spanIDOf(rowID)
	if !current.IsValid() || !id.IsValid() {
		return ctx
	}

	return trace.ContextWithSpanContext(ctx, current.WithSpanID(id))
}

// TraceparentOf returns the value of Traceparent for the row of ctx, or "" if there is none.
func TraceparentOf(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)

	return carrier[Traceparent]
}
