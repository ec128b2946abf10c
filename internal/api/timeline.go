package api

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

const maxPreview = 10_000

// previewSize is the maximum length of each event's content in a preview.
type previewSize string

// Schema implements huma.SchemaProvider.
func (previewSize) Schema(huma.Registry) *huma.Schema { return integerSchema(maxPreview, nil) }

type timelineInput struct {
	ID      string      `doc:"The id of a session."                                                                                     path:"id"`
	Preview previewSize `doc:"Maximum length of each event's content, in UTF-16 units: the beginning, or the beginning and end of a tool's result. Arguments whose JSON is longer are omitted." query:"preview"`
	Limit   pageSize    `doc:"Maximum number of events per page; fewer if they are large."                                               query:"limit"`
	Cursor  cursor      `doc:"The next_cursor of the previous page."                                                                     query:"cursor"`
}

type timelineOutput struct{ Body timeline }

type timeline struct {
	SessionID  string               `json:"session_id"`
	Version    int64                `doc:"The number of the last journal event that is included." json:"version"`
	Events     []tarsy.TimelineItem `json:"events"`
	NextCursor string               `doc:"Cursor of the next page; absent on the last page."      json:"next_cursor,omitempty"`
}

// timelineCursor is the position after an event.
type timelineCursor struct {
	SequenceNumber int64 `json:"n"`
}

type eventInput struct {
	ID      string `doc:"The id of a session."                  path:"id"`
	EventID string `doc:"The id of one of its timeline events." path:"event_id"`
}

type eventOutput struct{ Body tarsy.TimelineItem }

func (s *sessions) getTimeline(ctx context.Context, in *timelineInput) (*timelineOutput, error) {
	query, err := in.query()
	if err != nil {
		return nil, err
	}

	err = checkID(in.ID)
	if err != nil {
		return nil, err
	}

	page, err := s.store.Timeline(ctx, in.ID, query)
	if err != nil {
		return nil, fmt.Errorf("show timeline: %w", err)
	}

	out := &timelineOutput{Body: timeline{SessionID: in.ID, Version: page.Version, Events: append([]tarsy.TimelineItem{}, page.Events...)}}

	if page.More {
		out.Body.NextCursor, err = encodeCursor(timelineCursor{SequenceNumber: page.Events[len(page.Events)-1].SequenceNumber})
	}

	return out, err
}

func (in *timelineInput) query() (query tarsy.TimelineQuery, err error) {
	if err = readParameters(in, &query); err != nil {
		return query, err
	}

	query.After, err = readNumberCursor(in.Cursor, func(place timelineCursor) int64 { return place.SequenceNumber })

	return query, err
}

func (s *sessions) getTimelineEvent(ctx context.Context, in *eventInput) (*eventOutput, error) {
	err := checkID(in.ID)
	if err != nil {
		return nil, err
	}

	if !ident.Valid(in.EventID) {
		return nil, tarsy.Errorf(tarsy.CodeEventNotFound, "session %s has no timeline event %q", in.ID, shown(in.EventID))
	}

	event, err := s.store.TimelineEvent(ctx, in.ID, in.EventID)
	if err != nil {
		return nil, fmt.Errorf("show timeline event: %w", err)
	}

	return &eventOutput{Body: *event}, nil
}
