package api

import (
	"context"
	"fmt"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
)

// The default and the maximum period of a summary.
const (
	usualPeriod   = 30 * 24 * time.Hour
	longestPeriod = 366 * 24 * time.Hour
)

type usageInput struct {
	From moment `doc:"Used at this time or later; the default is 30 days before the end." query:"from"`
	To   moment `doc:"Used before this time; the default is now."                    query:"to"`
}

type usageOutput struct{ Body tarsy.UsageSummary }

func (s *system) getUsage(ctx context.Context, in *usageInput) (*usageOutput, error) {
	from, to, err := period(in, s.clock.Now())
	if err != nil {
		return nil, err
	}

	summary, err := s.store.UsageSummary(ctx, from, to)
	if err != nil {
		return nil, fmt.Errorf("sum usage: %w", err)
	}

	summary.DailyBudgetUSD = s.dailyBudgetUSD()

	return &usageOutput{Body: summary}, nil
}

// period parses the parameters of a summary and returns its period.
func period(in any, now time.Time) (from, to time.Time, err error) {
	var given struct{ From, To *time.Time }

	err = readParameters(in, &given)
	if err != nil {
		return from, to, err
	}

	to = calendar.Time(now)
	if given.To != nil {
		to = given.To.UTC()
	}

	from = to.Add(-usualPeriod)
	if given.From != nil {
		from = given.From.UTC()
	}

	switch {
	case !from.Before(to):
		return from, to, parameterErrorf("from", "from must be before to")
	case to.Sub(from) > longestPeriod:
		return from, to, parameterErrorf("from", "from and to may be %d days apart at most", int(longestPeriod.Hours()/24))
	default:
		return from, to, nil
	}
}
