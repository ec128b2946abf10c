package api

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
)

// feedbackRequest is the body that gives feedback.
type feedbackRequest struct {
	Rating    string `doc:"Your rating of the conclusion." enum:"right,partly,wrong"                              json:"rating"`
	Why       string `doc:"The reason, at most 2,000 characters."                                                    json:"why,omitempty"`
	RealCause string `doc:"The real cause, at most 2,000 characters. Not allowed with the rating right." json:"real_cause,omitempty"`
}

type feedbackListOutput struct{ Body feedbackList }

type feedbackList struct {
	Feedback []tarsy.Feedback `json:"feedback"`
}

type feedbackOutput struct{ Body tarsy.Feedback }

func (d *desk) listFeedback(ctx context.Context, in *sessionInput) (*feedbackListOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}

	found, err := d.people.Feedback(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("list feedback: %w", err)
	}

	return &feedbackListOutput{Body: feedbackList{Feedback: append([]tarsy.Feedback{}, found...)}}, nil
}

func (d *desk) giveFeedback(ctx context.Context, in *sessionInput) (*feedbackOutput, error) {
	who, by := callerOf(ctx), callerOf(ctx).person()

	request, err := readRequest[feedbackRequest](who.body)
	if err != nil {
		return nil, err
	}

	if err := in.check(); err != nil {
		return nil, err
	}

	given, err := d.people.GiveFeedback(ctx, tarsy.Feedback{
		SessionID: in.ID, Author: by.Name, AuthorID: by.ID, Rating: tarsy.Rating(request.Rating), Why: request.Why, RealCause: request.RealCause,
	})
	if err != nil {
		return nil, fmt.Errorf("give feedback: %w", err)
	}

	return &feedbackOutput{Body: given}, nil
}

func (d *desk) withdrawFeedback(ctx context.Context, in *sessionInput) (*struct{}, error) {
	if err := in.check(); err != nil {
		return nil, err
	}

	if _, err := d.people.WithdrawFeedback(ctx, in.ID, callerOf(ctx).person()); err != nil {
		return nil, fmt.Errorf("withdraw feedback: %w", err)
	}

	return nil, nil //nolint:nilnil // no content
}
