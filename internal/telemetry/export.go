package telemetry

import (
	"context"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"tarsy.dev/tarsy/internal/progress"
)

const (
	// maxWaiting is how many steps are queued while the collector is slow; further ones are dropped.
	maxWaiting = 2048
	// maxBatch is how many spans are exported together, and exportEvery how long the first of them waits, in real time.
	maxBatch    = 256
	exportEvery = time.Second
	// exportTimeout is the time limit of one export, including retries.
	exportTimeout = 20 * time.Second
)

// Committed queues the spans that a step ends. It never blocks: if the queue is full, they are dropped and counted.
func (t *Tracer) Committed(step progress.Step) {
	if t == nil {
		return
	}

	count := countSpans(&step)
	if count == 0 {
		return
	}

	select {
	case t.steps <- step:
	default:
		t.dropped.Add(int64(count))
	}
}

// export converts steps to spans and exports them in batches until ctx is done, and then exports the rest of the queue for a
// short time.
func (t *Tracer) export(ctx context.Context) {
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()

	defer context.AfterFunc(ctx, func() { time.AfterFunc(patience, end) })()

	timer := time.NewTimer(exportEvery)
	defer timer.Stop()

	for {
		select {
		case step := <-t.steps:
			if len(t.ended.spans) == 0 {
				timer.Reset(exportEvery)
			}

			t.makeSpans(&step)

			if len(t.ended.spans) >= maxBatch {
				t.send(life)
			}
		case <-timer.C:
			t.send(life)
		case <-ctx.Done():
			t.sendRest(life)

			return
		}
	}
}

// sendRest exports the rest of the queue.
func (t *Tracer) sendRest(life context.Context) {
	for {
		select {
		case step := <-t.steps:
			t.makeSpans(&step)

			if len(t.ended.spans) >= maxBatch {
				t.send(life)
			}
		default:
			t.send(life)

			return
		}
	}
}

// send exports the ended spans.
func (t *Tracer) send(life context.Context) {
	spans := t.ended.spans
	if len(spans) == 0 {
		return
	}

	t.ended.spans = nil

	ctx, cancel := context.WithTimeout(life, exportTimeout)
	defer cancel()

	err := t.exporter.ExportSpans(ctx, spans)
	t.outage.Note(ctx, err)

	if err != nil {
		t.failed.Add(int64(len(spans)))

		return
	}

	t.exported.Add(int64(len(spans)))
}

// ended collects ended spans. The SDK calls it in the goroutine that ends a span, which is the exporting one.
type ended struct{ spans []sdktrace.ReadOnlySpan }

// OnStart implements sdktrace.SpanProcessor.
func (*ended) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd implements sdktrace.SpanProcessor.
func (e *ended) OnEnd(span sdktrace.ReadOnlySpan) { e.spans = append(e.spans, span) }

// Shutdown implements sdktrace.SpanProcessor.
func (*ended) Shutdown(context.Context) error { return nil }

// ForceFlush implements sdktrace.SpanProcessor.
func (*ended) ForceFlush(context.Context) error { return nil }
