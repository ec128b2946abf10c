package api

import (
	"context"
	"fmt"
	"net/url"

	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/notebook"
)

// tagRequest is the name of a tag.
type tagRequest struct {
	Name string `doc:"Converted to lower case with single spaces." json:"name" maxLength:"50" minLength:"1"`
}

type tagsInput struct {
	Search search  `doc:"Part of the name."                     query:"q"`
	Limit  integer `doc:"Maximum number of tags per page."      query:"limit"`
	Cursor cursor  `doc:"The next_cursor of the previous page." query:"cursor"`
}

type tagsOutput struct{ Body tagList }

type tagList struct {
	Tags       []notebook.Tag `json:"tags"`
	NextCursor string         `doc:"Cursor of the next page; absent on the last page." json:"next_cursor,omitempty"`
	Total      int            `doc:"Number of tags that match, over all pages."  json:"total"`
}

type tagInput struct {
	Name string `doc:"The name of a tag." path:"name"`
}

type tagOutput struct{ Body notebook.Tag }

type createdTagOutput struct {
	Location string `doc:"URL of the new tag." header:"Location"`
	Body     notebook.Tag
}

// tagCursor is a position in the list of tags.
type tagCursor struct {
	Name string `json:"n"`
}

func (h *entities) listTags(ctx context.Context, in *tagsInput) (*tagsOutput, error) {
	query := notebook.TagQuery{Visible: callerOf(ctx).visible}

	err := readParameters(in, &query)
	if err != nil {
		return nil, err
	}

	place, err := readCursor(in.Cursor, func(place tagCursor) bool { return place.Name != "" && place.Name == plaintext.Clean(place.Name) })
	if err != nil {
		return nil, err
	}

	if place != nil {
		query.After = place.Name
	}

	page, err := h.board.Tags(ctx, query)
	if err != nil {
		return nil, err
	}

	out := &tagsOutput{Body: tagList{Tags: page.Tags, Total: page.Total}}

	if page.Next != "" {
		out.Body.NextCursor, err = encodeCursor(tagCursor{page.Next})
	}

	return out, err
}

func (h *entities) createTag(ctx context.Context, _ *struct{}) (*createdTagOutput, error) {
	who := callerOf(ctx)

	body, err := readRequest[tagRequest](who.body)
	if err != nil {
		return nil, err
	}

	tag, err := h.board.CreateTag(ctx, body.Name, who.author)
	if err != nil {
		return nil, fmt.Errorf("create tag: %w", err)
	}

	return &createdTagOutput{Location: "/api/v1/tags/" + url.PathEscape(tag.Name), Body: tag}, nil
}

func (h *entities) renameTag(ctx context.Context, in *tagInput) (*tagOutput, error) {
	who := callerOf(ctx)

	body, err := readRequest[tagRequest](who.body)
	if err != nil {
		return nil, err
	}

	tag, err := h.board.RenameTag(ctx, plaintext.Clean(in.Name), body.Name, who.author)
	if err != nil {
		return nil, fmt.Errorf("rename tag: %w", err)
	}

	return &tagOutput{Body: tag}, nil
}

func (h *entities) deleteTag(ctx context.Context, in *tagInput) (*noContent, error) {
	if err := h.board.DeleteTag(ctx, plaintext.Clean(in.Name), callerOf(ctx).author); err != nil {
		return nil, fmt.Errorf("delete tag: %w", err)
	}

	return &noContent{}, nil
}
