package api

import (
	"context"
	"log/slog"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
)

// LogLevel is the lowest level that the server logs.
type LogLevel struct {
	Level string `doc:"The lowest level that is logged." enum:"debug,info,warn,error" json:"level"`
}

type logLevelOutput struct{ Body LogLevel }

// ParseLogLevel parses the name of a level.
func ParseLogLevel(name string) (slog.Level, error) {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if name == levelName(level) {
			return level, nil
		}
	}

	return 0, tarsy.FieldErrorf(tarsy.CodeInvalidField, "level", "must be debug, info, warn or error")
}

func levelName(level slog.Level) string { return strings.ToLower(level.String()) }

func (s *system) getLogLevel(context.Context, *struct{}) (*logLevelOutput, error) {
	return s.logLevelNow(), nil
}

func (s *system) setLogLevel(ctx context.Context, _ *struct{}) (*logLevelOutput, error) {
	who := callerOf(ctx)

	request, err := readRequest[LogLevel](who.body)
	if err != nil {
		return nil, err
	}

	level, err := ParseLogLevel(request.Level)
	if err != nil {
		return nil, err
	}

	before := levelName(s.logLevel.Level())
	s.logLevel.Set(level)
	audit.Detail(ctx, "from", before)
	audit.Detail(ctx, "to", levelName(level))

	// Logged at Info or above, so that it appears at any new level: it explains why the log changes.
	s.logger.Log(ctx, max(level, slog.LevelInfo), "log level changed", "from", before, "to", levelName(level), "author", who.author)

	return s.logLevelNow(), nil
}

func (s *system) logLevelNow() *logLevelOutput {
	return &logLevelOutput{Body: LogLevel{Level: levelName(s.logLevel.Level())}}
}
