package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"tarsy.dev/tarsy"
)

// sumUsage sums up the usage of LLM calls, in the form of tarsy.Usage. Calls from before prices existed have none.
const sumUsage = `jsonb_build_object(
    'input_tokens', COALESCE(sum((usage ->> 'input_tokens')::bigint), 0), 'output_tokens', COALESCE(sum((usage ->> 'output_tokens')::bigint), 0),
    'thinking_tokens', COALESCE(sum((usage ->> 'thinking_tokens')::bigint), 0), 'cached_tokens', COALESCE(sum((usage ->> 'cached_tokens')::bigint), 0),
    'total_tokens', COALESCE(sum((usage ->> 'total_tokens')::bigint), 0), 'cost_usd', COALESCE(sum((usage ->> 'cost_usd')::float8), 0),
    'unpriced_tokens', COALESCE(sum((usage ->> 'unpriced_tokens')::bigint), 0))`

// executionSpend is what one execution used, or what the session used outside of executions.
type executionSpend struct {
	ExecutionID string
	tarsy.Spend
}

// queueSpend queues the query for what the executions of a session used.
func queueSpend(batch *pgx.Batch, into *[]executionSpend, sessionID string) {
	QueueRows(batch, into, `
SELECT COALESCE(execution_id::text, '') AS execution_id, usage, tool_calls FROM
    (SELECT execution_id, `+sumUsage+` AS usage, 0 AS tool_calls FROM llm_interactions WHERE session_id = $1 GROUP BY execution_id
     UNION ALL
     SELECT execution_id, '{}', count(*) FROM mcp_interactions WHERE session_id = $1 GROUP BY execution_id) AS used`, sessionID)
}

// bucketSums are the sums of a period's usage, in the form of tarsy.SpendShare without its name.
const bucketSums = `COALESCE(sum(llm_calls), 0)::bigint AS llm_calls, COALESCE(sum(tool_calls), 0)::bigint AS tool_calls, jsonb_build_object(
    'input_tokens', COALESCE(sum(input_tokens), 0), 'output_tokens', COALESCE(sum(output_tokens), 0),
    'thinking_tokens', COALESCE(sum(thinking_tokens), 0), 'cached_tokens', COALESCE(sum(cached_tokens), 0),
    'total_tokens', COALESCE(sum(total_tokens), 0), 'cost_usd', COALESCE(sum(cost_usd), 0),
    'unpriced_tokens', COALESCE(sum(unpriced_tokens), 0)) AS usage`

