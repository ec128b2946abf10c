package people

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/plaintext"
)

// Handling returns the handling of a session.
func (d *Desk) Handling(ctx context.Context, sessionID string) (tarsy.Handling, error) {
	return d.cfg.DB.Handling(ctx, sessionID)
}

// Handle changes the handling of a session and reports whether that had an effect. If version is not nil, it must match the
// version of the handling. When it returns without error, the change is durable and readers have been notified.
func (d *Desk) Handle(
	ctx context.Context, sessionID string, by tarsy.Person, version *int64, change tarsy.HandlingChange,
) (handling tarsy.Handling, changed bool, err error) {
	by.Name = plaintext.Clean(by.Name)

	change, err = d.checkHandling(change, by)
	if err != nil {
		return tarsy.Handling{}, false, err
	}

	return d.handle(ctx, sessionID, by.Name, version, change)
}

func (d *Desk) handle(
	ctx context.Context, sessionID, author string, version *int64, change tarsy.HandlingChange,
) (handling tarsy.Handling, changed bool, err error) {
	before, after, err := d.cfg.DB.ChangeHandling(ctx, sessionID, func(h tarsy.Handling) (tarsy.Handling, error) {
		if version != nil && *version != h.Version {
			return h, tarsy.FieldErrorf(tarsy.CodeChangedMeanwhile, "If-Match",
				"the handling has been changed: its current version is %d, not %d; reload it and try again", h.Version, *version)
		}

		h, err := h.Change(change, author, calendar.Time(d.cfg.Clock.Now()))
		describe(ctx, change, h)

		return h, err
	})

	return after, err == nil && after.Version != before.Version, err
}

// describe adds the stored values of a change to the audit log.
func describe(ctx context.Context, change tarsy.HandlingChange, stored tarsy.Handling) {
	if change.State != nil {
		audit.Detail(ctx, "state", string(stored.State))
	}

	if change.Assignee != nil {
		audit.Detail(ctx, "assignee", stored.Assignee)
	}

	if change.Resolution != nil {
		audit.Detail(ctx, "resolution_length", strconv.Itoa(len([]rune(stored.Resolution))))
	}

	if change.SetTags != nil || len(change.AddTags)+len(change.RemoveTags) > 0 {
		audit.Detail(ctx, "tags", strings.Join(stored.Tags, ", "))
	}
}

// HandleAll makes the same change to many sessions, each independently: one failure does not prevent the other changes. Errors
// that are not meant for people are passed to log. A change that is invalid for every session is an error. Each changed session
// has its own row in the audit log, which is searched by session.
func (d *Desk) HandleAll(
	ctx context.Context, ids []string, by tarsy.Person, change tarsy.HandlingChange, log func(error),
) ([]tarsy.HandlingResult, error) {
	by.Name = plaintext.Clean(by.Name)

	change, err := d.checkHandling(change, by)
	if err != nil {
		return nil, err
	}

	results := make([]tarsy.HandlingResult, len(ids))

	for i, id := range ids {
		results[i].SessionID = id

		handling, changed, err := d.handle(audit.Each(ctx, id), id, by.Name, nil, change)
		if err == nil {
			results[i].Handling, results[i].Changed = &handling, changed

			continue
		}

		results[i].Code, results[i].Message = tarsy.CodeInternal, "Something went wrong in the server; its log has the cause."

		if e, ok := errors.AsType[*tarsy.Error](err); ok && e.Code != tarsy.CodeInternal {
			results[i].Code, results[i].Message = e.Code, e.Message
		} else {
			log(err)
		}
	}

	return results, nil
}

