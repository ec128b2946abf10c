package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

const maxPreview = 10_000

// previewSize is how much of each event a preview has.
type previewSize string

// Schema implements huma.SchemaProvider.
func (previewSize) Schema(huma.Registry) *huma.Schema {
	least, most := 1.0, float64(maxPreview)

	return &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most}
}

type timelineInput struct {
	ID      string      `doc:"The id of a session."                                                                                     path:"id"`
	Preview previewSize `doc:"How much of each event's content is wanted, in UTF-16 units; arguments whose JSON is longer are left out." query:"preview"`
}

type timelineOutput struct{ Body timeline }

type timeline struct {
	SessionID string               `json:"session_id"`
	Version   int64                `doc:"The number of the last journal event that is included." json:"version"`
	Events    []tarsy.TimelineItem `json:"events"`
}

type eventInput struct {
	ID      string `doc:"The id of a session."                  path:"id"`
	EventID string `doc:"The id of one of its timeline events." path:"event_id"`
}

type eventOutput struct{ Body tarsy.TimelineItem }

func (s *Server) addTimeline() {
	const path = "/api/v1/sessions/{id}/timeline"

	add(s, tarsy.ScopeRead, huma.Operation{
		OperationID: "get-timeline", Method: http.MethodGet, Path: path, Summary: "Show a session's timeline",
	}, nil, s.getTimeline)

	add(s, tarsy.ScopeRead, huma.Operation{
		OperationID: "get-timeline-event", Method: http.MethodGet, Path: path + "/{event_id}", Summary: "Show a timeline event in full",
	}, nil, s.getTimelineEvent)
}

func (s *Server) getTimeline(ctx context.Context, in *timelineInput) (*timelineOutput, error) {
	preview, err := in.preview()
	if err != nil {
		return nil, err
	}

	err = checkID(in.ID)
	if err != nil {
		return nil, err
	}

	events, version, err := s.store.Timeline(ctx, in.ID, preview)
	if err != nil {
		return nil, fmt.Errorf("show timeline: %w", err)
	}

	return &timelineOutput{
		Body: timeline{SessionID: in.ID, Version: version, Events: append([]tarsy.TimelineItem{}, events...)},
	}, nil
}

// preview is zero where all of every event is wanted.
func (in *timelineInput) preview() (int, error) {
	if in.Preview == "" {
		return 0, nil
	}

	size, err := strconv.Atoi(string(in.Preview))
	if err != nil || size < 1 || size > maxPreview {
		return 0, parameterErrorf("preview", "preview must be a number from 1 to %d", maxPreview)
	}

	return size, nil
}

func (s *Server) getTimelineEvent(ctx context.Context, in *eventInput) (*eventOutput, error) {
	err := checkID(in.ID)
	if err != nil {
		return nil, err
	}

	if !tarsy.ValidID(in.EventID) {
		return nil, tarsy.Errorf(tarsy.CodeEventNotFound, "session %s has no timeline event %q", in.ID, shown(in.EventID))
	}

	event, err := s.store.TimelineEvent(ctx, in.ID, in.EventID)
	if err != nil {
		return nil, fmt.Errorf("show timeline event: %w", err)
	}

	return &eventOutput{Body: *event}, nil
}
