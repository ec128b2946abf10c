// Package metrics counts what the server does, for Prometheus. It has its own registry, and its labels have a limited number of
// values: names come from the configuration, everything else is "other". It knows neither HTTP routes nor SQL: the parts of the
// server call it, or are read on scrapes.
package metrics

import (
	"log/slog"
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// namespace is the prefix of every name, except for those of Go and the process.
const namespace = "tarsy"

// Config has the values that can appear in labels.
type Config struct {
	Version string
	// Providers are the names of the configured LLM providers, Models the names of their models, and Servers those of MCP servers.
	Providers, Models, Servers []string
	Logger                     *slog.Logger
}

// Metrics are the metrics of one server. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	logger   *slog.Logger

	providers, models, servers names

	sessions
	requests
	reloads

	losses prometheus.Counter
}

// New creates the metrics; all of them are zero.
func New(cfg Config) *Metrics {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}

	m := &Metrics{
		registry: prometheus.NewRegistry(), logger: cfg.Logger,
		providers: newNames(cfg.Providers), models: newNames(cfg.Models), servers: newNames(cfg.Servers),
		sessions: newSessions(), requests: newRequests(), reloads: newReloads(),
		losses: newCounter("lease_losses_total", "Sessions that another server took over while this one worked on them."),
	}

	info := newGauges("build_info", "The version of the server; the value is always 1.", "version", "go_version")
	info.WithLabelValues(cfg.Version, runtime.Version()).Set(1)

	m.registry.MustRegister(info, m.losses, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.sessions.all()...)
	m.registry.MustRegister(m.requests.all()...)
	m.registry.MustRegister(m.reloads.all()...)
	m.addProviders(cfg.Providers)

	return m
}

// Know adds names that can appear in labels after the configuration was changed. Earlier names are kept: their sessions may
// still run.
func (m *Metrics) Know(providers, models, servers []string) {
	m.models.add(models)
	m.servers.add(servers)
	m.addProviders(providers)
}

func (m *Metrics) addProviders(names []string) {
	m.providers.add(names)

	for _, provider := range names {
		m.retries.WithLabelValues(provider)
		m.fallbacks.WithLabelValues(provider)
	}
}

// Handler serves scrapes. A part that cannot be read is omitted and logged, and the rest is served.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(m.logger.Handler(), slog.LevelWarn), ErrorHandling: promhttp.ContinueOnError,
	})
}

// LeaseLost counts a session that another server took over.
func (m *Metrics) LeaseLost() { m.losses.Inc() }

// AddMasker adds the number of secrets masked in text of people and providers, and in tool results. Call it once.
func (m *Metrics) AddMasker(masked func() (texts, results int64)) {
	add := func(gate string, read func() int64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "masked_secrets_total", ConstLabels: prometheus.Labels{"gate": gate},
			Help: "Secrets that were masked: in what people and providers wrote (text) and in results of tools (tool_result).",
		}, func() float64 { return float64(read()) }))
	}

	add("text", func() int64 { texts, _ := masked(); return texts })
	add("tool_result", func() int64 { _, results := masked(); return results })
}

// AddTraces adds the number of trace spans that were exported, that the collector refused, and that were dropped because the
// queue was full. Call it once.
func (m *Metrics) AddTraces(counts func() (exported, failed, dropped int64)) {
	add := func(result string, read func() int64) {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "trace_spans_total", ConstLabels: prometheus.Labels{"result": result},
			Help: "Spans of traces: exported, failed (not accepted by the collector) or dropped (too many waited for it).",
		}, func() float64 { return float64(read()) }))
	}

	add("exported", func() int64 { exported, _, _ := counts(); return exported })
	add("failed", func() int64 { _, failed, _ := counts(); return failed })
	add("dropped", func() int64 { _, _, dropped := counts(); return dropped })
}

// Streams provides the hub's counts of readers. Each function is called on every scrape.
type Streams struct {
	// WebSockets and EventStreams return the number of open connections of each kind.
	WebSockets, EventStreams func() int64
	// DroppedDeltas and DroppedChanges return how many messages of each lossy class were dropped since the start.
	DroppedDeltas, DroppedChanges func() int64
}

// AddStreams adds the metrics of readers. Call it once.
func (m *Metrics) AddStreams(s Streams) {
	readers := func(transport string, read func() int64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Namespace: namespace, Name: "stream_readers", Help: "Open connections of readers.", ConstLabels: prometheus.Labels{"transport": transport},
		}, func() float64 { return float64(read()) })
	}
	drops := func(class string, read func() int64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Namespace: namespace, Name: "stream_drops_total", ConstLabels: prometheus.Labels{"class": class},
			Help: "What slow readers missed of lossy classes: pieces of running text (delta), notices in the feed of sessions (feed).",
		}, func() float64 { return float64(read()) })
	}

	m.registry.MustRegister(
		readers("websocket", s.WebSockets), readers("sse", s.EventStreams), drops("delta", s.DroppedDeltas), drops("feed", s.DroppedChanges),
	)
}

func newCounter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help})
}

func newCounters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func newGauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, labels)
}

func newHistograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}, labels)
}
