package api

import (
	"context"
	"log/slog"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/internal/limit"
)

const (
	// refusalsPerCaller is how many refusals of one key or address are logged per minute.
	refusalsPerCaller = 30
	// refusalsInAll is the limit for all of them together.
	refusalsInAll = 600
)

// refusals logs requests that were answered with 401 or 403. Anyone can cause them, so their number is limited, per caller and in
// total; those beyond the limit are only counted.
type refusals struct {
	callers *limit.Rate
	all     *limit.Rate
	notice  *limit.Notice
	logger  *slog.Logger
}

func newRefusals(logger *slog.Logger, clock clockwork.Clock) *refusals {
	return &refusals{
		callers: limit.NewRate(refusalsPerCaller), all: limit.NewRate(refusalsInAll), notice: limit.NewNotice(logger, clock), logger: logger,
	}
}

func (l *refusals) log(ctx context.Context, who *caller, now time.Time, message string, attributes []any) {
	name := who.remote.network
	if identity := who.identity(); identity != "" {
		name = identity
	}

	_, ok := l.callers.Allow(name, now)
	if ok {
		_, ok = l.all.Allow("", now)
	}

	if !ok {
		l.notice.Refused(ctx, "too many refusals to log each", who.logged()...)

		return
	}

	l.logger.WarnContext(ctx, message, attributes...)
}
