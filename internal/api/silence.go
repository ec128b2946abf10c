package api

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

// maxSilence is how long a silence can last: longer ones belong in the configuration.
const maxSilence = 366 * 24 * time.Hour

// silenceRequest is the body that adds a silence.
type silenceRequest struct {
	Matchers []string `doc:"Matchers, such as namespace=\"staging\" or alertname=~\"Disk.*\"; all must match." json:"matchers"`
	Reason   string   `doc:"The reason." json:"reason"`
	StartsAt string   `doc:"Start time; the default is now." format:"date-time" json:"starts_at,omitempty"`
	EndsAt   string   `doc:"End time. Either this or duration is required." format:"date-time" json:"ends_at,omitempty"`
	Duration string   `doc:"How long it lasts, such as 2h or 90m." json:"duration,omitempty"`
}

type silenceListInput struct {
	All string `doc:"The value true also lists ended silences." enum:"true,false" query:"all"`
}

type silenceInput struct {
	ID string `doc:"The id of a silence." path:"id"`
}

type silenceListOutput struct{ Body silenceList }

type silenceList struct {
	Silences []tarsy.Silence `json:"silences"`
}

type silenceOutput struct{ Body tarsy.Silence }

func (h *alerts) listSilences(ctx context.Context, in *silenceListInput) (*silenceListOutput, error) {
	err := checkParameters(in)
	if err != nil {
		return nil, err
	}

	silences, err := h.triage.Silences(ctx, in.All == "true")
	if err != nil {
		return nil, fmt.Errorf("list silences: %w", err)
	}

	return &silenceListOutput{Body: silenceList{Silences: append([]tarsy.Silence{}, silences...)}}, nil
}

func (h *alerts) addSilence(ctx context.Context, _ *struct{}) (*silenceOutput, error) {
	who := callerOf(ctx)

	request, err := readRequest[silenceRequest](who.body)
	if err != nil {
		return nil, err
	}

	silence, err := request.silence(h.clock.Now())
	if err != nil {
		return nil, err
	}

	silence.Author = who.author
	silence.Matchers = ownTeams(silence.Matchers, who.visible)

	silence, err = h.triage.AddSilence(ctx, silence)
	if err != nil {
		return nil, fmt.Errorf("add silence: %w", err)
	}

	return &silenceOutput{Body: silence}, nil
}

// ownTeams keeps a caller limited to some teams from silencing the alerts of other teams.
func ownTeams(matchers []string, visible tarsy.Visibility) []string {
	if !visible.Limited || len(matchers) == 0 {
		return matchers
	}

	quoted := make([]string, 0, len(visible.Teams)+1)
	for _, team := range visible.Values() {
		quoted = append(quoted, regexp.QuoteMeta(team))
	}

	return append(slices.Clone(matchers), fmt.Sprintf("team=~%q", strings.Join(quoted, "|")))
}

// silence parses the request. Triage checks the matchers, the reason and the order of the times.
func (r *silenceRequest) silence(now time.Time) (tarsy.Silence, error) {
	silence := tarsy.Silence{Matchers: r.Matchers, Reason: r.Reason, StartsAt: now}

	if (r.EndsAt == "") == (r.Duration == "") {
		return silence, missing("ends_at", "a time such as 2026-11-15T10:00:00Z, or send duration instead, such as 2h")
	}

	var err error

	if r.StartsAt != "" {
		silence.StartsAt, err = parseTimeField("starts_at", r.StartsAt)
		if err != nil {
			return silence, err
		}
	}

	if r.Duration != "" {
		length, err := time.ParseDuration(r.Duration)
		if err != nil || length <= 0 {
			return silence, tarsy.FieldErrorf(tarsy.CodeInvalidField, "duration", "duration must be a time such as 2h or 90m")
		}

		silence.EndsAt = silence.StartsAt.Add(length)
	} else {
		silence.EndsAt, err = parseTimeField("ends_at", r.EndsAt)
		if err != nil {
			return silence, err
		}
	}

	if silence.EndsAt.Sub(silence.StartsAt) > maxSilence {
		return silence, tarsy.FieldErrorf(tarsy.CodeInvalidField, "ends_at",
			"a silence lasts a year at most; use alerts.maintenance or alerts.routes in the configuration")
	}

	return silence, nil
}

func parseTimeField(name, text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, tarsy.FieldErrorf(tarsy.CodeInvalidField, name, "%s must be a time such as 2026-11-15T10:00:00Z", name)
	}

	return at.UTC(), nil
}

func (h *alerts) endSilence(ctx context.Context, in *silenceInput) (*silenceOutput, error) {
	if !ident.Valid(in.ID) {
		return nil, tarsy.Errorf(tarsy.CodeNotFound, "there is no silence %q", shown(in.ID))
	}

	silence, err := h.triage.EndSilence(ctx, in.ID, callerOf(ctx).author)
	if err != nil {
		return nil, fmt.Errorf("end silence: %w", err)
	}

	return &silenceOutput{Body: silence}, nil
}