// usageSQL reads the usage of a period: whole days and hours from stored sums, and the rest at both ends from the calls themselves.
const (
	bucketColumns = `(begins AT TIME ZONE 'UTC')::date AS day, alert_type, model_name, provider, llm_calls, tool_calls,
    input_tokens, output_tokens, thinking_tokens, cached_tokens, total_tokens, unpriced_tokens, cost_usd`
	callColumns = `(c.created_at AT TIME ZONE 'UTC')::date, s.alert_type, c.model_name, c.provider, 1, 0,
    (c.usage ->> 'input_tokens')::bigint, (c.usage ->> 'output_tokens')::bigint, (c.usage ->> 'thinking_tokens')::bigint, (c.usage ->> 'cached_tokens')::bigint,
    (c.usage ->> 'total_tokens')::bigint, (c.usage ->> 'unpriced_tokens')::bigint, (c.usage ->> 'cost_usd')::double precision`
	toolColumns = `(c.created_at AT TIME ZONE 'UTC')::date, s.alert_type, '', '', 0, 1, 0, 0, 0, 0, 0, 0, 0`

	usageSQL = `
    SELECT ` + bucketColumns + ` FROM usage_buckets WHERE span = 'day' AND begins >= @day_from AND begins < @day_to
    UNION ALL
    SELECT ` + bucketColumns + ` FROM usage_buckets WHERE span = 'hour' AND begins >= @hour_from AND begins < @day_from
    UNION ALL
    SELECT ` + bucketColumns + ` FROM usage_buckets WHERE span = 'hour' AND begins >= @day_to AND begins < @hour_to
    UNION ALL
    SELECT ` + callColumns + ` FROM llm_interactions c JOIN sessions s ON s.id = c.session_id WHERE c.created_at >= @from AND c.created_at < @hour_from
    UNION ALL
    SELECT ` + callColumns + ` FROM llm_interactions c JOIN sessions s ON s.id = c.session_id WHERE c.created_at >= @hour_to AND c.created_at < @to
    UNION ALL
    SELECT ` + toolColumns + ` FROM mcp_interactions c JOIN sessions s ON s.id = c.session_id WHERE c.created_at >= @from AND c.created_at < @hour_from
    UNION ALL
    SELECT ` + toolColumns + ` FROM mcp_interactions c JOIN sessions s ON s.id = c.session_id WHERE c.created_at >= @hour_to AND c.created_at < @to`

	// The same for calls about notes, which have no alert type and call no tools.
	noteBucketColumns = `(begins AT TIME ZONE 'UTC')::date AS day, model_name, provider, llm_calls,
    input_tokens, output_tokens, thinking_tokens, cached_tokens, total_tokens, unpriced_tokens, cost_usd`
	noteCallColumns = `(c.created_at AT TIME ZONE 'UTC')::date, c.model_name, c.provider, 1,
    (c.usage ->> 'input_tokens')::bigint, (c.usage ->> 'output_tokens')::bigint, (c.usage ->> 'thinking_tokens')::bigint, (c.usage ->> 'cached_tokens')::bigint,
    (c.usage ->> 'total_tokens')::bigint, (c.usage ->> 'unpriced_tokens')::bigint, (c.usage ->> 'cost_usd')::double precision`

	noteUsageSQL = `
    SELECT ` + noteBucketColumns + ` FROM note_usage_buckets WHERE span = 'day' AND begins >= @day_from AND begins < @day_to
    UNION ALL
    SELECT ` + noteBucketColumns + ` FROM note_usage_buckets WHERE span = 'hour' AND begins >= @hour_from AND begins < @day_from
    UNION ALL
    SELECT ` + noteBucketColumns + ` FROM note_usage_buckets WHERE span = 'hour' AND begins >= @day_to AND begins < @hour_to
    UNION ALL
    SELECT ` + noteCallColumns + ` FROM note_calls c WHERE c.created_at >= @from AND c.created_at < @hour_from
    UNION ALL
    SELECT ` + noteCallColumns + ` FROM note_calls c WHERE c.created_at >= @hour_to AND c.created_at < @to`

	// edgesSQL reports for several periods whether a call was made in them.
	edgesSQL = `
SELECT EXISTS (SELECT FROM llm_interactions c WHERE c.created_at >= p.begins AND c.created_at < p.ends)
    OR EXISTS (SELECT FROM mcp_interactions c WHERE c.created_at >= p.begins AND c.created_at < p.ends)
    OR EXISTS (SELECT FROM note_calls c WHERE c.created_at >= p.begins AND c.created_at < p.ends)
FROM unnest($1::timestamptz[], $2::timestamptz[]) WITH ORDINALITY AS p (begins, ends, number) ORDER BY p.number`

	usageTotalSQL   = `SELECT ` + bucketSums + ` FROM (` + usageSQL + `) AS used`
	usageSummarySQL = `
SELECT grouping(day, kind, model_name, provider) AS grouping, COALESCE(kind, '') AS kind,
    COALESCE(day::text, alert_type, model_name, provider, '') AS name, ` + bucketSums + `
FROM (
    SELECT '` + tarsy.UsageSessions + `' AS kind, sessions.* FROM (` + usageSQL + `) AS sessions
    UNION ALL
    SELECT '` + tarsy.UsageNotes + `', day, NULL, model_name, provider, llm_calls, 0,
        input_tokens, output_tokens, thinking_tokens, cached_tokens, total_tokens, unpriced_tokens, cost_usd FROM (` + noteUsageSQL + `) AS notes
) AS used
GROUP BY GROUPING SETS ((), (day), (kind, alert_type), (model_name), (provider))`
)

