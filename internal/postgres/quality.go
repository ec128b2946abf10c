package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
)

// qualitySource are the sessions of a period with what people said about them. Few sessions have feedback or are storms; the tables of
// both are small beside session_quality.
const qualitySource = `
FROM session_quality q
LEFT JOIN (
    SELECT session_id, count(*) FILTER (WHERE rating = 'right') AS agreed, count(*) FILTER (WHERE rating = 'partly') AS partly,
        count(*) FILTER (WHERE rating = 'wrong') AS wrong
    FROM feedback GROUP BY session_id
) AS f ON f.session_id = q.session_id
LEFT JOIN session_alerts a ON a.session_id = q.session_id AND a.storm`

const qualityPeriod = `
WHERE q.completed_at >= @from AND q.completed_at < @to`

// qualitySums are the columns of tarsy.QualityRow without its key.
var qualitySums = `count(*) AS sessions, ` + outcomeCounts() + ` AS outcomes,
    coalesce(sum(f.agreed), 0)::bigint AS "right", coalesce(sum(f.partly), 0)::bigint AS partly, coalesce(sum(f.wrong), 0)::bigint AS wrong,
    (sum(f.agreed) / sum(f.agreed + f.partly + f.wrong))::double precision AS agreement,
    (percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY q.duration_ms))[1] AS time_to_verdict_p50_ms,
    (percentile_disc(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY q.duration_ms))[2] AS time_to_verdict_p95_ms,
    sum(q.cost_usd) AS cost_usd,
    sum(q.cost_usd) / sum(greatest(a.members, 1)) FILTER (WHERE q.cost_usd IS NOT NULL) AS cost_per_alert_usd`

func outcomeCounts() string {
	counts := make([]string, 0, len(tarsy.Outcomes()))
	for _, outcome := range tarsy.Outcomes() {
		counts = append(counts, `'`+string(outcome)+`', count(*) FILTER (WHERE q.outcome = '`+string(outcome)+`')`)
	}

	return `jsonb_build_object(` + strings.Join(counts, ", ") + `)`
}

// qualityDaysSQL is the whole period, whose key is null, and its days.
var qualityDaysSQL = `
SELECT coalesce(((q.completed_at AT TIME ZONE 'UTC')::date)::text, '') AS key, ` + qualitySums + qualitySource + qualityPeriod + `
GROUP BY GROUPING SETS ((), ((q.completed_at AT TIME ZONE 'UTC')::date))
ORDER BY 1`

// qualityRowsSQL is one row for each value of what sessions are counted by.
func qualityRowsSQL(by tarsy.QualityBy) string {
	key, from := "q.chain_id", ""

	switch by {
	case tarsy.QualityByChain:
	case tarsy.QualityByAlertType:
		key = "q.alert_type"
	case tarsy.QualityByAgent:
		key, from = "k.name", "\nCROSS JOIN LATERAL unnest(q.agents) AS k (name)"
	case tarsy.QualityByModel:
		key, from = "k.name", "\nCROSS JOIN LATERAL unnest(q.models) AS k (name)"
	}

	return `
SELECT ` + key + ` AS key, ` + qualitySums + qualitySource + from + qualityPeriod + `
GROUP BY ` + key + `
ORDER BY sessions DESC, key`
}

// Quality returns how good the conclusions of sessions are that completed from a time up to another, as of one moment.
func (db *DB) Quality(ctx context.Context, from, to time.Time, by tarsy.QualityBy) (tarsy.Quality, error) {
	quality := tarsy.Quality{From: from, To: to, By: by, Rows: []tarsy.QualityRow{}, Days: []tarsy.QualityRow{}}
	period := pgx.NamedArgs{"from": from, "to": to}

	err := pgx.BeginTxFunc(ctx, db.readers, snapshot, func(tx pgx.Tx) error {
		var batch pgx.Batch

		queueRows(&batch, &quality.Days, qualityDaysSQL, period)
		queueRows(&batch, &quality.Rows, qualityRowsSQL(by), period)

		return tx.SendBatch(ctx, &batch).Close()
	})
	if err != nil {
		return quality, fmt.Errorf("count conclusions: %w", err)
	}

	// The period as a whole comes first, also if it is empty.
	quality.Total, quality.Days = quality.Days[0], quality.Days[1:]

	return quality, nil
}
