package api

import (
	"context"
	"fmt"
	"slices"

	"tarsy.dev/tarsy"
)

// handlingRequest is the body that changes the handling of a session. Omitted fields keep their values.
type handlingRequest struct {
	State      *tarsy.HandlingState `doc:"The new state. A session that is already in this state is not changed."          json:"state,omitempty"`
	Assignee   *string              `doc:"The assignee of the session; empty for none, me for the caller."                 json:"assignee,omitempty"   maxLength:"200"`
	Resolution *string              `doc:"What resolved the session. Only for resolved sessions: send it with the state resolved, or later." json:"resolution,omitempty" maxLength:"2000"`
	Tags       *tagsRequest         `doc:"Changes to the session's tags."                                                  json:"tags,omitempty"`
}

// tagsRequest changes the tags of a session.
type tagsRequest struct {
	Set    *[]string `doc:"All tags; they replace the existing ones."                   json:"set,omitempty"    maxItems:"20"`
	Add    []string  `doc:"Tags to add, ignoring case; existing ones are kept."         json:"add,omitempty"    maxItems:"20"`
	Remove []string  `doc:"Tags to remove, ignoring case."                              json:"remove,omitempty" maxItems:"20"`
}

// handlingBulkRequest is the body that changes the handling of many sessions.
type handlingBulkRequest struct {
	IDs        []string             `doc:"The ids of the sessions. Each session is changed independently of the others." json:"ids"                  maxItems:"500" minItems:"1"`
	State      *tarsy.HandlingState `doc:"The new state. A session that is already in this state is not changed."          json:"state,omitempty"`
	Assignee   *string              `doc:"The assignee of the sessions; empty for none, me for the caller."                json:"assignee,omitempty"   maxLength:"200"`
	Resolution *string              `doc:"What resolved the sessions."                                                     json:"resolution,omitempty" maxLength:"2000"`
	Tags       *tagsRequest         `doc:"Changes to the sessions' tags."                                                  json:"tags,omitempty"`
}

type handlingInput struct {
	ID      string  `doc:"The id of a session." path:"id"`
	IfMatch ifMatch `doc:"The ETag of the handling; \"0\" if the session has none. If it has changed since, the response is 412. Without the header the change applies to the current version." header:"If-Match"`
}

type handlingOutput struct {
	ETag string `doc:"The version, for If-Match." header:"ETag"`
	Body tarsy.Handling
}

type handlingBulkOutput struct{ Body handlingResults }

type handlingResults struct {
	Results []tarsy.HandlingResult `doc:"One for each session, in the same order." json:"results"`
}

func (r handlingRequest) change() tarsy.HandlingChange {
	c := tarsy.HandlingChange{State: r.State, Assignee: r.Assignee, Resolution: r.Resolution}

	if r.Tags != nil {
		c.SetTags, c.AddTags, c.RemoveTags = r.Tags.Set, r.Tags.Add, r.Tags.Remove
	}

	return c
}

func (d *desk) getHandling(ctx context.Context, in *sessionInput) (*handlingOutput, error) {
	if err := in.check(); err != nil {
		return nil, err
	}

	handling, err := d.people.Handling(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("show handling: %w", err)
	}

	return &handlingOutput{ETag: etag(handling.Version), Body: handling}, nil
}

func (d *desk) handleSession(ctx context.Context, in *handlingInput) (*handlingOutput, error) {
	who := callerOf(ctx)

	request, err := readRequest[handlingRequest](who.body)
	if err != nil {
		return nil, err
	}

	if err := checkID(in.ID); err != nil {
		return nil, err
	}

	var version *int64

	if in.IfMatch != "" {
		seen, err := in.IfMatch.version()
		if err != nil {
			return nil, err
		}

		version = &seen
	}

	handling, _, err := d.people.Handle(ctx, in.ID, who.person(), version, request.change())
	if err != nil {
		return nil, fmt.Errorf("handle session: %w", err)
	}

	return &handlingOutput{ETag: etag(handling.Version), Body: handling}, nil
}

func (d *desk) handleSessions(ctx context.Context, _ *struct{}) (*handlingBulkOutput, error) {
	who := callerOf(ctx)

	request, err := readRequest[handlingBulkRequest](who.body)

	switch {
	case err != nil:
		return nil, err
	case len(request.IDs) == 0:
		return nil, missing("ids", "a list of at least one id")
	case len(request.IDs) > tarsy.MaxHandled:
		return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, "ids", "ids has %d ids; at most %d sessions are handled at once", len(request.IDs), tarsy.MaxHandled)
	}

	change := handlingRequest{State: request.State, Assignee: request.Assignee, Resolution: request.Resolution, Tags: request.Tags}.change()

	visible, hidden, err := d.teams.splitHidden(ctx, who, request.IDs)
	if err != nil {
		return nil, fmt.Errorf("handle sessions: %w", err)
	}

	results, err := d.people.HandleAll(ctx, visible, who.person(), change, func(err error) {
		d.logger.ErrorContext(ctx, "session not handled", "error", err)
	})
	if err != nil {
		return nil, fmt.Errorf("handle sessions: %w", err)
	}

	return &handlingBulkOutput{Body: handlingResults{Results: inOrder(request.IDs, results, hidden)}}, nil
}

// inOrder returns results in the order of the ids, with a not-found result for each hidden session.
func inOrder(ids []string, results []tarsy.HandlingResult, hidden []string) []tarsy.HandlingResult {
	if len(hidden) == 0 {
		return results
	}

	ordered := make([]tarsy.HandlingResult, 0, len(ids))

	for _, id := range ids {
		if slices.Contains(hidden, id) {
			ordered = append(ordered, tarsy.HandlingResult{SessionID: id, Code: tarsy.CodeSessionNotFound, Message: fmt.Sprintf("there is no session %q", id)})
		} else {
			ordered, results = append(ordered, results[0]), results[1:]
		}
	}

	return ordered
}
