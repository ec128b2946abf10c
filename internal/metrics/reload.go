package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Results of a configuration reload.
const (
	ReloadApplied   = "applied"
	ReloadUnchanged = "unchanged"
	ReloadInvalid   = "invalid"
)

// reloads are the metrics of configuration reloads.
type reloads struct {
	total         *prometheus.CounterVec
	lastSucceeded prometheus.Gauge
	lastSuccess   prometheus.Gauge
}

func newReloads() reloads {
	r := reloads{
		total: newCounters("config_reloads_total", "Reloads of the configuration by result: applied, unchanged or invalid.", "result"),
		lastSucceeded: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "config_last_reload_successful", Help: "Whether the last reload of the configuration, or its load at the start, succeeded.",
		}),
		lastSuccess: prometheus.NewGauge(prometheus.GaugeOpts{
			Namespace: namespace, Name: "config_last_reload_success_timestamp_seconds", Help: "When the configuration was last loaded or reloaded without an error.",
		}),
	}

	for _, result := range []string{ReloadApplied, ReloadUnchanged, ReloadInvalid} {
		r.total.WithLabelValues(result)
	}

	return r
}

func (r reloads) all() []prometheus.Collector {
	return []prometheus.Collector{r.total, r.lastSucceeded, r.lastSuccess}
}

// ConfigLoaded records that the configuration was loaded at startup.
func (r reloads) ConfigLoaded(at time.Time) {
	r.lastSucceeded.Set(1)
	r.lastSuccess.Set(float64(at.Unix()))
}

// ConfigReloaded counts a reload by its result.
func (r reloads) ConfigReloaded(result string, at time.Time) {
	r.total.WithLabelValues(result).Inc()

	if result == ReloadInvalid {
		r.lastSucceeded.Set(0)

		return
	}

	r.ConfigLoaded(at)
}
