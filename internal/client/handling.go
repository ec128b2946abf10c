package client

import (
	"context"
	"net/http"
	"slices"

	"tarsy.dev/tarsy"
)

// HandlingChange is the body that changes the handling of sessions. What is nil stays as it is.
type HandlingChange struct {
	IDs        []string             `json:"ids"`
	State      *tarsy.HandlingState `json:"state,omitempty"`
	Assignee   *string              `json:"assignee,omitempty"`
	Resolution *string              `json:"resolution,omitempty"`
	Tags       *TagsChange          `json:"tags,omitempty"`
}

// TagsChange adds and removes tags.
type TagsChange struct {
	Add    []string `json:"add,omitempty"`
	Remove []string `json:"remove,omitempty"`
}

// Handle makes one change to sessions, each by itself: the results tell which of them failed.
func (c *Client) Handle(ctx context.Context, change HandlingChange) ([]tarsy.HandlingResult, error) {
	var results []tarsy.HandlingResult

	for ids := range slices.Chunk(change.IDs, tarsy.MaxHandled) {
		change.IDs = ids

		var body struct {
			Results []tarsy.HandlingResult `json:"results"`
		}

		if err := c.call(ctx, http.MethodPost, "/api/v1/sessions/handling", nil, change, &body); err != nil {
			return results, err
		}

		results = append(results, body.Results...)
	}

	return results, nil
}
