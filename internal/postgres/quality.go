package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// qualityCells groups the sessions of a period that have the same key and about the same duration: two percent apart at most. For
// percentiles, adding up cells is much cheaper than sorting sessions by duration. Few sessions have feedback or are storms; the
// tables of both are small compared to session_quality.
var qualityCells = `
    SELECT %s AS key, floor(ln(q.duration_ms + 1) / ln(1.02))::int AS bucket, max(q.duration_ms) AS longest, count(*) AS sessions,
        ` + outcomeColumns("count(*) FILTER (WHERE q.outcome = '%[1]s') AS %[1]s") + `,
        sum(f.agreed) AS agreed, sum(f.partly) AS partly, sum(f.wrong) AS wrong, sum(q.cost_usd) AS cost_usd,
        sum(greatest(a.members, 1)) FILTER (WHERE q.cost_usd IS NOT NULL) AS alerts
    FROM session_quality q
    LEFT JOIN (
        SELECT session_id, count(*) FILTER (WHERE rating = 'right') AS agreed, count(*) FILTER (WHERE rating = 'partly') AS partly,
            count(*) FILTER (WHERE rating = 'wrong') AS wrong
        FROM feedback GROUP BY session_id
    ) AS f ON f.session_id = q.session_id
    LEFT JOIN session_alerts a ON a.session_id = q.session_id AND a.storm
    WHERE q.completed_at >= @from AND q.completed_at < @to
    GROUP BY 1, 2`

// qualityColumns are the columns of a cell except its key.
var qualityColumns = `c.bucket, c.longest, c.sessions, ` + outcomeColumns("c.%s") + `, c.agreed, c.partly, c.wrong, c.cost_usd, c.alerts`

// qualitySums are the columns of tarsy.QualityRow except its key, from cells with the number of sessions that took at most as long.
var qualitySums = `sum(c.sessions)::bigint AS sessions, jsonb_build_object(` + outcomeColumns("'%[1]s', sum(c.%[1]s)") + `) AS outcomes,
    coalesce(sum(c.agreed), 0)::bigint AS "right", coalesce(sum(c.partly), 0)::bigint AS partly, coalesce(sum(c.wrong), 0)::bigint AS wrong,
    (sum(c.agreed) / sum(c.agreed + c.partly + c.wrong))::double precision AS agreement,
    min(c.longest) FILTER (WHERE c.sessions_up_to >= 0.5 * c.sessions_of_key) AS time_to_verdict_p50_ms,
    min(c.longest) FILTER (WHERE c.sessions_up_to >= 0.95 * c.sessions_of_key) AS time_to_verdict_p95_ms,
    sum(c.cost_usd) AS cost_usd, sum(c.cost_usd) / sum(c.alerts)::double precision AS cost_per_alert_usd`

func outcomeColumns(format string) string {
	columns := make([]string, 0, len(tarsy.Outcomes()))
	for _, outcome := range tarsy.Outcomes() {
		columns = append(columns, fmt.Sprintf(format, outcome))
	}

	return strings.Join(columns, ", ")
}

// qualitySQL returns one row per key. column is the key of the cells; rows maps their keys to those of the result.
func qualitySQL(column, rows, order string) string {
	return `
WITH cells AS (` + fmt.Sprintf(qualityCells, column) + `
), keyed AS (` + rows + `
), ranked AS (
    SELECT c.key, ` + qualityColumns + `, sum(c.sessions) OVER (PARTITION BY c.key ORDER BY c.bucket) AS sessions_up_to,
        sum(c.sessions) OVER (PARTITION BY c.key) AS sessions_of_key
    FROM keyed c
)
SELECT c.key, ` + qualitySums + `
FROM ranked c GROUP BY c.key ORDER BY ` + order
}

// qualityDaysSQL returns the days of the period, after the whole period, with an empty key, if it has sessions.
var qualityDaysSQL = qualitySQL(`(q.completed_at AT TIME ZONE 'UTC')::date`, `
    SELECT c.key::text AS key, `+qualityColumns+` FROM cells c
    UNION ALL
    SELECT '', `+qualityColumns+` FROM cells c`, `c.key`)

// qualityRowsSQL returns one row for each value that sessions are grouped by.
func qualityRowsSQL(by tarsy.QualityBy) string {
	const order = `sessions DESC, c.key`

	one := `
    SELECT c.key, ` + qualityColumns + ` FROM cells c`
	each := `
    SELECT n.name AS key, ` + qualityColumns + ` FROM cells c CROSS JOIN LATERAL unnest(c.key) AS n (name)`

	switch by {
	case tarsy.QualityByAlertType:
		return qualitySQL("q.alert_type", one, order)
	case tarsy.QualityByAgent:
		return qualitySQL("q.agents", each, order)
	case tarsy.QualityByModel:
		return qualitySQL("q.models", each, order)
	case tarsy.QualityByChain:
	}

	return qualitySQL("q.chain_id", one, order)
}

// Quality returns the quality of the conclusions of sessions that completed from a time up to another, from one snapshot.
func (db *DB) Quality(ctx context.Context, from, to time.Time, by tarsy.QualityBy) (tarsy.Quality, error) {
	quality := tarsy.Quality{From: from, To: to, By: by, Rows: []tarsy.QualityRow{}, Days: []tarsy.QualityRow{}}
	period := pgx.NamedArgs{"from": from, "to": to}

	err := InSnapshot(ctx, db.readers, func(tx pgx.Tx) error {
		var batch pgx.Batch

		QueueRows(&batch, &quality.Days, qualityDaysSQL, period)
		QueueRows(&batch, &quality.Rows, qualityRowsSQL(by), period)

		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return quality, fmt.Errorf("count conclusions: %w", err)
	}

	quality.Total = tarsy.QualityRow{Outcomes: map[tarsy.Outcome]int{}}
	for _, outcome := range tarsy.Outcomes() {
		quality.Total.Outcomes[outcome] = 0
	}

	if len(quality.Days) > 0 {
		quality.Total, quality.Days = quality.Days[0], quality.Days[1:]
	}

	return quality, nil
}
