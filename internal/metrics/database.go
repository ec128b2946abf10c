package metrics

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"

	"tarsy.dev/tarsy"
)

const (
	// workloadEvery is how long a database reading is cached, so that scrapes, however many, cost one query per interval.
	workloadEvery = 5 * time.Second
	// workloadWithin is the time limit of the query. Prometheus waits for ten seconds by default.
	workloadWithin = 2 * time.Second
)

// Workload is the work of all servers together.
type Workload struct {
	// Sessions counts the sessions that have not ended, by status.
	Sessions map[tarsy.SessionStatus]int
	// Waiting is how many sessions no server has taken yet; OldestAge is the waiting time of the oldest.
	Waiting   int
	OldestAge time.Duration
	// WaitingApprovals is the number of tool calls that can be approved or rejected.
	WaitingApprovals int
	// Unnumbered is the number of journal entries that are not visible to readers yet.
	Unnumbered int
	// Paused has the state of each kind of pause.
	Paused map[tarsy.PauseKind]bool
}

// Database provides the data that is read on scrapes.
type Database struct {
	Workload func(context.Context) (Workload, error)
	Pools    func() map[string]*pgxpool.Stat
	// Now returns the time; defaults to time.Now.
	Now func() time.Time
}

// AddDatabase adds the metrics of the database. Call it once.
func (m *Metrics) AddDatabase(db Database) {
	if db.Now == nil {
		db.Now = time.Now
	}

	m.registry.MustRegister(&workload{Database: db, logger: m.logger}, pools{db.Pools})
}

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, nil)
}

var (
	upDesc         = describe("database_up", "Whether the database answered the last query for these metrics.")
	sessionsDesc   = describe("sessions", "Sessions of all servers that are not over.", "status")
	depthDesc      = describe("queue_depth", "Sessions of all servers that wait for a worker.")
	oldestDesc     = describe("queue_oldest_age_seconds", "How long the oldest of them waits; 0 if there is none.")
	approvalsDesc  = describe("approvals_waiting", "Tool calls of all servers that wait for somebody to approve or reject them.")
	pausedDesc     = describe("paused", "Whether people paused this on all servers: intake of alerts, or claiming of sessions.", "what")
	journalLagDesc = describe("journal_lag", "Entries of the journal of notes that readers cannot see yet.")
)

// workload reads the database at most once per interval; concurrent scrapes wait for one query.
type workload struct {
	Database

	logger *slog.Logger

	mu     sync.Mutex
	last   Workload
	failed bool
	at     time.Time
}

// Describe implements prometheus.Collector.
func (w *workload) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{upDesc, sessionsDesc, depthDesc, oldestDesc, approvalsDesc, pausedDesc, journalLagDesc} {
		to <- desc
	}
}

// Collect implements prometheus.Collector. If the database cannot be read, only that is reported: stale values would look
// current.
func (w *workload) Collect(to chan<- prometheus.Metric) {
	last, ok := w.read()
	if !ok {
		to <- gauge(upDesc, 0)

		return
	}

	to <- gauge(upDesc, 1)
	to <- gauge(depthDesc, float64(last.Waiting))
	to <- gauge(oldestDesc, last.OldestAge.Seconds())
	to <- gauge(approvalsDesc, float64(last.WaitingApprovals))
	to <- gauge(journalLagDesc, float64(last.Unnumbered))

	for kind, paused := range last.Paused {
		value := 0.0
		if paused {
			value = 1
		}

		to <- gauge(pausedDesc, value, string(kind))
	}

	for status, count := range last.Sessions {
		to <- gauge(sessionsDesc, float64(count), string(status))
	}
}

func (w *workload) read() (last Workload, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()

	now := w.Now()
	if !w.at.IsZero() && now.Sub(w.at) < workloadEvery {
		return w.last, !w.failed
	}

	ctx, cancel := context.WithTimeout(context.Background(), workloadWithin)
	defer cancel()

	var err error

	w.last, err = w.Workload(ctx)
	if err != nil {
		w.logger.Warn("could not read the database for metrics", "error", err)
	}

	w.failed, w.at = err != nil, now

	return w.last, !w.failed
}

func gauge(desc *prometheus.Desc, value float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
}

var (
	poolConnsDesc = describe("db_pool_connections", "Database connections by state: acquired or idle.", "pool", "state")
	poolMaxDesc   = describe("db_pool_max_connections", "The largest number of connections.", "pool")
	poolCountDesc = describe("db_pool_acquires_total", "How often a connection was taken.", "pool")
	poolEmptyDesc = describe("db_pool_empty_acquires_total", "How often there was no free connection.", "pool")
	poolWaitDesc  = describe("db_pool_acquire_seconds_total", "How long the callers waited for connections altogether.", "pool")
)

// pools collects the statistics of the connection pools.
type pools struct {
	read func() map[string]*pgxpool.Stat
}

// Describe implements prometheus.Collector.
func (p pools) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{poolConnsDesc, poolMaxDesc, poolCountDesc, poolEmptyDesc, poolWaitDesc} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (p pools) Collect(to chan<- prometheus.Metric) {
	count := func(desc *prometheus.Desc, value float64, pool string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, value, pool)
	}

	for name, stat := range p.read() {
		to <- gauge(poolConnsDesc, float64(stat.AcquiredConns()), name, "acquired")
		to <- gauge(poolConnsDesc, float64(stat.IdleConns()), name, "idle")
		to <- gauge(poolMaxDesc, float64(stat.MaxConns()), name)

		count(poolCountDesc, float64(stat.AcquireCount()), name)
		count(poolEmptyDesc, float64(stat.EmptyAcquireCount()), name)
		count(poolWaitDesc, stat.AcquireDuration().Seconds(), name)
	}
}
