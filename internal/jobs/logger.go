package jobs

import (
	"context"
	"log/slog"
)

// demoted passes on warnings and errors and demotes other records to debug level: River logs its own activity every few
// seconds.
type demoted struct{ slog.Handler }

// Enabled implements slog.Handler.
func (d demoted) Enabled(ctx context.Context, level slog.Level) bool {
	return d.Handler.Enabled(ctx, demote(level))
}

// Handle implements slog.Handler.
func (d demoted) Handle(ctx context.Context, record slog.Record) error {
	record.Level = demote(record.Level)

	return d.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (d demoted) WithAttrs(attrs []slog.Attr) slog.Handler {
	return demoted{d.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (d demoted) WithGroup(name string) slog.Handler { return demoted{d.Handler.WithGroup(name)} }

func demote(level slog.Level) slog.Level {
	if level < slog.LevelWarn {
		return min(level, slog.LevelDebug)
	}

	return level
}
