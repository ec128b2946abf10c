// Package telemetry exports what sessions did as OpenTelemetry traces, with the GenAI conventions. A span is made from stored rows,
// after the step that ends it was committed, so it needs nothing that a server remembers: after a takeover the next server goes on
// with the same trace. It knows neither the database nor the engine.
package telemetry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"

	"tarsy.dev/tarsy/internal/background"
	"tarsy.dev/tarsy/internal/progress"
)

// The standard variables that switch traces on without a configured endpoint.
const (
	EnvEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	EnvTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
)

// tracesPath is where collectors receive traces.
const tracesPath = "/v1/traces"

// scope is the name of the instrumentation.
const scope = "tarsy.dev/tarsy"

// patience is how long the rest is exported when the server stops.
const patience = 3 * time.Second

// Config is what to export and where to.
type Config struct {
	// Endpoint is the address of the collector; empty means that of the standard variables.
	Endpoint string
	// Headers are sent with every export; nil means those of the standard variables.
	Headers map[string]string
	// SampleRatio is the part of sessions that are exported, from 0 to 1. All servers decide alike.
	SampleRatio float64
	// CaptureContent adds what models and tools were given and answered.
	CaptureContent bool
	// ProviderName returns what the conventions call an LLM provider, and ServerTransport the type of an MCP server's transport. Nil knows none.
	ProviderName, ServerTransport func(name string) string
	// ProviderURL returns the address of the API of an LLM provider by its name, and ServerURL that of an MCP server; empty if there is
	// none. Only the host and the port are exported. Nil knows none.
	ProviderURL, ServerURL func(name string) string
	// Version and ServerID describe this server.
	Version, ServerID string
	Logger            *slog.Logger
}

// Tracer exports what was committed. A nil Tracer does nothing. It is safe for concurrent use.
type Tracer struct {
	cfg      Config
	sampler  sampler
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	exporter sdktrace.SpanExporter
	outage   background.Outage

	// steps wait for the exporting goroutine, which owns ended.
	steps chan progress.Step
	ended ended
	task  background.Task

	exported, failed, dropped atomic.Int64
}

// New makes a Tracer and begins to export. It connects to nothing before there is something to export.
func New(ctx context.Context, cfg Config) (*Tracer, error) {
	unknown := func(string) string { return "" }
	if cfg.ProviderName == nil {
		cfg.ProviderName = unknown
	}

	if cfg.ServerTransport == nil {
		cfg.ServerTransport = unknown
	}

	if cfg.ProviderURL == nil {
		cfg.ProviderURL = unknown
	}

	if cfg.ServerURL == nil {
		cfg.ServerURL = unknown
	}

	options := []otlptracehttp.Option{otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: time.Second, MaxInterval: 5 * time.Second, MaxElapsedTime: 15 * time.Second,
	})}

	if cfg.Endpoint != "" {
		address, err := tracesURL(cfg.Endpoint)
		if err != nil {
			return nil, err
		}

		options = append(options, otlptracehttp.WithEndpointURL(address))
	}

	if cfg.Headers != nil {
		options = append(options, otlptracehttp.WithHeaders(cfg.Headers))
	}

	exporter, err := otlptracehttp.New(ctx, options...)
	if err != nil {
		return nil, fmt.Errorf("make the exporter of traces: %w", err)
	}

	described, err := describe(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, exporter.Shutdown(ctx))
	}

	t := &Tracer{
		cfg: cfg, sampler: newSampler(cfg.SampleRatio), exporter: exporter,
		steps: make(chan progress.Step, maxWaiting),
		outage: background.Outage{
			Failing: "could not export traces; they are dropped", Over: "exporting traces again", Level: slog.LevelWarn, Logger: cfg.Logger,
		},
	}
	t.provider = sdktrace.NewTracerProvider(
		sdktrace.WithIDGenerator(idGenerator{}), sdktrace.WithSampler(t.sampler),
		sdktrace.WithResource(described), sdktrace.WithSpanProcessor(&t.ended),
	)
	t.tracer = t.provider.Tracer(scope, trace.WithInstrumentationVersion(cfg.Version), trace.WithSchemaURL(semconv.SchemaURL))

	t.task.Start(t.export)

	return t, nil
}

// describe is the resource: what the standard variables say wins over what we know.
func describe(ctx context.Context, cfg Config) (*resource.Resource, error) {
	described, err := resource.New(ctx,
		resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(
			semconv.ServiceName("tarsy"), semconv.ServiceVersion(cfg.Version), semconv.ServiceInstanceID(cfg.ServerID),
		),
		resource.WithFromEnv(),
	)
	if err != nil {
		return nil, fmt.Errorf("read the attributes of traces from OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}

	return described, nil
}

// tracesURL adds the path of traces to the address of a collector, unless it is there.
func tracesURL(endpoint string) (string, error) {
	address, err := url.Parse(endpoint)
	if err != nil || address.Host == "" {
		// The parser's error repeats the address, which may have a password.
		return "", errors.New("the endpoint of traces is not a URL such as http://localhost:4318")
	}

	if !strings.HasSuffix(address.Path, tracesPath) {
		address.Path = strings.TrimSuffix(address.Path, "/") + tracesPath
	}

	return address.String(), nil
}

// ParseHeaders reads headers as the standard variables have them: name=value pairs, separated by commas, with values that may be
// escaped as in a URL.
func ParseHeaders(text string) (map[string]string, error) {
	headers := map[string]string{}

	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}

		name, value, found := strings.Cut(pair, "=")
		decoded, err := url.PathUnescape(strings.TrimSpace(value))

		if name = strings.TrimSpace(name); !found || name == "" || err != nil {
			// The text may have a secret.
			return nil, errors.New("headers must be name=value pairs, separated by commas")
		}

		headers[name] = decoded
	}

	return headers, nil
}

// Counts are how many spans were exported, how many the collector did not take, and how many were dropped because too many waited.
func (t *Tracer) Counts() (exported, failed, dropped int64) {
	return t.exported.Load(), t.failed.Load(), t.dropped.Load()
}

// Stop exports what waits, for a short time, and ends. Steps that are committed later are not exported.
func (t *Tracer) Stop(ctx context.Context) error {
	if t == nil {
		return nil
	}

	t.task.Stop()

	if err := t.exporter.Shutdown(ctx); err != nil {
		return fmt.Errorf("close the exporter of traces: %w", err)
	}

	return nil
}

// ours is an attribute that the conventions do not know.
func ours(name, value string) attribute.KeyValue { return attribute.String("tarsy."+name, value) }
