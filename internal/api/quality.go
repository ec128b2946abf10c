package api

import (
	"cmp"
	"context"
	"fmt"

	"tarsy.dev/tarsy"
)

type qualityInput struct {
	From moment               `doc:"Completed at this time or later; 30 days before the end if left out." query:"from"`
	To   moment               `doc:"Completed before this time; now if left out."                       query:"to"`
	By   one[tarsy.QualityBy] `doc:"What a row is about." default:"chain" query:"by"`
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
