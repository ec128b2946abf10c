package api

import (
	"cmp"
	"context"
	"fmt"

	"tarsy.dev/tarsy"
)

type qualityInput struct {
	From moment               `doc:"Completed at this time or later; the default is 30 days before the end." query:"from"`
	To   moment               `doc:"Completed before this time; the default is now."                    query:"to"`
	By   one[tarsy.QualityBy] `doc:"How the rows are grouped." default:"chain" query:"by"`
}

type qualityOutput struct{ Body tarsy.Quality }

func (s *system) getQuality(ctx context.Context, in *qualityInput) (*qualityOutput, error) {
	from, to, err := period(in, s.clock.Now())
	if err != nil {
		return nil, err
	}

	quality, err := s.people.Quality(ctx, from, to, cmp.Or(tarsy.QualityBy(in.By), tarsy.QualityByChain))
	if err != nil {
		return nil, fmt.Errorf("count conclusions: %w", err)
	}

	return &qualityOutput{Body: quality}, nil
}
