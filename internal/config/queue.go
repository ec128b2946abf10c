package config

import "time"

// Queue is the section about how sessions are picked up. OrphanThreshold and
// HeartbeatInterval keep the names that existing files use; what they set is the
// lease of a session: how long it holds and how often it is renewed.
type Queue struct {
	WorkerCount             int           `yaml:"worker_count" doc:"Sessions that one server works on at once; with 0 it takes alerts and shows sessions, and leaves the work to others." default:"5" min:"0"`
	MaxConcurrentSessions   int           `yaml:"max_concurrent_sessions" doc:"Sessions that all servers together work on at once." default:"5" min:"1"`
	MaxWaitingSessions      int           `yaml:"max_waiting_sessions" doc:"Sessions that may wait to be picked up, over all servers; beyond it alerts are answered with 503 overloaded. 0 means no limit." default:"10000" min:"0"`
	PollInterval            time.Duration `yaml:"poll_interval" doc:"How often the queue is looked at when nothing woke it." default:"1s" min:"10ms"`
	PollIntervalJitter      time.Duration `yaml:"poll_interval_jitter" doc:"Random part of poll_interval, so that servers do not look in step." default:"500ms" min:"0s"`
	SessionTimeout          time.Duration `yaml:"session_timeout" doc:"Longest time a session may take." default:"40m" min:"1s"`
	GracefulShutdownTimeout time.Duration `yaml:"graceful_shutdown_timeout" doc:"Longest time a server takes to stop; sessions that are not done are handed over, not lost." default:"15s" min:"0s"`
	OrphanThreshold         time.Duration `yaml:"orphan_threshold" doc:"Lease of a session: another server takes over when the holder has been silent for this long." default:"20s" min:"100ms"`
	HeartbeatInterval       time.Duration `yaml:"heartbeat_interval" doc:"How often the lease is renewed; less than half of orphan_threshold." default:"5s" min:"10ms"`
	UnrunnableTimeout       time.Duration `yaml:"unrunnable_timeout" doc:"How long a session waits that needs an MCP server, LLM provider or chain that no running server has configured, before it fails." default:"5m" min:"1s"`
	ScoringShutdownTimeout  time.Duration `yaml:"scoring_shutdown_timeout" doc:"Longest time to wait for scoring at shutdown." min:"0s" later:"true"`
	OrphanDetectionInterval time.Duration `yaml:"orphan_detection_interval" doc:"How often orphaned sessions are looked for; not needed with leases." min:"0s" later:"true"`
}
