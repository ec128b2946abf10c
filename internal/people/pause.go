package people

import (
	"context"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maxPause is the maximum duration of a pause with an end: a longer one should be ended by a person.
const maxPause = 30 * 24 * time.Hour

// Pause starts a pause on all servers, or changes the existing one of its kind. It ends at EndsAt, or after life if EndsAt is
// nil; if neither is set, it does not end on its own. When it returns without error, the pause is in effect on every server.
func (d *Desk) Pause(ctx context.Context, p tarsy.Pause, life time.Duration) (tarsy.Pause, error) {
	p.PausedAt = calendar.Time(d.cfg.Clock.Now())
	p.Reason = d.cfg.Mask(strings.TrimSpace(plaintext.Clean(p.Reason)))

	if len(p.Reason) > tarsy.MaxPauseReason {
		return p, tarsy.FieldErrorf(tarsy.CodeTooLarge, "reason", "the reason is longer than %d bytes", tarsy.MaxPauseReason)
	}

	if p.EndsAt == nil && life > 0 {
		p.EndsAt = new(p.PausedAt.Add(life))
	}

	if p.EndsAt != nil && (!p.EndsAt.After(p.PausedAt) || p.EndsAt.Sub(p.PausedAt) > maxPause) {
		return p, tarsy.FieldErrorf(tarsy.CodeInvalidField, "ends_at", "a pause with an end must end in the future, within %d days", int(maxPause.Hours()/24))
	}

	return d.cfg.DB.Pause(ctx, p)
}

// Resume ends a pause on all servers. It has no effect if there is none.
func (d *Desk) Resume(ctx context.Context, kind tarsy.PauseKind) error {
	_, err := d.cfg.DB.Resume(ctx, kind)

	return err
}

// Pauses returns the current pauses.
func (d *Desk) Pauses(ctx context.Context) ([]tarsy.Pause, error) { return d.cfg.DB.Pauses(ctx) }
