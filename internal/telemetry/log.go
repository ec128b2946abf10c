package telemetry

import (
	"context"
	"log/slog"

	"go.opentelemetry.io/otel/trace"
)

// NewHandler adds trace_id and span_id to log records about a session: those logged with the context of a row, and those with
// session_id and possibly execution_id.
func NewHandler(next slog.Handler) slog.Handler { return handler{Handler: next} }

type handler struct {
	slog.Handler

	// session and execution are those of the logger.
	session, execution string
}

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, record slog.Record) error {
	current := trace.SpanContextFromContext(ctx)
	traceID, spanID := current.TraceID(), current.SpanID()

	if !current.IsValid() {
		record.Attrs(func(attr slog.Attr) bool {
			h = h.with(attr)

			return true
		})

		traceID, spanID = traceIDOf(h.session), spanIDOf(h.execution)
	}

	if traceID.IsValid() {
		record.AddAttrs(slog.String("trace_id", traceID.String()))

		if spanID.IsValid() {
			record.AddAttrs(slog.String("span_id", spanID.String()))
		}
	}

	return h.Handler.Handle(ctx, record)
}

// with returns the handler with the session or execution in an attribute.
func (h handler) with(attr slog.Attr) handler {
	switch attr.Key {
	case "session_id":
		h.session = attr.Value.String()
	case "execution_id":
		h.execution = attr.Value.String()
	}

	return h
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, attr := range attrs {
		h = h.with(attr)
	}

	h.Handler = h.Handler.WithAttrs(attrs)

	return h
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler {
	h.Handler = h.Handler.WithGroup(name)

	return h
}
