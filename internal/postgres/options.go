package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// FilterOptions returns the values that sessions can be filtered by.
func (db *DB) FilterOptions(ctx context.Context) (tarsy.FilterOptions, error) {
	options := tarsy.FilterOptions{Severities: tarsy.Severities(), Statuses: tarsy.SessionStatuses(), Outcomes: tarsy.Outcomes()}

	values := map[string]*[]string{
		"alert_type": &options.AlertTypes, "chain_id": &options.ChainIDs, "author": &options.Authors,
		"service": &options.Services, "namespace": &options.Namespaces, "cluster": &options.Clusters, "team": &options.Teams,
	}

	var batch pgx.Batch

	for column, into := range values {
		queueDistinct(&batch, into, column)
	}

	if err := db.readers.SendBatch(ctx, &batch).Close(); err != nil {
		return tarsy.FilterOptions{}, fmt.Errorf("list filter options: %w", err)
	}

	// Sorted here: every database has its own idea of the order of letters.
	for _, found := range values {
		slices.Sort(*found)
	}

	return options, nil
}

// distinctSQL finds the values of a column of session_list that are not empty: the indexes of facts have no others. It goes from each value to the
// next in the column's index, so that it costs as much as there are values and not as there are sessions.
func distinctSQL(column string) string {
	return `
WITH RECURSIVE found AS (
    (SELECT ` + column + ` AS value FROM session_list WHERE ` + column + ` <> '' ORDER BY ` + column + ` LIMIT 1)
    UNION ALL
    SELECT (SELECT l.` + column + ` FROM session_list l WHERE l.` + column + ` <> '' AND l.` + column + ` > f.value ORDER BY l.` + column + ` LIMIT 1)
    FROM found f WHERE f.value IS NOT NULL
)
SELECT value FROM found WHERE value IS NOT NULL`
}

func queueDistinct(batch *pgx.Batch, into *[]string, column string) {
	batch.Queue(distinctSQL(column)).Query(func(rows pgx.Rows) error {
		values, err := pgx.CollectRows(rows, pgx.RowTo[string])
		*into = append([]string{}, values...)

		return err
	})
}
