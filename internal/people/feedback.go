package people

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/plaintext"
)

// GiveFeedback stores its author's feedback, replacing earlier feedback of the same identity on the session. It sets ID and
// times. When it returns without error, the feedback is durable and readers have been notified.
func (d *Desk) GiveFeedback(ctx context.Context, f tarsy.Feedback) (tarsy.Feedback, error) {
	f.Author = plaintext.Clean(f.Author)
	f.Why = strings.TrimSpace(plaintext.Clean(f.Why))
	f.RealCause = strings.TrimSpace(plaintext.Clean(f.RealCause))

	if err := checkFeedback(f); err != nil {
		return tarsy.Feedback{}, err
	}

	f.ID, f.UpdatedAt = ident.New(), calendar.Time(d.cfg.Clock.Now())
	f.Why, f.RealCause = d.cfg.Mask(f.Why), d.cfg.Mask(f.RealCause)

	audit.Detail(ctx, "rating", string(f.Rating))

	return d.cfg.DB.PutFeedback(ctx, f)
}

func checkFeedback(f tarsy.Feedback) error {
	known := make([]string, 0, len(tarsy.Ratings()))
	for _, rating := range tarsy.Ratings() {
		known = append(known, string(rating))
	}

	switch {
	case f.Rating == "":
		return tarsy.FieldErrorf(tarsy.CodeMissingField, "rating", "rating is missing; it must be one of %s", strings.Join(known, ", "))
	case !slices.Contains(tarsy.Ratings(), f.Rating):
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "rating", "there is no rating %q; %s",
			plaintext.Cut(string(f.Rating), 40), nearest.Hint(string(f.Rating), known, "ratings"))
	case utf8.RuneCountInString(f.Why) > tarsy.MaxFeedbackText:
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "why", "why is longer than %d characters", tarsy.MaxFeedbackText)
	case utf8.RuneCountInString(f.RealCause) > tarsy.MaxFeedbackText:
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "real_cause", "real_cause is longer than %d characters", tarsy.MaxFeedbackText)
	case f.Rating == tarsy.RatingRight && f.RealCause != "":
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "real_cause", "a conclusion that is right has no other cause: leave real_cause out, or choose partly or wrong")
	}

	return nil
}

// WithdrawFeedback deletes a person's feedback on a session, and returns it.
func (d *Desk) WithdrawFeedback(ctx context.Context, sessionID string, by tarsy.Person) (tarsy.Feedback, error) {
	by.Name = plaintext.Clean(by.Name)

	return d.cfg.DB.DeleteFeedback(ctx, sessionID, by)
}

// Feedback returns the feedback on a session, latest change first.
func (d *Desk) Feedback(ctx context.Context, sessionID string) ([]tarsy.Feedback, error) {
	return d.cfg.DB.Feedback(ctx, sessionID)
}

// Quality counts the conclusions of sessions that completed between from (inclusive) and to (exclusive).
func (d *Desk) Quality(ctx context.Context, from, to time.Time, by tarsy.QualityBy) (tarsy.Quality, error) {
	return d.cfg.DB.Quality(ctx, from, to, by)
}
