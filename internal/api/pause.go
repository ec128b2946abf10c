package api

import (
	"context"
	"fmt"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
)

// pauseRequest is the body that pauses something.
type pauseRequest struct {
	Reason   string `doc:"The reason, shown to other users."                                                             json:"reason,omitempty"`
	EndsAt   string `doc:"When it resumes automatically; without this and duration it must be resumed manually." format:"date-time" json:"ends_at,omitempty"`
	Duration string `doc:"After how long it resumes automatically, such as 30m or 2h. Set only one of ends_at and duration." json:"duration,omitempty"`
}

type pauseInput struct {
	Kind string `doc:"What is paused." enum:"intake,claiming" path:"kind"`
}

type pauseListOutput struct{ Body pauseList }

type pauseList struct {
	Pauses []tarsy.Pause `doc:"The current pauses." json:"pauses"`
}

type pauseOutput struct{ Body tarsy.Pause }

func (s *system) listPauses(ctx context.Context, _ *struct{}) (*pauseListOutput, error) {
	pauses, err := s.people.Pauses(ctx)
	if err != nil {
		return nil, fmt.Errorf("list pauses: %w", err)
	}

	return &pauseListOutput{Body: pauseList{Pauses: append([]tarsy.Pause{}, pauses...)}}, nil
}

func (s *system) putPause(ctx context.Context, in *pauseInput) (*pauseOutput, error) {
	who := callerOf(ctx)

	kind, err := in.kind()
	if err != nil {
		return nil, err
	}

	var request pauseRequest

	if who.body != nil {
		request, err = readRequest[pauseRequest](who.body)
		if err != nil {
			return nil, err
		}
	}

	end, life, err := request.end()
	if err != nil {
		return nil, err
	}

	pause, err := s.people.Pause(ctx, tarsy.Pause{Kind: kind, Reason: request.Reason, Author: who.author, EndsAt: end}, life)
	if err != nil {
		return nil, fmt.Errorf("pause: %w", err)
	}

	return &pauseOutput{Body: pause}, nil
}

// end returns when a pause ends, or its duration. Without either it lasts until it is resumed.
func (r *pauseRequest) end() (at *time.Time, life time.Duration, err error) {
	switch {
	case r.EndsAt != "" && r.Duration != "":
		return nil, 0, tarsy.FieldErrorf(tarsy.CodeInvalidField, "duration", "give only one of ends_at and duration")
	case r.Duration != "":
		life, err = time.ParseDuration(r.Duration)
		if err != nil || life <= 0 {
			return nil, 0, tarsy.FieldErrorf(tarsy.CodeInvalidField, "duration", "duration must be a time such as 30m or 2h")
		}

		return nil, life, nil
	case r.EndsAt != "":
		end, err := parseTimeField("ends_at", r.EndsAt)

		return new(calendar.Time(end)), 0, err
	default:
		return nil, 0, nil
	}
}

func (s *system) deletePause(ctx context.Context, in *pauseInput) (*struct{}, error) {
	kind, err := in.kind()
	if err != nil {
		return nil, err
	}

	err = s.people.Resume(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}

	return &struct{}{}, nil
}

func (in *pauseInput) kind() (tarsy.PauseKind, error) {
	for _, kind := range tarsy.PauseKinds() {
		if string(kind) == in.Kind {
			return kind, nil
		}
	}

	return "", tarsy.Errorf(tarsy.CodeNotFound, "there is no pause of %q; it can be %s", shown(in.Kind), listed(names(tarsy.PauseKinds())))
}

// pauseWarnings returns the warnings of /health for pauses.
func pauseWarnings(pauses []tarsy.Pause, serverID string) []Warning {
	warnings := make([]Warning, len(pauses))
	for i, p := range pauses {
		effect := "Alerts are refused, and their senders try again."
		if p.Kind == tarsy.PauseClaiming {
			effect = "Alerts are accepted and wait."
		}

		until := "It must be resumed manually."
		if p.EndsAt != nil {
			until = "It resumes at " + p.EndsAt.UTC().Format(time.RFC3339) + "."
		}

		warnings[i] = Warning{
			ID: "paused-" + string(p.Kind), Category: "paused", ServerID: serverID, CreatedAt: p.PausedAt,
			Message: fmt.Sprintf("%s paused %s. %s %s", p.Author, p.Kind, effect, until), Details: p.Reason,
		}
	}

	return warnings
}