const (
	hour = time.Hour
	day  = 24 * hour
)

// usagePeriod is a period in the terms of usageSQL: from ≤ hourFrom ≤ dayFrom ≤ dayTo ≤ hourTo ≤ to.
type usagePeriod struct {
	from, hourFrom, dayFrom, dayTo, hourTo, to time.Time
}

// newUsagePeriod divides a period into days, hours and the rest.
func newUsagePeriod(from, to time.Time) usagePeriod {
	p := usagePeriod{from: from, to: to, hourFrom: ceil(from, hour), hourTo: to.Truncate(hour)}
	if p.hourFrom.After(p.hourTo) {
		// There is no whole hour.
		p.hourFrom, p.hourTo = to, to
	}

	p.dayFrom, p.dayTo = ceil(p.hourFrom, day), p.hourTo.Truncate(day)
	if p.dayFrom.After(p.dayTo) {
		p.dayFrom, p.dayTo = p.hourTo, p.hourTo
	}

	return p
}

// ceil returns the first multiple of a duration that is not before a time.
func ceil(t time.Time, d time.Duration) time.Time {
	if floor := t.Truncate(d); floor.Before(t) {
		return floor.Add(d)
	}

	return t
}

func (p usagePeriod) args() pgx.NamedArgs {
	return pgx.NamedArgs{"from": p.from, "hour_from": p.hourFrom, "day_from": p.dayFrom, "day_to": p.dayTo, "hour_to": p.hourTo, "to": p.to}
}

// findUsagePeriod returns the period between two times. If no call was made between the beginning of the first day or hour and
// from, or between to and the end of the last, that day or hour is counted whole: so nothing is left to read at the end of a
// period that ends now.
func findUsagePeriod(ctx context.Context, tx pgx.Tx, from, to time.Time) (usagePeriod, error) {
	rows, err := tx.Query(ctx, edgesSQL,
		[]time.Time{from.Truncate(day), from.Truncate(hour), to, to}, []time.Time{from, from, ceil(to, day), ceil(to, hour)})
	if err != nil {
		return usagePeriod{}, err
	}

	used, err := pgx.CollectRows(rows, pgx.RowTo[bool])
	if err != nil {
		return usagePeriod{}, err
	}

	switch {
	case !used[0]:
		from = from.Truncate(day)
	case !used[1]:
		from = from.Truncate(hour)
	}

	switch {
	case !used[2]:
		to = ceil(to, day)
	case !used[3]:
		to = ceil(to, hour)
	}

	return newUsagePeriod(from, to), nil
}

// readUsage runs a statement on the usage from a time up to another, in one snapshot.
func readUsage[R any](ctx context.Context, pool *pgxpool.Pool, sql string, from, to time.Time) ([]R, error) {
	var found []R

	err := InSnapshot(ctx, pool, func(tx pgx.Tx) error {
		period, err := findUsagePeriod(ctx, tx, from, to)
		if err != nil {
			return err
		}

		rows, err := tx.Query(ctx, sql, period.args())
		if err != nil {
			return err
		}

		found, err = pgx.CollectRows(rows, pgx.RowToStructByName[R])

		return err
	})

	return found, err
}

// usageRow is one group of the summary.
type usageRow struct {
	Grouping int
	// Kind is what the calls were for; empty unless the group has an alert type.
	Kind string
	tarsy.SpendShare
}

// The groups of the summary, as the database numbers them: a bit is set for each column that was not grouped by.
const (
	groupDay       = 0b0111
	groupAlertType = 0b1011 // of sessions, or all notes
	groupModel     = 0b1101
	groupProvider  = 0b1110
)

