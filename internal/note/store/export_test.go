package store

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
)

// SimilarPlan runs the query of Similar and returns its plan, including what each node read.
func SimilarPlan(ctx context.Context, q Querier, threshold float64, limit int, search Search) (string, error) {
	sql, args := search.query(threshold, limit)

	rows, err := q.Query(ctx, "EXPLAIN (ANALYZE, TIMING OFF) "+sql, args...)
	if err != nil {
		return "", err
	}

	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])

	return strings.Join(lines, "\n"), err
}
