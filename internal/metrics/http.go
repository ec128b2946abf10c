package metrics

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requests are the HTTP metrics.
type requests struct {
	answered *prometheus.CounterVec
	took     *prometheus.HistogramVec
	methods  names
}

func newRequests() requests {
	return requests{
		answered: newCounters("http_requests_total", "HTTP requests, by the pattern of the route.", "route", "method", "code"),
		took: newHistograms("http_request_duration_seconds", "Duration of HTTP requests, without streams.",
			[]float64{0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10}, "route", "method"),
		methods: newNames([]string{
			http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
		}),
	}
}

func (r *requests) all() []prometheus.Collector { return []prometheus.Collector{r.answered, r.took} }

// Request counts an HTTP request. The route is the pattern that it matched, without the method, or "" if it matched none.
// Streams are not timed: they last as long as their readers want.
func (m *Metrics) Request(route, method string, code int, took time.Duration, stream bool) {
	if route == "" {
		route = other
	}

	method = m.methods.label(method)
	m.answered.WithLabelValues(route, method, strconv.Itoa(code)).Inc()

	if !stream {
		m.took.WithLabelValues(route, method).Observe(took.Seconds())
	}
}

// AddBodies adds the memory used by request bodies. Call it once.
func (m *Metrics) AddBodies(read func() int64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Namespace: namespace, Name: "http_body_bytes", Help: "Memory of the bodies of HTTP requests.",
	}, func() float64 { return float64(read()) }))
}
