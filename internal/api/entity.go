package api

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy/notebook"
)

// moveRequest is the new position of an entity.
type moveRequest struct {
	Status   *notebook.EntityStatus `doc:"The column; if absent, the entity stays in its column."                                  json:"status,omitempty"`
	EpicID   *string                `doc:"The epic, which also sets the project; an empty string removes the epic."                json:"epic_id,omitempty"`
	BeforeID string                 `doc:"The entity of the column to place it directly before."                                   json:"before_id,omitempty"`
	AfterID  string                 `doc:"The entity of the column to place it directly after. Without either, it is placed last." json:"after_id,omitempty"`
}

type entitiesOutput struct{ Body entityList }

type entityList struct {
	Entities   []notebook.EntityDetail `json:"entities"`
	NextCursor string                  `doc:"Cursor of the next page; absent on the last page." json:"next_cursor,omitempty"`
	Total      int                     `doc:"Number of entities that match, over all pages." json:"total"`
}

func (h *entities) listEntities(ctx context.Context, in *entitiesInput) (*entitiesOutput, error) {
	query, err := in.query()
	if err != nil {
		return nil, err
	}

	query.Visible = callerOf(ctx).visible

	page, err := h.board.Entities(ctx, query)
	if err != nil {
		return nil, err
	}

	out := &entitiesOutput{Body: entityList{Entities: page.Entities, Total: page.Total}}

	if page.Next != nil {
		out.Body.NextCursor, err = encodeCursor(*page.Next)
	}

	return out, err
}

func (h *entities) createEntity(ctx context.Context, _ *struct{}) (*createdOutput[notebook.EntityDetail], error) {
	who := callerOf(ctx)

	body, err := readRequest[entityRequest](who.body)
	if err != nil {
		return nil, err
	}

	entity, err := h.board.CreateEntity(ctx, body.input(), who.author)
	if err != nil {
		return nil, fmt.Errorf("create entity: %w", err)
	}

	return &createdOutput[notebook.EntityDetail]{ETag: etag(entity.Version), Location: "/api/v1/entities/" + entity.ID, Body: entity}, nil
}

func (h *entities) getEntity(ctx context.Context, in *rowInput) (*rowOutput[notebook.EntityDetail], error) {
	entity, err := h.board.Entity(ctx, in.ID)

	return entityOutput(entity, "show entity", err)
}

func entityOutput(entity notebook.EntityDetail, doing string, err error) (*rowOutput[notebook.EntityDetail], error) {
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}

	return &rowOutput[notebook.EntityDetail]{ETag: etag(entity.Version), Body: entity}, nil
}

func (h *entities) updateEntity(ctx context.Context, in *changeInput) (*rowOutput[notebook.EntityDetail], error) {
	body, version, err := request[entityRequest](ctx, in)
	if err != nil {
		return nil, err
	}

	entity, err := h.board.UpdateEntity(ctx, in.ID, version, body.input(), callerOf(ctx).author)

	return entityOutput(entity, "change entity", err)
}

func (h *entities) deleteEntity(ctx context.Context, in *changeInput) (*noContent, error) {
	version, err := in.IfMatch.version()
	if err != nil {
		return nil, err
	}

	if err := h.board.DeleteEntity(ctx, in.ID, version, callerOf(ctx).author); err != nil {
		return nil, fmt.Errorf("delete entity: %w", err)
	}

	return &noContent{}, nil
}

func (h *entities) moveEntity(ctx context.Context, in *rowInput) (*rowOutput[notebook.EntityDetail], error) {
	who := callerOf(ctx)

	body, err := readRequest[moveRequest](who.body)
	if err != nil {
		return nil, err
	}

	if err := h.teams.checkNeighbours(ctx, who, body); err != nil {
		return nil, err
	}

	entity, err := h.board.MoveEntity(ctx, in.ID, notebook.EntityMove(body), who.author)

	return entityOutput(entity, "move entity", err)
}
