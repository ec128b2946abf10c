package triage

import (
	"context"
	"fmt"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/match"
	"tarsy.dev/tarsy/internal/plaintext"
)

// Limits of a silence.
const (
	maxMatchers      = 32
	maxMatcher       = 1024
	maxSilenceReason = 2000
)

// quiet returns the active silences and maintenance windows.
func (d *Desk) quiet(silences []tarsy.Silence, now time.Time) ([]Quiet, error) {
	d.mu.Lock()
	defer d.mu.Unlock()

	all, used := []Quiet{}, map[string]match.Set{}

	for _, s := range silences {
		set, ok := d.matchers[s.ID]
		if !ok {
			var err error
			if set, err = match.ParseAll(s.Matchers); err != nil {
				return nil, fmt.Errorf("read silence %s: %w", s.ID, err)
			}
		}

		used[s.ID] = set
		all = append(all, Quiet{
			Reason: tarsy.SuppressedSilence, Name: s.ID, Match: set,
			Text: fmt.Sprintf("Silenced by %s until %s: %s", s.Author, s.EndsAt.UTC().Format(time.RFC3339), s.Reason),
		})
	}

	d.matchers = used

	for _, w := range d.cfg.Settings.Maintenance {
		if w.Active(now) {
			all = append(all, Quiet{Reason: tarsy.SuppressedMaintenance, Name: w.Name, Match: w.Match, Text: maintenanceText(w)})
		}
	}

	return all, nil
}

func maintenanceText(w Window) string {
	if w.Reason == "" {
		return fmt.Sprintf("Maintenance window %q.", w.Name)
	}

	return fmt.Sprintf("Maintenance window %q: %s", w.Name, w.Reason)
}

// Silences returns the active and future silences, or all.
func (d *Desk) Silences(ctx context.Context, all bool) ([]tarsy.Silence, error) {
	return d.store.Silences(ctx, all, d.now())
}

// AddSilence validates and stores a silence. It starts now unless StartsAt is set.
func (d *Desk) AddSilence(ctx context.Context, s tarsy.Silence) (tarsy.Silence, error) {
	now := d.now()

	s.ID, s.CreatedAt, s.EndedBy = ident.New(), now, ""
	s.Reason = d.cfg.Mask(strings.TrimSpace(plaintext.Clean(s.Reason)))
	s.Author = plaintext.Clean(s.Author)
	s.StartsAt, s.EndsAt = calendar.Time(s.StartsAt), calendar.Time(s.EndsAt)

	if s.StartsAt.IsZero() {
		s.StartsAt = now
	}

	if err := checkSilence(s, now); err != nil {
		return tarsy.Silence{}, err
	}

	set, err := match.ParseAll(s.Matchers)
	if err != nil {
		return tarsy.Silence{}, tarsy.FieldErrorf(tarsy.CodeInvalidField, "matchers", "%v", err)
	}

	// Stored in parsed form, so that people can see how they were interpreted.
	s.Matchers = make([]string, len(set))
	for i, m := range set {
		s.Matchers[i] = m.String()
	}

	return s, d.store.AddSilence(ctx, s)
}

func checkSilence(s tarsy.Silence, now time.Time) error {
	for _, matcher := range s.Matchers {
		if len(matcher) > maxMatcher {
			return tarsy.FieldErrorf(tarsy.CodeInvalidField, "matchers", "a matcher is longer than %d bytes", maxMatcher)
		}

		if plaintext.Clean(matcher) != matcher {
			return tarsy.FieldErrorf(tarsy.CodeInvalidField, "matchers", "a matcher is not valid text")
		}
	}

	switch {
	case len(s.Matchers) == 0:
		return tarsy.FieldErrorf(tarsy.CodeMissingField, "matchers", "matchers is missing: a silence needs at least one, such as namespace=\"staging\"")
	case len(s.Matchers) > maxMatchers:
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "matchers", "a silence has at most %d matchers", maxMatchers)
	case s.Reason == "":
		return tarsy.FieldErrorf(tarsy.CodeMissingField, "reason", "reason is missing: say why the alerts are silenced")
	case len(s.Reason) > maxSilenceReason:
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "reason", "reason is longer than %d bytes", maxSilenceReason)
	case s.EndsAt.IsZero():
		return tarsy.FieldErrorf(tarsy.CodeMissingField, "ends_at", "ends_at is missing: a silence needs an end")
	case !s.EndsAt.After(now):
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "ends_at", "ends_at is in the past")
	case !s.EndsAt.After(s.StartsAt):
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "ends_at", "ends_at must be after starts_at")
	}

	return nil
}

// EndSilence ends a silence early. A silence that has ended is not changed.
func (d *Desk) EndSilence(ctx context.Context, id, author string) (tarsy.Silence, error) {
	return d.store.EndSilence(ctx, id, plaintext.Clean(author), d.now())
}
