package writeback

import (
	"context"
	"time"

	"tarsy.dev/tarsy/internal/notify/message"
)

// SendMail makes one attempt, as a job does.
func SendMail(ctx context.Context, t Target, m message.Message, date time.Time) error {
	if t.Timeout > 0 {
		limited, cancel := context.WithTimeout(ctx, t.Timeout)
		defer cancel()

		ctx = limited
	}

	return (&Workers{}).mail(ctx, t, m, date)
}
