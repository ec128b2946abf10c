// Package telemetry exports the activity of sessions as OpenTelemetry traces, with the GenAI conventions. A span is created
// from stored rows, after the step that ends it was committed, so it does not depend on a server's memory: after a takeover,
// the next server continues the same trace. The package knows neither the database nor the engine.
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

// The standard environment variables that enable traces without a configured endpoint.
const (
	EnvEndpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	EnvTracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
)

// tracesPath is the path at which collectors receive traces.
const tracesPath = "/v1/traces"

// scope is the name of the instrumentation scope.
const scope = "tarsy.dev/tarsy"

// patience is how long the rest of the queue is exported when the server stops.
const patience = 3 * time.Second

// Config configures what to export, and where to.
type Config struct {
	// Endpoint is the URL of the collector; empty means that of the standard variables.
	Endpoint string
	// Headers are sent with every export; nil means those of the standard variables.
	Headers map[string]string
	// SampleRatio is the fraction of sessions that are exported, from 0 to 1. All servers select the same sessions.
	SampleRatio float64
	// CaptureContent adds the input and output of models and tools.
	CaptureContent bool
	// ProviderName returns the name of an LLM provider in the conventions, and ServerTransport the transport type of an MCP
	// server. Nil means unknown.
	ProviderName, ServerTransport func(name string) string
	// ProviderURL returns the URL of an LLM provider's API by its name, and ServerURL that of an MCP server; empty if there is
	// none. Only the host and the port are exported. Nil means unknown.
	ProviderURL, ServerURL func(name string) string
	// Version and ServerID identify this server.
	Version, ServerID string
	Logger            *slog.Logger
}

// Tracer exports committed steps. A nil Tracer does nothing. It is safe for concurrent use.
type Tracer struct {
	cfg      Config
	sampler  sampler
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	exporter sdktrace.SpanExporter
	outage   background.Outage

	// steps is the queue of the exporting goroutine, which owns ended.
	steps chan progress.Step
	ended ended
	task  background.Task

	exported, failed, dropped atomic.Int64
}

// New creates a Tracer and starts exporting. It makes no connections until there is something to export.
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

// describe returns the resource; the standard variables take precedence over our own values.
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

// tracesURL adds the traces path to the URL of a collector, unless it is already there.
func tracesURL(endpoint string) (string, error) {
	address, err := url.Parse(endpoint)
	if err != nil || address.Host == "" {
		// The parser's error contains the URL, which may contain a password.
		return "", errors.New("the endpoint of traces is not a URL such as http://localhost:4318")
	}

	if !strings.HasSuffix(address.Path, tracesPath) {
		address.Path = strings.TrimSuffix(address.Path, "/") + tracesPath
	}

	return address.String(), nil
}

// ParseHeaders parses headers in the format of the standard variables: comma-separated name=value pairs, whose values can be
// URL-escaped.
func ParseHeaders(text string) (map[string]string, error) {
	headers := map[string]string{}

	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}

		name, value, found := strings.Cut(pair, "=")
		decoded, err := url.PathUnescape(strings.TrimSpace(value))

		if name = strings.TrimSpace(name); !found || name == "" || err != nil {
			// The text may contain a secret.
			return nil, errors.New("headers must be name=value pairs, separated by commas")
		}

		headers[name] = decoded
	}

	return headers, nil
}

// Counts returns how many spans were exported, how many the collector did not accept, and how many were dropped because the
// queue was full.
func (t *Tracer) Counts() (exported, failed, dropped int64) {
	return t.exported.Load(), t.failed.Load(), t.dropped.Load()
}

// Stop exports the rest of the queue, for a short time, and shuts down. Steps that are committed later are not exported.
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

// ours returns an attribute that the conventions do not define.
func ours(name, value string) attribute.KeyValue { return attribute.String("tarsy."+name, value) }
