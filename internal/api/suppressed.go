package api

import (
	"context"
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

// Triage manages alerts that are not investigated automatically. Its errors for users are *tarsy.Error.
type Triage interface {
	Suppressed(ctx context.Context, filter tarsy.SuppressedFilter) ([]tarsy.SuppressedAlert, error)
	Investigate(ctx context.Context, id, author string, visible tarsy.Visibility) (tarsy.Session, error)
	Silences(ctx context.Context, all bool) ([]tarsy.Silence, error)
	AddSilence(ctx context.Context, silence tarsy.Silence) (tarsy.Silence, error)
	EndSilence(ctx context.Context, id, author string) (tarsy.Silence, error)
}

type suppressedListInput struct {
	Reason    string              `doc:"Only this reason." enum:"duplicate,storm,silence,maintenance,resolved" query:"reason"`
	SessionID identifier          `doc:"Only alerts counted on this session." query:"session_id"`
	Severity  one[tarsy.Severity] `doc:"Only this severity." query:"severity"`
	Search    search              `doc:"Text in the title." query:"search"`
	Limit     integer             `doc:"Maximum number of alerts per page." query:"limit"`
	Cursor    cursor              `doc:"The next_cursor of the previous page." query:"cursor"`
}

type suppressedListOutput struct{ Body suppressedList }

type suppressedList struct {
	Alerts     []tarsy.SuppressedAlert `json:"alerts"`
	NextCursor string                  `doc:"Cursor of the next page; absent on the last page." json:"next_cursor,omitempty"`
}

type suppressedInput struct {
	ID string `doc:"The id of a suppressed alert." path:"id"`
}

func (h *alerts) listSuppressed(ctx context.Context, in *suppressedListInput) (*suppressedListOutput, error) {
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}

	filter.Visible = callerOf(ctx).visible
	wanted := filter.Limit
	filter.Limit++ // one more than the page shows, to detect another page

	alerts, err := h.triage.Suppressed(ctx, filter)
	if err != nil {
		return nil, fmt.Errorf("list suppressed alerts: %w", err)
	}

	out := &suppressedListOutput{Body: suppressedList{Alerts: append([]tarsy.SuppressedAlert{}, alerts...)}}

	if len(alerts) > wanted {
		last := alerts[wanted-1]
		out.Body.Alerts = out.Body.Alerts[:wanted]
		out.Body.NextCursor, err = encodeCursor(tarsy.SuppressedCursor{LastAt: last.LastAt, ID: last.ID})
	}

	return out, err
}

func (in *suppressedListInput) filter() (filter tarsy.SuppressedFilter, err error) {
	if err = readParameters(in, &filter); err != nil {
		return filter, err
	}

	filter.Search = strings.TrimSpace(filter.Search)
	filter.After, err = readCursor(in.Cursor, func(place tarsy.SuppressedCursor) bool {
		return !place.LastAt.IsZero() && ident.Valid(place.ID)
	})

	return filter, err
}

func (h *alerts) investigateSuppressed(ctx context.Context, in *suppressedInput) (*acceptedOutput, error) {
	who := callerOf(ctx)

	err := checkNothing(who)
	if err != nil {
		return nil, err
	}

	if !ident.Valid(in.ID) {
		return nil, tarsy.Errorf(tarsy.CodeNotFound, "there is no suppressed alert %q", shown(in.ID))
	}

	session, err := h.triage.Investigate(ctx, in.ID, who.author, who.visible)
	if err != nil {
		return nil, fmt.Errorf("investigate suppressed alert: %w", err)
	}

	return h.public.accepted(session), nil
}
