package api

import (
	"context"
	"errors"
	"time"

	"tarsy.dev/tarsy"
)

// databaseWithin is the time limit for /health's database check.
const databaseWithin = 3 * time.Second

type aliveOutput struct{ Body alive }

type alive struct {
	Status string `enum:"ok" json:"status"`
}

type healthOutput struct{ Body health }

type health struct {
	Status   string      `doc:"Degraded means that the server runs, but not all of it works." enum:"healthy,degraded" json:"status"`
	Version  string      `json:"version"`
	ServerID string      `json:"server_id"`
	Database string      `enum:"ok"                                         json:"database"`
	Queue    queueCounts `json:"queue"`
	Warnings []Warning   `json:"warnings"`

	MCPServers []MCPServerStatus `doc:"The MCP servers that chains use." json:"mcp_servers"`
}

type queueCounts struct {
	Waiting int `doc:"Sessions that wait for a worker, across all servers." json:"waiting"`
	Leased  int `doc:"Sessions in progress, across all servers."          json:"leased"`
}

func (s *system) getReady(ctx context.Context, _ *struct{}) (*aliveOutput, error) {
	err := s.ready()
	if err == nil {
		return &aliveOutput{Body: alive{Status: "ok"}}, nil
	}

	// The route needs no key, so only errors written for users are returned.
	reason, ok := errors.AsType[*tarsy.Error](err)
	if !ok {
		s.logger.WarnContext(ctx, "server not ready", "error", err)

		return nil, tarsy.Errorf(tarsy.CodeUnavailable, "the server is not ready; see its log for the reason")
	}

	code := reason.Code
	if code != tarsy.CodeShuttingDown && code != tarsy.CodeOverloaded {
		code = tarsy.CodeUnavailable
	}

	return nil, tarsy.Errorf(code, "%s", reason.Message)
}

func (s *system) getHealth(ctx context.Context, _ *struct{}) (*healthOutput, error) {
	within, cancel := context.WithTimeoutCause(ctx, databaseWithin, errors.New("the database took too long"))
	defer cancel()

	err := s.store.Ping(within)
	if err != nil {
		s.logger.ErrorContext(ctx, "could not reach the database", "error", err)

		return nil, tarsy.Errorf(tarsy.CodeUnavailable, "the database does not answer")
	}

	counts, err := s.store.Queue(within)
	if err != nil {
		s.logger.ErrorContext(ctx, "could not count the queue", "error", err)

		return nil, tarsy.Errorf(tarsy.CodeUnavailable, "the queue cannot be counted now")
	}

	pauses, err := s.people.Pauses(within)
	if err != nil {
		s.logger.ErrorContext(ctx, "could not read pauses", "error", err)

		return nil, tarsy.Errorf(tarsy.CodeUnavailable, "pauses cannot be read now")
	}

	body := health{
		Status: "healthy", Version: s.info.Version, ServerID: s.info.ServerID, Database: "ok",
		Queue: queueCounts{Waiting: counts.Waiting, Leased: counts.Leased}, Warnings: append(pauseWarnings(pauses, s.info.ServerID), s.warnings()...),
		MCPServers: append([]MCPServerStatus{}, s.mcpServers()...),
	}
	if len(body.Warnings) > 0 || s.ready() != nil {
		body.Status = "degraded"
	}

	return &healthOutput{Body: body}, nil
}

func getAlive(context.Context, *struct{}) (*aliveOutput, error) {
	return &aliveOutput{Body: alive{Status: "ok"}}, nil
}
