package config

import "time"

// Queue is the section about how sessions are picked up. OrphanThreshold and HeartbeatInterval keep the key names of existing files; they
// set how long the lease of a session lasts and how often it is renewed.
type Queue struct {
	WorkerCount             int            `yaml:"worker_count" doc:"Maximum number of concurrent sessions on one server. With 0, the server accepts alerts and serves the API, but runs no sessions." default:"5" min:"0"`
	MaxConcurrentSessions   int            `yaml:"max_concurrent_sessions" doc:"Maximum number of concurrent sessions on all servers together." default:"5" min:"1"`
	MaxWaitingSessions      int            `yaml:"max_waiting_sessions" doc:"Maximum number of waiting sessions on all servers together; further alerts get 503 overloaded. 0 means no limit." default:"10000" min:"0" restart:"true"`
	PollInterval            time.Duration  `yaml:"poll_interval" doc:"How often the queue is polled if no signal arrives." default:"1s" min:"10ms" restart:"true"`
	PollIntervalJitter      time.Duration  `yaml:"poll_interval_jitter" doc:"Random part of poll_interval, so that servers do not poll at the same time." default:"500ms" min:"0s" restart:"true"`
	SeverityAgeing          time.Duration  `yaml:"severity_ageing" doc:"How much longer a session must wait than one of the next higher severity to run first. 0 ignores severities." default:"15m" min:"0s" restart:"true"`
	MaxSessionsPerTeam      int            `yaml:"max_sessions_per_team" doc:"Maximum number of concurrent sessions of one team on all servers together; 0 means no limit." default:"0" min:"0"`
	TeamLimits              map[string]int `yaml:"team_limits" doc:"The same limit for individual teams, by name." min:"1"`
	SessionTimeout          time.Duration  `yaml:"session_timeout" doc:"Maximum duration of a session." default:"40m" min:"1s" reload:"sessions"`
	GracefulShutdownTimeout time.Duration  `yaml:"graceful_shutdown_timeout" doc:"Maximum time that a server takes to stop, at least 1s. Running tool calls get two thirds of it, or all but 5s; unfinished sessions are handed over, not lost." default:"15s" min:"0s" restart:"true"`
	OrphanThreshold         time.Duration  `yaml:"orphan_threshold" doc:"Lease of a session: another server takes over if the holder does not renew it for this long." default:"20s" min:"100ms" restart:"true"`
	HeartbeatInterval       time.Duration  `yaml:"heartbeat_interval" doc:"How often the lease is renewed; must be less than half of orphan_threshold." default:"5s" min:"10ms" restart:"true"`
	UnrunnableTimeout       time.Duration  `yaml:"unrunnable_timeout" doc:"How long a session waits for an MCP server, LLM provider or chain that no running server has configured, before it fails." default:"5m" min:"1s"`
	ScoringShutdownTimeout  time.Duration  `yaml:"scoring_shutdown_timeout" doc:"Maximum time to wait for scoring at shutdown." min:"0s" later:"true"`
	OrphanDetectionInterval time.Duration  `yaml:"orphan_detection_interval" doc:"How often orphaned sessions are searched for; not needed with leases." min:"0s" later:"true"`
}
