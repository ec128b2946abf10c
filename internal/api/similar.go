package api

import (
	"context"
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

const (
	defaultSimilar = 5
	maxSimilar     = 20
)

type similarInput struct {
	ID    string       `doc:"The id of a session."           path:"id"`
	Limit similarLimit `doc:"Maximum number of sessions." query:"limit"`
}

// similarLimit is an integer with its own bounds.
type similarLimit string

// Schema implements huma.SchemaProvider.
func (similarLimit) Schema(huma.Registry) *huma.Schema {
	return integerSchema(maxSimilar, defaultSimilar)
}

type similarOutput struct{ Body similarList }

type similarList struct {
	Sessions []tarsy.SimilarSession `json:"sessions"`
}

func (s *sessions) listSimilar(ctx context.Context, in *similarInput) (*similarOutput, error) {
	err := checkID(in.ID)
	if err != nil {
		return nil, err
	}

	var query struct{ Limit int }

	err = readParameters(in, &query)
	if err != nil {
		return nil, err
	}

	similar, err := s.store.Similar(ctx, in.ID, callerOf(ctx).visible, query.Limit)
	if err != nil {
		return nil, fmt.Errorf("list similar sessions: %w", err)
	}

	return &similarOutput{Body: similarList{Sessions: similar}}, nil
}