// endOfTime is later than any call.
func endOfTime() time.Time { return time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC) }

// SpentSince returns what all sessions have used since a time.
func (db *DB) SpentSince(ctx context.Context, from time.Time) (tarsy.Spend, error) {
	type total struct {
		LLMCalls int
		tarsy.Spend
	}

	spent, err := readUsage[total](ctx, db.work, usageTotalSQL, from, endOfTime())
	if err != nil {
		return tarsy.Spend{}, fmt.Errorf("sum usage: %w", err)
	}

	return spent[0].Spend, nil
}

// UsageSummary returns the usage from a time up to another, from one snapshot.
func (db *DB) UsageSummary(ctx context.Context, from, to time.Time) (tarsy.UsageSummary, error) {
	rows, err := readUsage[usageRow](ctx, db.readers, usageSummarySQL, from, to)
	if err != nil {
		return tarsy.UsageSummary{}, fmt.Errorf("sum usage: %w", err)
	}

	return summarise(from, to, rows), nil
}

func summarise(from, to time.Time, rows []usageRow) tarsy.UsageSummary {
	summary := tarsy.UsageSummary{
		From: from, To: to,
		ByDay: []tarsy.SpendShare{}, ByKind: []tarsy.SpendShare{}, ByAlertType: []tarsy.SpendShare{}, ByModel: []tarsy.UsageShare{}, ByProvider: []tarsy.UsageShare{},
	}

	for _, row := range rows {
		switch row.Grouping {
		case groupDay:
			summary.ByDay = append(summary.ByDay, row.SpendShare)
		case groupAlertType:
			summary.ByKind = addToKind(summary.ByKind, row)

			if row.Kind == tarsy.UsageSessions {
				summary.ByAlertType = append(summary.ByAlertType, row.SpendShare)
			}
		case groupModel:
			summary.ByModel = appendUsed(summary.ByModel, row.UsageShare)
		case groupProvider:
			summary.ByProvider = appendUsed(summary.ByProvider, row.UsageShare)
		default:
			summary.Total = row.SpendShare
		}
	}

	slices.SortFunc(summary.ByDay, func(a, b tarsy.SpendShare) int { return strings.Compare(a.Name, b.Name) })

	for _, shares := range [][]tarsy.SpendShare{summary.ByKind, summary.ByAlertType} {
		slices.SortFunc(shares, func(a, b tarsy.SpendShare) int { return byCostDescending(a.UsageShare, b.UsageShare) })
	}

	slices.SortFunc(summary.ByModel, byCostDescending)
	slices.SortFunc(summary.ByProvider, byCostDescending)

	return summary
}

// addToKind adds a group to the usage of its kind.
func addToKind(kinds []tarsy.SpendShare, row usageRow) []tarsy.SpendShare {
	i := slices.IndexFunc(kinds, func(s tarsy.SpendShare) bool { return s.Name == row.Kind })
	if i < 0 {
		row.Name = row.Kind

		return append(kinds, row.SpendShare)
	}

	kinds[i].LLMCalls += row.LLMCalls
	kinds[i].ToolCalls += row.ToolCalls
	kinds[i].Usage.Add(row.Usage)

	return kinds
}

// appendUsed appends a share unless it is that of tool calls, which have no model.
func appendUsed(shares []tarsy.UsageShare, share tarsy.UsageShare) []tarsy.UsageShare {
	if share.LLMCalls == 0 {
		return shares
	}

	return append(shares, share)
}

// byCostDescending orders by cost, then by tokens, highest first, then by name.
func byCostDescending(a, b tarsy.UsageShare) int {
	return cmp.Or(cmp.Compare(b.Usage.CostUSD, a.Usage.CostUSD), cmp.Compare(b.Usage.TotalTokens, a.Usage.TotalTokens), cmp.Compare(a.Name, b.Name))
}
