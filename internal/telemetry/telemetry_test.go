package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/internal/telemetry"
)

func newTracer(t *testing.T, cfg telemetry.Config) *telemetry.Tracer {
	t.Helper()

	cfg.Logger = slog.New(slog.DiscardHandler)
	tracer, err := telemetry.New(t.Context(), cfg)
	require.NoError(t, err)

	return tracer
}

// stepOf returns a step with one LLM call.
func stepOf(sessionID string) progress.Step {
	return progress.Step{LLMInteractions: []tarsy.LLMInteraction{{ID: ident.New(), SessionID: sessionID, ModelName: "m", CreatedAt: time.Now()}}}
}

// Session IDs are UUIDs, whose bits are not all random: a ratio of a tenth must select a tenth of them.
func TestSampleRatioHoldsForSessionIDs(t *testing.T) {
	t.Parallel()

	const sessions = 20_000

	for _, ratio := range []float64{0, 0.1, 0.5, 1} {
		tracer := newTracer(t, telemetry.Config{Endpoint: "http://127.0.0.1:1", SampleRatio: ratio})
		t.Cleanup(func() { require.NoError(t, tracer.Stop(context.Background())) })

		sampled := 0

		for range sessions {
			id := ident.New()
			if trace.SpanContextFromContext(tracer.Context(t.Context(), id, id)).IsSampled() {
				sampled++
			}
		}

		require.InDelta(t, ratio*sessions, sampled, 0.02*sessions, "ratio %v", ratio)
	}
}

// The collector receives the sampled sessions completely.
func TestSessionsThatAreNotSampledAreNotExported(t *testing.T) {
	t.Parallel()

	received := make(chan int, 10)
	server := httptest.NewServer(countSpans(received))
	t.Cleanup(server.Close)

	tracer := newTracer(t, telemetry.Config{Endpoint: server.URL, SampleRatio: 0.5})
	want := 0

	for range 50 {
		id := ident.New()
		tracer.Committed(stepOf(id))
		tracer.Committed(stepOf(id))

		if trace.SpanContextFromContext(tracer.Context(t.Context(), id, id)).IsSampled() {
			want += 2
		}
	}

	require.NoError(t, tracer.Stop(t.Context()))
	require.Equal(t, want, <-received)
}

// countSpans sends the number of spans in each export.
func countSpans(received chan<- int) http.HandlerFunc {
	return func(_ http.ResponseWriter, r *http.Request) {
		var (
			body    bytes.Buffer
			request collector.ExportTraceServiceRequest
			count   int
		)

		if _, err := body.ReadFrom(r.Body); err != nil || proto.Unmarshal(body.Bytes(), &request) != nil {
			return
		}

		for _, of := range request.GetResourceSpans() {
			for _, scope := range of.GetScopeSpans() {
				count += len(scope.GetSpans())
			}
		}

		received <- count
	}
}

// While the collector does not respond, commits are not delayed: what does not fit into the queue is dropped and counted.
func TestSpansAreDroppedWhileCollectorHangs(t *testing.T) {
	t.Parallel()

	const spans = 10_000

	asked, release := make(chan struct{}, 1), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		select {
		case asked <- struct{}{}:
		default:
		}

		<-release
	}))
	t.Cleanup(server.Close)

	tracer := newTracer(t, telemetry.Config{Endpoint: server.URL, SampleRatio: 1})
	sessionID := ident.New()

	tracer.Committed(stepOf(sessionID))
	<-asked

	for range spans {
		tracer.Committed(stepOf(sessionID))
	}

	_, _, dropped := tracer.Counts()
	require.Positive(t, dropped)
	close(release)
	require.NoError(t, tracer.Stop(t.Context()))

	exported, failed, dropped := tracer.Counts()
	require.Equal(t, int64(spans+1), exported+failed+dropped, "each span is counted once")
}

// The standard variables set the endpoint if none is configured, and the service name. A configured endpoint takes precedence.
func TestStandardVariablesApplyWithoutConfiguration(t *testing.T) {
	requests := make(chan *http.Request, 1)
	bodies := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer

		_, _ = body.ReadFrom(r.Body)
		requests <- r
		bodies <- body.String()
	}))
	t.Cleanup(server.Close)

	t.Setenv(telemetry.EnvEndpoint, server.URL+"/otlp")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=ops")
	t.Setenv("OTEL_SERVICE_NAME", "tarsy-staging")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=staging")

	tracer := newTracer(t, telemetry.Config{SampleRatio: 1})
	tracer.Committed(stepOf(ident.New()))
	require.NoError(t, tracer.Stop(t.Context()))

	request, body := <-requests, <-bodies
	require.Equal(t, "/otlp/v1/traces", request.URL.Path)
	require.Equal(t, "ops", request.Header.Get("X-Team"))
	require.Contains(t, body, "tarsy-staging")
	require.Contains(t, body, "deployment.environment.name")

	t.Setenv(telemetry.EnvEndpoint, "http://127.0.0.1:1")

	tracer = newTracer(t, telemetry.Config{Endpoint: server.URL, Headers: map[string]string{"x-team": "dev"}, SampleRatio: 1})
	tracer.Committed(stepOf(ident.New()))
	require.NoError(t, tracer.Stop(t.Context()))

	request = <-requests
	require.Equal(t, "/v1/traces", request.URL.Path)
	require.Equal(t, "dev", request.Header.Get("X-Team"))
}

func TestLogLinesOfSessionsHaveTheirTrace(t *testing.T) {
	t.Parallel()

	const (
		session   = "01990000-0000-7000-8000-0000000000aa"
		execution = "01990000-0000-7000-8000-0000000000bb"
		traceID   = "trace_id=019900000000700080000000000000aa"
		spanID    = "span_id=80000000000000bb"
	)

	tracer := newTracer(t, telemetry.Config{Endpoint: "http://127.0.0.1:1", SampleRatio: 1})
	t.Cleanup(func() { require.NoError(t, tracer.Stop(context.Background())) })

	var out bytes.Buffer

	log := slog.New(telemetry.NewHandler(slog.NewTextHandler(&out, nil)))
	line := func(write func()) string {
		out.Reset()
		write()

		return strings.TrimSpace(out.String())
	}

	of := tracer.Context(t.Context(), session, execution)

	require.Contains(t, line(func() { log.InfoContext(of, "a call") }), traceID+" "+spanID)
	require.Contains(t, line(func() { log.Info("a call", "session_id", session, "execution_id", execution) }), traceID+" "+spanID)
	require.Contains(t, line(func() { log.With("session_id", session).Info("a step") }), traceID)
	require.NotContains(t, line(func() { log.With("session_id", session).Info("a step") }), "span_id")
	require.NotContains(t, line(func() { log.Info("no session") }), "trace_id")
	require.NotContains(t, line(func() { log.Info("a bad id", "session_id", "x") }), "trace_id")
}

func TestParseHeadersRejectsInvalidList(t *testing.T) {
	t.Parallel()

	headers, err := telemetry.ParseHeaders(" authorization=Bearer%20abc= , x-tenant=ops,")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"authorization": "Bearer abc=", "x-tenant": "ops"}, headers)

	for _, text := range []string{"secret-token", "=value", "name=%zz"} {
		_, err := telemetry.ParseHeaders(text)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "secret-token")
	}
}