// checkHandling returns a change with its texts cleaned and masked, or an error if it is invalid.
func (d *Desk) checkHandling(c tarsy.HandlingChange, by tarsy.Person) (tarsy.HandlingChange, error) {
	if c.Empty() {
		return c, tarsy.Errorf(tarsy.CodeMissingField, "there is nothing to change; send state, assignee, resolution or tags")
	}

	if err := checkState(c.State); err != nil {
		return c, err
	}

	if c.SetTags != nil && len(c.AddTags)+len(c.RemoveTags) > 0 {
		return c, tarsy.FieldErrorf(tarsy.CodeInvalidField, "tags.set", "tags.set replaces all tags: leave tags.add and tags.remove out")
	}

	var err error

	if c.Assignee != nil {
		c.Assignee, c.AssigneeID, err = d.assignee(*c.Assignee, by)
		if err != nil {
			return c, err
		}
	}

	if c.Resolution != nil {
		c.Resolution, err = d.resolution(*c.Resolution)
		if err != nil {
			return c, err
		}
	}

	return d.checkTags(c)
}

func checkState(state *tarsy.HandlingState) error {
	if state == nil || slices.Contains(tarsy.HandlingStates(), *state) {
		return nil
	}

	known := make([]string, 0, len(tarsy.HandlingStates()))
	for _, each := range tarsy.HandlingStates() {
		known = append(known, string(each))
	}

	return tarsy.FieldErrorf(tarsy.CodeInvalidField, "state", "there is no state %q; %s",
		plaintext.Cut(string(*state), 40), nearest.Hint(string(*state), known, "states"))
}

// assignee validates a name and returns it with the identity that it refers to. Only AssigneeMe refers to the caller's
// identity: others may have the same name. The caller's own name is not masked, as in all of their other actions.
func (d *Desk) assignee(name string, by tarsy.Person) (assignee *string, id string, err error) {
	name = strings.TrimSpace(plaintext.Clean(name))

	switch {
	case name == tarsy.AssigneeMe:
		return &by.Name, by.ID, nil
	case name == by.Name:
		return &by.Name, "", nil
	case utf8.RuneCountInString(name) > tarsy.MaxAssignee:
		return nil, "", tarsy.FieldErrorf(tarsy.CodeInvalidField, "assignee", "assignee is longer than %d characters", tarsy.MaxAssignee)
	case strings.ContainsFunc(name, plaintext.Invisible):
		return nil, "", tarsy.FieldErrorf(tarsy.CodeInvalidField, "assignee", "assignee has characters that cannot be seen, such as a line break")
	}

	return new(d.masked(name, tarsy.MaxAssignee)), "", nil
}

func (d *Desk) resolution(text string) (*string, error) {
	text = strings.TrimSpace(plaintext.Clean(text))

	if utf8.RuneCountInString(text) > tarsy.MaxResolution {
		return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, "resolution", "resolution is longer than %d characters", tarsy.MaxResolution)
	}

	return new(d.masked(text, tarsy.MaxResolution)), nil
}

// masked masks secrets. The replacement of a secret can be longer than the secret.
func (d *Desk) masked(text string, limit int) string {
	runes := []rune(d.cfg.Mask(text))

	return string(runes[:min(len(runes), limit)])
}

func (d *Desk) checkTags(c tarsy.HandlingChange) (tarsy.HandlingChange, error) {
	var err error

	if c.SetTags != nil {
		set, err := d.tags("tags.set", *c.SetTags)
		if err != nil {
			return c, err
		}

		c.SetTags = &set
	}

	c.AddTags, err = d.tags("tags.add", c.AddTags)
	if err != nil {
		return c, err
	}

	c.RemoveTags, err = d.tags("tags.remove", c.RemoveTags)

	return c, err
}

func (d *Desk) tags(field string, given []string) ([]string, error) {
	if len(given) > tarsy.MaxTags {
		return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, field, "%s has %d tags; a session has at most %d", field, len(given), tarsy.MaxTags)
	}

	tags := make([]string, 0, len(given))

	for _, tag := range given {
		tag = strings.TrimSpace(plaintext.Clean(tag))

		switch {
		case tag == "":
			return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, field, "a tag must not be empty")
		case utf8.RuneCountInString(tag) > tarsy.MaxTag:
			return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, field, "a tag has at most %d characters, not %d", tarsy.MaxTag, utf8.RuneCountInString(tag))
		case strings.ContainsFunc(tag, plaintext.Invisible):
			return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, field, "a tag has characters that cannot be seen, such as a line break")
		}

		tags = append(tags, d.masked(tag, tarsy.MaxTag))
	}

	return tags, nil
}
