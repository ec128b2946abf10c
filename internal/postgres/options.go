package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// newestOptions is how many sessions of each team and status options are taken from, for readers who cannot see all sessions.
const newestOptions = 500

// FilterOptions returns the values that visible sessions can be filtered by. For readers who cannot see all sessions, they are those
// of the newest ones.
func (db *DB) FilterOptions(ctx context.Context, visible tarsy.Visibility) (tarsy.FilterOptions, error) {
	options := tarsy.FilterOptions{Severities: tarsy.Severities(), Statuses: tarsy.SessionStatuses(), Outcomes: tarsy.Outcomes(), HandlingStates: tarsy.HandlingStates()}

	values := map[string]*[]string{
		"alert_type": &options.AlertTypes, "chain_id": &options.ChainIDs, "author": &options.Authors,
		"service": &options.Services, "namespace": &options.Namespaces, "cluster": &options.Clusters, "team": &options.Teams,
		"assignee": &options.Assignees,
	}

	var batch pgx.Batch

	for column, into := range values {
		if visible.Limited {
			queueDistinct(&batch, into, visibleDistinctSQL(column), visible.Values(), listStatuses())
		} else {
			queueDistinct(&batch, into, distinctSQL(column))
		}
	}

	values["tag"] = &options.Tags
	if visible.Limited {
		queueDistinct(&batch, &options.Tags, visibleTagsSQL, visible.Values(), listStatuses())
	} else {
		queueDistinct(&batch, &options.Tags, tagsSQL)
	}

	if err := db.readers.SendBatch(ctx, &batch).Close(); err != nil {
		return tarsy.FilterOptions{}, fmt.Errorf("list filter options: %w", err)
	}

	// Sorted here, because databases differ in their collation.
	for _, found := range values {
		slices.Sort(*found)
	}

	return options, nil
}

// distinctSQL selects the non-empty values of a column of session_list: the indexes of facts have no others. It skips from each
// value to the next in the column's index, so that its cost depends on the number of values, not of sessions.
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

// visibleSessionsSQL selects a column of the newest sessions of some teams.
func visibleSessionsSQL(column string) string {
	newest := func(team string) string {
		return `SELECT n.value FROM unnest($1::text[]) AS t (team) CROSS JOIN unnest($2::text[]) AS s (status) CROSS JOIN LATERAL (
    SELECT l.` + column + ` AS value FROM session_list l WHERE l.team = t.team AND ` + team + ` AND l.status = s.status
    ORDER BY l.created_at DESC LIMIT ` + strconv.Itoa(newestOptions) + `) AS n`
	}

	// Sessions with a team and those without have separate indexes.
	return newest("l.team <> ''") + " UNION " + newest("l.team = ''")
}

// visibleDistinctSQL is distinctSQL for the newest sessions of some teams.
func visibleDistinctSQL(column string) string {
	return `SELECT value FROM (` + visibleSessionsSQL(column) + `) AS v WHERE value <> ''`
}

// visibleTagsSQL is tagsSQL for the newest sessions of some teams.
var visibleTagsSQL = `SELECT min(t.tag) FROM (` + visibleSessionsSQL("session_id") + `) AS v JOIN session_tags t ON t.session_id = v.value GROUP BY t.key`

// listStatuses returns the statuses of session_list.
func listStatuses() []string {
	statuses := []string{""}
	for _, status := range endedStatuses() {
		statuses = append(statuses, string(status))
	}

	return statuses
}

func queueDistinct(batch *pgx.Batch, into *[]string, sql string, args ...any) {
	batch.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		values, err := pgx.CollectRows(rows, pgx.RowTo[string])
		*into = append([]string{}, values...)

		return err
	})
}
