package api

import (
	"context"
	"time"

	"tarsy.dev/tarsy/internal/calendar"
)

// Diagnostics describes the state of one server, for troubleshooting. Secrets in its texts are masked.
type Diagnostics struct {
	Version    string              `json:"version"`
	ServerID   string              `json:"server_id"`
	Time       time.Time           `json:"time"`
	StartedAt  time.Time           `json:"started_at"`
	Runtime    RuntimeState        `json:"runtime"`
	Migrations []Migration         `doc:"Migrations of the database, in order."                                        json:"migrations"`
	Servers    []AnnouncedServer   `doc:"Servers that use the database or did recently, most recently seen first." json:"servers"`
	Queue      QueueState          `json:"queue"`
	Pools      []PoolState         `doc:"Pools of database connections, by name."                                      json:"pools"`
	Warnings   []Warning           `json:"warnings"`
	MCPServers []MCPServerStatus   `json:"mcp_servers"`
	Errors     []LoggedError       `doc:"The last 200 log lines of this server with level error, oldest first." json:"errors"`
	Missing    []MissingDiagnostic `doc:"Parts that could not be read."                                                json:"missing"`
}

// RuntimeState describes the process.
type RuntimeState struct {
	GoVersion  string `json:"go_version"`
	Platform   string `doc:"Operating system and architecture." json:"platform"`
	CPUs       int    `json:"cpus"`
	Goroutines int    `json:"goroutines"`
	HeapBytes  uint64 `json:"heap_bytes"`
	SysBytes   uint64 `doc:"Memory obtained from the operating system." json:"sys_bytes"`
}

// Migration is an applied database migration.
type Migration struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
}

// AnnouncedServer is what a server announces in the database.
type AnnouncedServer struct {
	ID            string    `json:"id"`
	EngineVersion int       `json:"engine_version"`
	Has           []string  `doc:"What it can run: chains, MCP servers and LLM providers." json:"has"`
	SeenAt        time.Time `json:"seen_at"`
}

// QueueState counts the work in the queue, over all servers.
type QueueState struct {
	Pending       int        `json:"pending"`
	InProgress    int        `json:"in_progress"`
	Cancelling    int        `json:"cancelling"`
	Waiting       int        `doc:"Sessions that no server has claimed yet." json:"waiting"`
	OldestWaiting *time.Time `doc:"When the oldest of them was created."   json:"oldest_waiting"`
}

// PoolState describes a pool of database connections.
type PoolState struct {
	Name          string `json:"name"`
	Max           int32  `json:"max"`
	Acquired      int32  `json:"acquired"`
	Idle          int32  `json:"idle"`
	Acquires      int64  `json:"acquires"`
	EmptyAcquires int64  `doc:"How often no connection was free." json:"empty_acquires"`
}

// LoggedError is a line of the log with level error.
type LoggedError struct {
	Time time.Time `json:"time"`
	Text string    `doc:"The message and its attributes; secrets are masked." json:"text"`
}

// MissingDiagnostic is a part of the diagnostics that could not be read.
type MissingDiagnostic struct {
	What   string `json:"what"`
	Reason string `json:"reason"`
}

type diagnosticsOutput struct{ Body Diagnostics }

func (s *system) getDiagnostics(ctx context.Context, _ *struct{}) (*diagnosticsOutput, error) {
	found := s.system.Diagnostics(ctx)
	found.Version, found.ServerID, found.Time = s.info.Version, s.info.ServerID, calendar.Time(s.clock.Now())
	found.Warnings = append([]Warning{}, s.warnings()...)

	return &diagnosticsOutput{Body: found}, nil
}
